// Identify: a photo or the camera in, an answer out.

import { calibration, identify } from "./api.js";
import { answerBody, showCandidates } from "./answer.js";
import { openCamera } from "./camera.js";
import { announce, byId, complain, el, say, show, svg, takeDrops } from "./dom.js";
import { giveToEnroll } from "./enroll.js";
import { scale } from "./scale.js";
import { refusal } from "./send.js";
import { limits, on, state } from "./state.js";
import { watch } from "./watch.js";
import { hideWhy, showWhy } from "./why.js";
import { rule } from "./words.js";

const TOP = 5; // people side by side
const trouble = byId("identify-trouble");
const hint = byId("camera-hint");
let asking = new AbortController();
let watching = null;
let pictureAddress = null;
let last = null; // the photo that was asked about

export function startIdentify() {
  const file = byId("identify-file");
  file.addEventListener("change", () => {
    if (file.files.length) askAbout(file.files[0]);
    file.value = ""; // the same photo may be chosen again
  });
  takeDrops(byId("identify-drop"), (transfer) => {
    if (transfer.files.length) askAbout(transfer.files[0]);
    else say(trouble, "That was no file: save the picture first, then drop it here.");
  });
  const cropped = document.querySelector("#part-identify .cropped");
  cropped.addEventListener("change", () => last !== null && watching === null && askAbout(last));
  byId("camera-start").addEventListener("click", startCamera);
  byId("camera-stop").addEventListener("click", () => (stopCamera(), byId("camera-start").focus()));
  document.addEventListener("visibilitychange", () => document.hidden && stopCamera());
  on("version", () => show(byId("identify-empty"), state.version.people === 0));
  on("version", showRule);
  on("threshold", showRule);
}

export const leaveIdentify = () => stopCamera();

async function showRule() {
  const told = await calibration().catch(() => null);
  if (told === null) return;
  byId("rule").textContent = rule(told);
  byId("rule-scale").replaceChildren(scale({ threshold: told.threshold }));
}

async function askAbout(photo) {
  stopCamera();
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  clear();
  const why = refusal(photo, limits());
  if (why) return refuse(why);
  last = photo;
  const drawn = showPicture(photo);
  busy(true);
  try {
    const answer = await identify(photo, { top: TOP, cropped: state.cropped, signal });
    if (signal.aborted) return;
    busy(false);
    drawn.then((image) => signal.aborted || mark(image, answer.face));
    await present(answer, photo);
  } catch (mistake) {
    if (signal.aborted) return;
    busy(false);
    showTrouble(mistake);
  }
}

function refuse(why) {
  show(byId("answer-empty"));
  say(trouble, why);
}

function clear() {
  say(trouble, "");
  hideWhy();
  show(byId("candidates"), false);
  show(byId("answer-body"), false);
  show(byId("answer-empty"), false);
}

function busy(whether) {
  show(byId("answer-busy"), whether);
  byId("answer").setAttribute("aria-busy", String(whether));
  if (whether) announce("Looking at the photo.");
}

function showTrouble(mistake) {
  const enroll = mistake.code === "nobody_enrolled" ? [el(
    "p",
    {},
    el("a", { href: "#enroll", text: "Enroll somebody" }),
  )] : [];
  const cropped =
    mistake.code === "no_face" && !state.cropped
      ? [el("p", { class: "small", text: "If the picture is a face already, tick the box below." })]
      : [];
  complain(trouble, mistake, ...enroll, ...cropped);
  if (byId("answer-body").hidden) show(byId("answer-empty"));
}

/** Show an answer and, after it, why; returns when both are there. */
async function present(answer, photo) {
  say(trouble, "");
  show(byId("answer-empty"), false);
  byId("answer-body").replaceChildren(...answerBody(
    answer,
    { onEnroll: () => giveToEnroll({ photo }) },
  ).filter(Boolean));
  show(byId("answer-body"));
  announce(answer.sentence);
  showCandidates(answer);
  await showWhy(photo, answer);
}

// The photo

/** Show a photo; returns, in time, its <img>, or null for a format that no browser shows. */
async function showPicture(photo) {
  if (pictureAddress) URL.revokeObjectURL(pictureAddress);
  pictureAddress = URL.createObjectURL(photo);
  const image = el("img", { src: pictureAddress, alt: "The photo that was asked about" });
  byId("identify-picture").replaceChildren(image);
  show(byId("identify-picture"));
  show(byId("identify-again"));
  show(byId("identify-words"), false);
  try {
    await image.decode();
    return image;
  } catch {
    image.replaceWith(el("span", { class: "no-picture", text: photo.name }));
    return null;
  }
}

/** Mark the face that was found: brackets around it, a dot on each eye. */
function mark(image, face) {
  if (face === null || !image?.isConnected) return;
  const [right, left] = [face.right_eye, face.left_eye];
  const [dx, dy] = [left[0] - right[0], left[1] - right[1]];
  const apart = Math.hypot(dx, dy);
  const drawn = svg(
    "svg",
    {
      class: "marks",
      viewBox: `0 0 ${image.naturalWidth} ${image.naturalHeight}`,
      "aria-hidden": "true",
      focusable: "false",
    },
  );
  const middle = `${(right[0] + left[0]) / 2} ${(right[1] + left[1]) / 2}`;
  const turn = (Math.atan2(dy, dx) * 180) / Math.PI;
  const turned = svg("g", { transform: `translate(${middle}) rotate(${turn}) scale(${apart})` });
  const [x0, x1, y0, y1, arm] = [-1.1, 1.1, -1, 1.7, 0.35];
  const corner = (x, y, sx, sy) => `M${x + sx * arm} ${y}H${x}V${y + sy * arm}`;
  const path = corner(x0, y0, 1, 1) + corner(x1, y0, -1, 1) + corner(x0, y1, 1, -1) + corner(x1, y1, -1, -1);
  turned.append(svg("path", { d: path }), svg("path", { class: "eyes", d: "M-0.5 0h0M0.5 0h0" }));
  // An inner svg ends where the photo ends, the outer one where its place does.
  drawn.append(svg("svg", { width: image.naturalWidth, height: image.naturalHeight }, turned));
  image.after(drawn);
}

// The camera

async function startCamera() {
  stopCamera();
  asking.abort();
  busy(false);
  say(trouble, "");
  const mine = new AbortController();
  watching = mine;
  live(true);
  hint.textContent = "Waiting for the camera …";
  let camera = null;
  try {
    camera = await openCamera(byId("camera-video"));
    if (mine.signal.aborted) return camera.stop();
    mine.signal.addEventListener("abort", () => camera.stop());
    camera.onEnd(() => watching === mine && (stopCamera(), say(trouble, "The camera was disconnected.")));
    byId("camera-who").textContent = "Looking …";
    const steady = steadyHint();
    await watch({ camera, cropped: () => state.cropped, signal: mine.signal, onFrame: steady, onAgreed: agreed });
  } catch (mistake) {
    if (mine.signal.aborted) return;
    stopCamera();
    showTrouble(mistake);
    byId("camera-start").focus();
  }
}

function stopCamera() {
  if (watching === null) return;
  watching.abort();
  watching = null;
  live(false);
}

function live(whether) {
  show(byId("camera"), whether);
  show(byId("camera-start"), !whether);
  show(byId("camera-stop"), whether);
  show(byId("identify-drop"), !whether);
  byId("camera-who").textContent = "";
  hint.textContent = "";
  if (whether) byId("camera-stop").focus();
}

/** Say a hint only when it has changed, and stayed for two frames; numbers in it may waver. */
function steadyHint() {
  const gist = (text) => text.replace(/\d+/g, "#");
  let [before, said] = ["", ""];
  return (answer) => {
    const text = answer === null ? "No face found: move in front of the camera, and look into it." : answer.light.hint;
    if (gist(text) === before && gist(text) !== said) {
      said = gist(text);
      hint.textContent = text;
    }
    before = gist(text);
  };
}

async function agreed(vote, answer, frame) {
  const who = { nobody: "Nobody in sight", stranger: "Unknown" }[vote] ?? answer.name;
  byId("camera-who").textContent = who;
  if (answer === null) return;
  showPicture(frame).then((image) => mark(image, answer.face));
  await present(answer, frame);
}
