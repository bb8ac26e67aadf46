// Small helpers. Names of people are hostile input: whatever comes from outside goes through textContent only.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** Make an element. `given`: class, text, on (listeners), vars (CSS variables); anything else is an attribute. */
export function el(tag, given = {}, ...children) {
  return filled(document.createElement(tag), given, children);
}

export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

function filled(made, { text, on = {}, vars = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const [name, listener] of Object.entries(on)) made.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars)) made.style.setProperty(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A name, kept apart from the words around it: it may be written from right to left. */
export const nameOf = (text, given = {}) => el("bdi", { ...given, text });

export function show(element, whether = true) {
  element.hidden = !whether;
}

/** Put a sentence into a note and show it; without one, hide the note. */
export function say(note, sentence, ...more) {
  note.replaceChildren(...(sentence ? [el("p", { text: sentence }), ...more] : []));
  show(note, Boolean(sentence));
}

/** Say what went wrong: what kind of problem it is, where the service tells it, and the sentence. */
export function complain(note, mistake, ...more) {
  if (mistake.code === "unauthorized" && note.id !== "outage") return say(note, ""); // said at the top, once
  const kind = mistake.title ? [el("p", {}, el("strong", { text: `${mistake.title}.` }))] : [];
  note.replaceChildren(...kind, el("p", { dir: "auto", text: mistake.message }), ...more);
  show(note);
}

/** Tell those who do not see the page. */
export function announce(sentence) {
  byId("live").textContent = sentence;
}

/** Let files be dropped on an element; a file that misses it must not replace the page. */
export function takeDrops(zone, take) {
  let depth = 0; // a child under the pointer counts as leaving its parent
  const lit = (change) => {
    depth = Math.max(0, depth + change);
    zone.classList.toggle("over", depth > 0);
  };
  zone.addEventListener("dragenter", (event) => (event.preventDefault(), lit(1)));
  zone.addEventListener("dragleave", () => lit(-1));
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    lit(-depth);
    take(event.dataTransfer);
  });
}
