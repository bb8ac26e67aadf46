// Enroll: a name and some photos of one person. bulk.js does many people.

import { personNamed } from "./api.js";
import { ask } from "./ask.js";
import { openCamera } from "./camera.js";
import { announce, byId, complain, el, nameOf, say, show, takeDrops } from "./dom.js";
import { lightsDiagram } from "./light.js";
import { groups, refusal, sendGroup } from "./send.js";
import { emit, limits, state } from "./state.js";
import { counted } from "./words.js";

const LONGEST = 1280; // pixels of a photo that is taken here
const trouble = byId("enroll-trouble");
const nameField = byId("enroll-name");
let photos = []; // {file, address}
let camera = null;
let shots = 0;
let sending = false;

export function startEnroll() {
  byId("enroll-guide-lights").append(lightsDiagram());
  const file = byId("enroll-file");
  file.addEventListener("change", () => (add(file.files), (file.value = "")));
  takeDrops(byId("enroll-drop"), (transfer) => add(transfer.files));
  byId("enroll-form").addEventListener("submit", (event) => (event.preventDefault(), send()));
  byId("enroll-camera-start").addEventListener("click", startCamera);
  byId("enroll-camera-take").addEventListener("click", takePhoto);
  byId("enroll-camera-stop").addEventListener("click", () => (stopCamera(), byId("enroll-camera-start").focus()));
  nameField.addEventListener("input", () => nameTrouble(""));
  document.addEventListener("visibilitychange", () => document.hidden && stopCamera());
}

export const leaveEnroll = () => stopCamera();

/** Go to Enroll with a photo, or a name, already in it. */
export function giveToEnroll({ photo = null, name = "" }) {
  clear();
  nameField.value = name;
  nameTrouble("");
  add(photo === null ? [] : [photo]);
  show(byId("enroll-outcome"), false);
  show(byId("enroll-guide"));
  location.hash = "#enroll";
  // After the part is shown: what is hidden takes no focus.
  const next = name ? byId("enroll-file") : nameField;
  window.addEventListener("hashchange", () => setTimeout(() => next.focus()), { once: true });
}

function clear() {
  for (const { address } of photos) URL.revokeObjectURL(address);
  photos = [];
  showPreviews();
}

function add(files) {
  say(trouble, "");
  for (const file of files) {
    const why = refusal(file, limits());
    if (why) say(trouble, `${file.name}: ${why}`);
    else photos.push({ file, address: URL.createObjectURL(file) });
  }
  showPreviews();
}

function showPreviews() {
  const items = photos.map((photo, i) => {
    const image = el("img", { src: photo.address, alt: "" });
    image.addEventListener(
      "error",
      () => image.replaceWith(el("span", { class: "no-picture", "aria-hidden": "true", text: "no preview" })),
    );
    const remove = () => {
      URL.revokeObjectURL(photo.address);
      photos = photos.filter((other) => other !== photo);
      showPreviews();
      const left = byId("enroll-previews").querySelectorAll("button");
      (left[Math.min(i, left.length - 1)] ?? byId("enroll-file")).focus();
    };
    return el(
      "li",
      { class: "preview" },
      image,
      el("span", { class: "small preview-name", text: photo.file.name }),
      el(
        "button",
        {
          type: "button",
          class: "remove",
          "aria-label": `Leave out ${photo.file.name}`,
          on: { click: remove },
          text: "×",
        },
      ),
    );
  });
  byId("enroll-previews").replaceChildren(...items);
}

// The camera

async function startCamera() {
  say(trouble, "");
  show(byId("enroll-camera"));
  show(byId("enroll-camera-start"), false);
  try {
    camera = await openCamera(byId("enroll-video"));
    camera.onEnd(stopCamera);
    show(byId("enroll-camera-take"));
    show(byId("enroll-camera-stop"));
    byId("enroll-camera-take").focus();
  } catch (mistake) {
    stopCamera();
    complain(trouble, mistake);
    byId("enroll-camera-start").focus();
  }
}

async function takePhoto() {
  const taken = await camera.grab(LONGEST);
  add([new File([taken], `camera ${++shots}.jpg`, { type: taken.type })]);
  announce(`${counted(photos.length, "photo")} to send.`);
}

function stopCamera() {
  camera?.stop();
  camera = null;
  show(byId("enroll-camera"), false);
  show(byId("enroll-camera-start"));
  show(byId("enroll-camera-take"), false);
  show(byId("enroll-camera-stop"), false);
}

// Sending

function nameTrouble(sentence) {
  byId("enroll-name-trouble").textContent = sentence;
  nameField.toggleAttribute("aria-invalid", Boolean(sentence));
}

async function send() {
  if (sending) return;
  say(trouble, "");
  const name = nameField.value.trim();
  if (!name) {
    nameTrouble("Enter a name.");
    return nameField.focus();
  }
  if (!photos.length) {
    say(trouble, "Choose a photo first: a person without a photo is never found.");
    return byId("enroll-file").focus();
  }
  busy(true);
  try {
    // Asked before anything is sent: photos may be large.
    const there = await personNamed(name);
    if (there !== null && !(await askToAdd(there))) return;
    showOutcome(await sendAll(there === null ? { name } : { id: there.id }, name, photos));
  } catch (mistake) {
    if (["bad_name", "name_taken"].includes(mistake.code)) nameTrouble(mistake.message);
    else complain(trouble, mistake);
  } finally {
    busy(false);
  }
}

/** Send all photos of a person, {id} or {name}. */
async function sendAll(whom, name, sent) {
  let [target, person, done] = [whom, null, []];
  for (const group of groups(sent.map(({ file }) => file), limits())) {
    byId("enroll-busy-words").textContent = `Sending ${done.length + 1} of ${sent.length} …`;
    const told = await sendGroup(target, group, { cropped: state.cropped });
    done = done.concat(told.results);
    if (told.person !== null) {
      person = told.person;
      target = { id: person.id };
    }
  }
  if (person !== null) emit("gallery");
  return { name, person, results: done.map((result, i) => ({ ...result, ...sent[i] })) };
}

async function askToAdd({ name, photos: count }) {
  const there = count === 1 ? "is 1 photo" : `are ${count} photos`;
  const other = "If it is somebody else, cancel and choose another name.";
  const yes = await ask({
    title: `${name} is enrolled already`,
    text: `There ${there} of this person. Add yours to them? ${other}`,
    yes: "Add the photos",
  });
  if (!yes) nameField.focus();
  return yes;
}

function busy(whether) {
  sending = whether;
  show(byId("enroll-busy"), whether);
  byId("enroll-send").setAttribute("aria-disabled", String(whether));
  byId("enroll-result").setAttribute("aria-busy", String(whether));
}

const WHAT = { taken: "enrolled", known: "known already", rejected: "not enrolled" };

function showOutcome({ name, person, results }) {
  const counts = Object.keys(WHAT).map((what) => [what, results.filter((result) => result.what === what).length]);
  const summary = counts.filter(([, count]) => count).map(([what, count]) => `${count} ${WHAT[what]}`).join(", ");
  const title = el(
    "h3",
    { class: `who ${name.length > 16 ? "long" : ""}`, tabindex: "-1" },
    nameOf(person?.name ?? name),
  );
  byId("enroll-outcome").replaceChildren(
    el("p", { class: "eyebrow", text: person === null ? "Not enrolled" : "Enrolled" }),
    title,
    el("p", { class: "sentence", text: `${counted(results.length, "photo")}: ${summary}.` }),
    el("ul", { class: "results" }, results.map(resultItem)),
    ...(person === null ? [] : lightsOf(person)),
  );
  show(byId("enroll-guide"), false);
  show(byId("enroll-outcome"));
  announce(`${name}: ${summary}.`);
  // Rejected photos stay, so that it can be seen and replaced.
  for (const { what, address } of results) if (what !== "rejected") URL.revokeObjectURL(address);
  photos = results.filter(({ what }) => what === "rejected").map(({ file, address }) => ({ file, address }));
  if (person !== null && !photos.length) nameField.value = "";
  showPreviews();
  title.focus();
}

function resultItem({ what, detail, file, photo }) {
  const light = what === "taken" && photo?.light ? `, light: ${photo.light}` : "";
  return el(
    "li",
    { class: `result ${what}` },
    el("span", { class: "result-what", text: WHAT[what] + light }),
    el("span", { class: "result-name", text: file.name }),
    detail ? el("span", { class: "small", text: detail }) : null,
  );
}

/** Which lights somebody's photos show, which they lack, and what to photograph next. */
function lightsOf(person) {
  const { has, next } = person.advice;
  return [
    el("h4", { text: "Lights" }),
    lightsDiagram(has),
    el("p", { class: "hint", text: next }),
    el("p", {}, el("a", { href: `#people/${person.id}` }, "Open ", nameOf(person.name))),
  ];
}
