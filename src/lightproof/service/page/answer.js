// Who is on a photo: the name or "Unknown", the score on its scale, the light, the nearest people.

import { byId, el, nameOf, show } from "./dom.js";
import { degrees, directionWords, lamp, poseWords } from "./light.js";
import { scale } from "./scale.js";
import { faceOfPerson } from "./thumbs.js";
import { oneIn, score as written } from "./words.js";

/** The answer itself. `onEnroll` is called for a stranger who is to be enrolled. */
export function answerBody(answer, { onEnroll }) {
  const known = answer.answer === "known";
  const called = known ? answer.name : "Unknown";
  return [
    el("p", { class: "eyebrow", text: known ? "This is" : "Nobody who is enrolled" }),
    el(
      "h3",
      { class: `who ${called.length > 16 ? "long" : ""} ${known ? "" : "stranger"}`, id: "who" },
      nameOf(called),
    ),
    el("p", { class: "sentence", dir: "auto", text: answer.sentence }),
    scale({ score: answer.score, threshold: answer.threshold, accepted: known }),
    el(
      "div",
      { class: "row" },
      known && answer.person !== null
        ? el(
          "a",
          { class: "plain button", href: `#people/${answer.person}` },
          el("span", {}, "Open ", nameOf(answer.name)),
        )
        : null,
      known ? null : el(
        "button",
        { type: "button", class: "main", on: { click: onEnroll }, text: "Enroll this person" },
      ),
    ),
    answer.calibrated
      ? null
      : el(
        "p",
        { class: "small soft" },
        "Not calibrated: using default values. ",
        el("a", { href: "#accuracy", text: "Calibrate this gallery" }),
      ),
    answer.with_mesh
      ? null
      : el("p", { class: "small soft", text: "Compared as it came: no mesh lies on the face." }),
    lightBlock(answer),
  ];
}

function lightBlock({ light, face }) {
  return el(
    "div",
    { class: "light-block" },
    lamp(light, 112),
    el(
      "div",
      {},
      el("h4", { text: "Light and pose" }),
      el("p", { class: "hint", text: light.hint }),
      el("p", { class: "small soft", text: [directionWords(light), degrees(light)].filter(Boolean).join(": ") + "." }),
      light.yaw === null ? null : el("p", { class: "small soft pose", text: `${poseWords(light)}.` }),
      face && face.faces > 1
        ? el("p", { class: "small soft", text: `There are ${face.faces} faces on the photo; the largest is compared.` })
        : null,
    ),
  );
}

/** The best few people side by side. */
export function showCandidates(answer) {
  const cards = answer.candidates.map((candidate) => {
    const chosen = answer.answer === "known" && candidate.person === answer.person;
    const face = el(
      "span",
      { class: "face", "aria-hidden": "true", text: Array.from(candidate.name.trim())[0] ?? "?" },
    );
    if (candidate.person !== null) fill(face, candidate.person);
    const name = candidate.person === null ? nameOf(candidate.name) : el(
      "a",
      { href: `#people/${candidate.person}` },
      nameOf(candidate.name),
    );
    return el(
      "li",
      { class: chosen ? "candidate chosen" : "candidate" },
      face,
      el("span", { class: "candidate-name" }, name),
      el(
        "span",
        { class: "candidate-score" },
        el("span", { class: "visually-hidden", text: "score " }),
        written(candidate.score),
      ),
      el("span", { class: "small soft", text: oneIn(candidate.one_in) }),
      el(
        "span",
        { class: "mini", "aria-hidden": "true", vars: { "--at": candidate.score, "--threshold": answer.threshold } },
      ),
    );
  });
  byId("candidates-list").replaceChildren(...cards);
  show(byId("candidates"), cards.length > 0);
}

async function fill(face, person) {
  // A face is a kindness: without it the letter stays.
  const address = await faceOfPerson(person).catch(() => null);
  if (address) face.replaceChildren(el("img", { src: address, alt: "" }));
}
