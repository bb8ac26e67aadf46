// Why somebody was named: the patch map, its legend, and the same in words.

import { explain } from "./api.js";
import { announce, byId, complain, el, nameOf, show } from "./dom.js";
import { draw, foremost, strongest } from "./map.js";
import { state } from "./state.js";
import { signed } from "./words.js";

const ROWS = 12; // of the table
const part = byId("why");
let current = new AbortController();

export function hideWhy() {
  current.abort();
  show(part, false);
}

/** Explain an answer to a photo: for the best match, whether it was accepted or not. */
export async function showWhy(photo, answer) {
  const asked = answer.candidates.filter(({ person }) => person !== null);
  if (!asked.length) return hideWhy();
  const [best, ...others] = asked;
  const known = answer.answer === "known";
  const { cropped } = state; // as the answer was asked for, whatever is ticked later
  const body = el("div", { class: "why-body", "aria-busy": "true" });
  const choose = async (against) => {
    const told = await load(body, { photo, cropped, best, against });
    if (told) announce(told.sentence);
  };
  part.replaceChildren(
    el(
      "h3",
      { id: "why-title" },
      known ? "Why " : "What speaks for ",
      nameOf(best.name),
      known ? "?" : ", and what against",
    ),
    others.length ? choices(others, known, choose) : "",
    body,
  );
  show(part);
  await load(body, { photo, cropped, best, against: null });
}

function choices(others, known, choose) {
  const one = (words, value) =>
    el(
      "label",
      { class: "choice" },
      el("input", { type: "radio", name: "against", checked: value === null, on: { change: () => choose(value) } }),
      el("span", {}, words),
    );
  return el(
    "fieldset",
    { class: "choice-row" },
    el("legend", { class: "visually-hidden", text: "What to explain" }),
    one(["In general"], null),
    others.map(({ name, person }) => one([known ? "Why not " : "Or rather ", nameOf(name), "?"], person)),
  );
}

async function load(body, { photo, cropped, best, against }) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  body.setAttribute("aria-busy", "true");
  try {
    const told = await explain(photo, { person: best.person, against, cropped, signal });
    const face = await pictureOf(told.picture);
    if (signal.aborted) return null;
    fill(body, told, face);
    return told;
  } catch (mistake) {
    if (signal.aborted) return null;
    const note = el("div", { class: "note bad", role: "alert" });
    complain(note, mistake);
    body.replaceChildren(note);
    return null;
  } finally {
    if (!signal.aborted) body.setAttribute("aria-busy", "false");
  }
}

function fill(body, told, face) {
  const rather = told.against_name === null ? "" : ` rather than ${told.against_name}`;
  const canvas = el(
    "canvas",
    {
      class: "map",
      id: "map",
      role: "img",
      "aria-label": `The face: patches that speak for ${told.name}${rather} in blue, against in red. ${told.sentence}`,
    },
  );
  const toggle = el(
    "button",
    { type: "button", class: "plain small-button", "aria-pressed": "false", text: "Show the face alone" },
  );
  let withMap = true;
  toggle.addEventListener("click", () => {
    withMap = !withMap;
    toggle.setAttribute("aria-pressed", String(!withMap));
    draw(canvas, told, face, withMap);
  });
  body.replaceChildren(
    el("figure", { class: "map-figure", vars: { "--wide": told.width, "--high": told.height } }, canvas, toggle),
    el(
      "div",
      { class: "why-words" },
      legend(told),
      el("p", { class: "sentence", dir: "auto", text: wholeSentence(told.sentence) }),
      rivals(told),
      table(told),
    ),
  );
  draw(canvas, told, face, withMap);
}

const wholeSentence = (words) => words.replace(/^lead/, "Lead").replace(/\.?$/, ".");

function legend(told) {
  const top = strongest(told.patches);
  const rather = told.against_name;
  return el(
    "div",
    { class: "legend" },
    el("div", { class: "legend-bar", "aria-hidden": "true" }),
    el(
      "div",
      { class: "legend-ends" },
      el(
        "span",
        { class: "against" },
        signed(-top),
        " speaks ",
        rather === null ? "against" : "for ",
        rather === null ? "" : nameOf(rather),
      ),
      el("span", { class: "for" }, signed(top), " speaks for ", nameOf(told.name)),
    ),
    el(
      "p",
      {
        class: "small soft",
        text: "What one patch adds to the lead. All of them add up to it: the decision itself, not an estimate of it.",
      },
    ),
  );
}

function rivals({ rivals: names }) {
  if (!names.length) return null;
  const listed = new Intl.ListFormat("en", { style: "long", type: "conjunction" }).format(names.slice(0, 6));
  const more = names.length > 6 ? `, and ${names.length - 6} more` : "";
  const madeUp = names.some((name) => /^rendered \d+$/.test(name)) ? " A rendered person is a made-up one." : "";
  return el("p", { class: "small soft", dir: "auto", text: `Measured against ${listed}${more}.${madeUp}` });
}

function table(told) {
  const rows = foremost(told, ROWS).map((patch) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", text: placeOf(patch, told) }),
      el("td", { class: "number", text: `${patch.row + 1}, ${patch.column + 1}` }),
      el("td", { class: `number ${patch.value < 0 ? "against" : "for"}`, text: signed(patch.value) }),
      el("td", { text: patch.value < 0 ? "against" : "for" }),
    ),
  );
  return el(
    "details",
    { class: "more" },
    el("summary", { text: "The patches that count most, as a table" }),
    el(
      "table",
      { class: "patches" },
      el("caption", { class: "visually-hidden", text: "Patches that count most" }),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Place in the picture", "Row, column", "Adds", "Speaks"].map((text, i) => el(
            "th",
            { scope: "col", class: i === 1 || i === 2 ? "number" : null, text },
          )),
        ),
      ),
      el("tbody", {}, rows),
    ),
  );
}

function placeOf({ left, top, width, height }, told) {
  const third = (middle, whole, names) => names[Math.min(2, Math.floor((3 * middle) / whole))];
  const down = third(top + height / 2, told.height, ["top", "middle", "bottom"]);
  const across = third(left + width / 2, told.width, ["left", "", "right"]);
  return [down, across].filter(Boolean).join(" ");
}

function pictureOf(base64) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  return image.decode().then(() => image);
}
