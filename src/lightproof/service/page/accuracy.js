// Accuracy: how well the gallery recognizes its own photos, and where the threshold lies.

import { accuracy, calibrate, calibration } from "./api.js";
import { announce, byId, complain, el, say, show } from "./dom.js";
import { scale } from "./scale.js";
import { emit, on } from "./state.js";
import { counted, grouped, percent, rule, score as written } from "./words.js";

let asking = null; // the measurement that runs
let measured = false;
let open = false;
let calibrating = false;

export function startAccuracy() {
  byId("accuracy-again").addEventListener("click", () => measure());
  byId("calibrate-form").addEventListener("submit", (event) => (event.preventDefault(), move()));
  const other = byId("far-other");
  other.addEventListener("focus", () => (document.querySelector("input[name=far][value=other]").checked = true));
  for (const event of ["gallery", "threshold"]) {
    on(event, () => {
      measured = false;
      if (open) showAccuracy();
    });
  }
}

export function showAccuracy() {
  open = true;
  showThreshold();
  if (!measured) measure();
}

export function leaveAccuracy() {
  open = false;
}

async function measure() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  measured = true;
  say(byId("accuracy-trouble"), "");
  show(byId("accuracy-busy"));
  show(byId("accuracy-again"), false);
  byId("accuracy-table").replaceChildren();
  try {
    const told = await accuracy(signal);
    if (signal.aborted) return;
    byId("accuracy-table").replaceChildren(...figures(told));
    announce(told.note);
  } catch (mistake) {
    if (signal.aborted) return;
    measured = false;
    complain(byId("accuracy-trouble"), mistake);
  }
  show(byId("accuracy-busy"), false);
  show(byId("accuracy-again"));
}

const nobody = () => el(
  "p",
  { class: "nobody" },
  "Nobody is enrolled yet: there is nothing to measure. ",
  el("a", { href: "#enroll", text: "Enroll somebody" }),
);

const COLUMNS = [
  ["named", "Named", "the best match is the right person"],
  ["found", "Found", "and the score reaches the threshold"],
  ["strangers", "Strangers let in", "photos that, with their person left out, pass for somebody else"],
];

function figures(told) {
  if (!told.people) return [nobody()];
  if (!told.asked) return [el("p", { class: "nobody", text: told.note })];
  const heads = COLUMNS.map(([key, title, words]) => el(
    "th",
    { scope: "col", class: key },
    el("span", { text: title }),
    el("span", { class: "column-words", text: words }),
  ));
  const rows = told.lights.map((one) =>
    el(
      "tr",
      { class: one.light === "all" ? "whole" : null },
      el("th", { scope: "row" }, one.words),
      COLUMNS.map(([key]) => el("td", { class: key }, share(one[key]))),
    ),
  );
  return [
    el(
      "table",
      { class: "figures" },
      el("caption", { class: "visually-hidden", text: "Accuracy by light" }),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Light"), heads)),
      el("tbody", {}, rows),
    ),
    el("p", { class: "soft measure", text: told.note }),
    el(
      "p",
      {
        class: "soft measure small",
        text: "The thin line is the 95 % interval of the share.",
      },
    ),
  ];
}

function share({ count, of, share: part, low, high }) {
  if (part === null) return el("span", { class: "nothing soft", text: "nothing to count" });
  return el(
    "span",
    { class: "share" },
    el("span", { class: "share-number", text: percent(part) }),
    el(
      "span",
      { class: "share-bar", "aria-hidden": "true", vars: { "--part": part, "--low": low, "--high": high } },
      el("span", { class: "share-fill" }),
      el("span", { class: "share-range" }),
    ),
    el(
      "span",
      { class: "small soft" },
      el("span", { class: "share-count", text: `${grouped(count)} of ${grouped(of)}` }),
      " ",
      el("span", { class: "share-between", text: `${percent(low).replace(" %", "")} to ${percent(high)}` }),
    ),
  );
}

async function showThreshold() {
  const place = byId("threshold");
  try {
    const told = await calibration();
    place.replaceChildren(
      el("p", { class: "big-words", text: rule(told) }),
      scale({ threshold: told.threshold }),
      el("p", { class: told.calibrated ? "state good" : "state", text: howCalibrated(told) }),
      el("p", { class: "soft small", text: told.meaning }),
    );
    choose(told.far);
  } catch (mistake) {
    const note = el("div", { class: "note bad", role: "alert" });
    complain(note, mistake);
    place.replaceChildren(note);
  }
}

function howCalibrated({ calibrated, people, strangers, relit }) {
  if (!calibrated) return "Not calibrated: using default values. Calibrate once some people are enrolled.";
  const copies = relit ? ` and ${grouped(relit)} copies of them under other lights` : "";
  const asked = `with ${counted(people, "person", "people")} of this gallery`;
  return `Calibrated ${asked}: ${counted(strangers, "photo")}${copies} stood in for strangers.`;
}

/** Let the form begin with what holds now. */
function choose(far) {
  const radios = [...document.querySelectorAll("input[name=far]")];
  const same = radios.find((radio) => Number(radio.value) === far);
  if (!same) byId("far-other").value = Math.round(1 / far);
  (same ?? radios.at(-1)).checked = true;
}

async function move() {
  if (calibrating) return;
  const [said, trouble] = [byId("calibrate-said"), byId("calibrate-trouble")];
  say(said, "");
  say(trouble, "");
  const chosen = document.querySelector("input[name=far]:checked").value;
  const number = Number(byId("far-other").value);
  if (chosen === "other" && !(number >= 2 && number <= 1e6)) {
    say(trouble, "Enter a whole number from 2 to 1,000,000.");
    return byId("far-other").focus();
  }
  calibrating = true;
  busy(true);
  try {
    const told = await calibrate(chosen === "other" ? 1 / number : Number(chosen));
    say(said, `Calibrated: a match needs a score of at least ${written(told.threshold)}.`);
    emit("threshold");
  } catch (mistake) {
    complain(trouble, mistake);
  } finally {
    calibrating = false;
    busy(false);
  }
}

function busy(whether) {
  show(byId("calibrate-busy"), whether);
  byId("calibrate-send").setAttribute("aria-disabled", String(whether));
}
