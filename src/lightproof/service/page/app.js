// The page: its parts as tabs, the address that names them, and what every part needs to know.

import { version } from "./api.js";
import { leaveAccuracy, showAccuracy, startAccuracy } from "./accuracy.js";
import { startBulk } from "./bulk.js";
import { byId, complain, el, say, show } from "./dom.js";
import { leaveEnroll, startEnroll } from "./enroll.js";
import { leaveIdentify, startIdentify } from "./identify.js";
import { leavePeople, showPeople, startPeople } from "./people.js";
import { emit, on, state } from "./state.js";
import { startToken } from "./token.js";
import { counted } from "./words.js";

const PARTS = {
  identify: { leave: leaveIdentify },
  enroll: { leave: leaveEnroll },
  people: { show: showPeople, leave: leavePeople },
  accuracy: { show: showAccuracy, leave: leaveAccuracy },
};
const NAMES = Object.keys(PARTS);
const tabs = NAMES.map((name) => byId(`tab-${name}`));
let current = null;

/** Show the part that the address names: #people, #people/12. */
function follow() {
  const [named, rest] = location.hash.slice(1).split("/");
  const name = NAMES.includes(named) ? named : "identify";
  if (current !== null && current !== name) PARTS[current].leave?.();
  current = name;
  for (const [i, one] of NAMES.entries()) {
    show(byId(`part-${one}`), one === name);
    tabs[i].setAttribute("aria-selected", String(one === name));
    tabs[i].tabIndex = one === name ? 0 : -1;
  }
  document.title = `${byId(`tab-${name}`).textContent} · lightproof`;
  PARTS[name].show?.(rest);
}

function startTabs() {
  const last = tabs.length - 1;
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener("keydown", (event) => {
      const [before, after] = [i ? i - 1 : last, i < last ? i + 1 : 0];
      const to = { Home: 0, End: last, " ": i, ArrowLeft: before, ArrowRight: after }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      location.hash = NAMES[to];
      tabs[to].focus();
    });
  }
  window.addEventListener("hashchange", follow);
}

/** One tick for all boxes: it is about the pictures, not about the part of the page. */
function startCropped() {
  const boxes = [...document.querySelectorAll("input.cropped")];
  const set = (whether) => {
    state.cropped = whether;
    for (const box of boxes) box.checked = whether;
  };
  for (const box of boxes) box.addEventListener("change", () => set(box.checked));
  on("version", () => {
    if (state.version.finds_faces) return;
    set(true);
    for (const box of boxes) box.disabled = true;
    for (const words of document.querySelectorAll(".only-cropped")) show(words);
  });
}

/** Read what runs there, and tell everybody; false if it cannot be read. */
async function readVersion() {
  try {
    state.version = await version();
    say(byId("outage"), "");
    emit("version");
    return true;
  } catch (mistake) {
    const again = async () => (await readVersion()) && follow();
    const enter = el(
      "p",
      {},
      el("button", { type: "button", class: "plain small-button", text: "Enter the token", on: { click: again } }),
    );
    complain(byId("outage"), mistake, ...(mistake.code === "unauthorized" ? [enter] : []));
    if (mistake.passing) setTimeout(readVersion, 1000 * mistake.wait);
    return false;
  }
}

function showVersion() {
  const { version: number, preset, keeps_photos: keeps, people, photos } = state.version;
  const counts = `${counted(people, "person", "people")}, ${counted(photos, "photo")}`;
  byId("count").textContent = people ? counts : "nobody enrolled";
  const kept = keeps ? "Faces are kept as crops, photos are not." : "Only templates are kept, no photos and no faces.";
  byId("about").textContent = `lightproof ${number}${preset ? `, preset ${preset}` : ""}. ${kept}`;
}

// The address stays as it is: it names the part.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});

// Enter would send the form that a file is chosen for.
for (const input of document.querySelectorAll("input[type=file]")) {
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    input.click();
  });
}

// A file that misses its zone must not replace the page.
for (const event of ["dragover", "drop"]) window.addEventListener(event, (it) => it.preventDefault());

startToken();
startTabs();
startCropped();
startIdentify();
startEnroll();
startBulk();
startPeople();
startAccuracy();
on("version", showVersion);
on("gallery", readVersion);
follow();
await readVersion();
