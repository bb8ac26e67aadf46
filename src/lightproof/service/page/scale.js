// A score between 0 and 1, and what it stands for: one in 10^(6 score) strangers would score as well.

import { el } from "./dom.js";
import { grouped, oneIn, score as written } from "./words.js";

const DIGITS = 6;

/** A horizontal scale with the threshold drawn in; without a score, the threshold alone. */
export function scale({ score = null, threshold, accepted = false }) {
  const at = (value) => ({ "--at": Math.min(1, Math.max(0, value)) });
  const ticks = Array.from({ length: DIGITS + 1 }, (_, power) => power).map((power) =>
    el(
      "span",
      { class: `tick tick-${power}`, vars: at(power / DIGITS) },
      el("span", { class: "tick-label" }, el("span", { class: "tick-in", text: "1 in " }), grouped(10 ** power)),
    ),
  );
  return el(
    "div",
    { class: `scale ${accepted ? "accepted" : ""}`, role: "img", "aria-label": inWords(score, threshold, accepted) },
    el(
      "div",
      { class: "scale-track" },
      el("span", { class: "scale-zone", vars: at(threshold) }),
      score === null ? null : el("span", { class: "scale-fill", vars: at(score) }),
      ticks,
      el(
        "span",
        { class: "scale-threshold", vars: at(threshold) },
        el("span", { class: "scale-threshold-label", text: `named from ${written(threshold)} on` }),
      ),
      score === null ? null : el("span", { class: "scale-score", vars: at(score), text: written(score) }),
    ),
    el(
      "p",
      { class: "scale-title" },
      el("span", { class: "scale-in", text: "1 in so many " }),
      "strangers would score as well",
    ),
  );
}

function inWords(score, threshold, accepted) {
  const line = `threshold ${written(threshold)}, which ${oneIn(10 ** (DIGITS * threshold))} strangers reach`;
  if (score === null) return `Scale of scores from 0 to 1: ${line}.`;
  return `Score ${written(score)} on a scale from 0 to 1, ${accepted ? "at or above" : "below"} the ${line}.`;
}
