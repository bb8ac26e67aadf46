// Where light comes from, drawn: a plain head, shaded as the light would shade it.

import { el, svg } from "./dom.js";

/** As in lightproof/gallery/advice.py: azimuth and elevation that each name stands for; left and right are the person's own. */
const LIGHTS = {
  front: { azimuth: 0, elevation: 10, words: "a window that you face" },
  left: { azimuth: -50, elevation: 10, words: "a window ahead of you on your left" },
  right: { azimuth: 50, elevation: 10, words: "a window ahead of you on your right" },
  "hard left": { azimuth: -100, elevation: 10, words: "a window beside you, on your left" },
  "hard right": { azimuth: 100, elevation: 10, words: "a window beside you, on your right" },
  above: { azimuth: 0, elevation: 65, words: "a lamp on the ceiling" },
  below: { azimuth: 0, elevation: -45, words: "a lamp on the table" },
};

const BEHIND = 105; // degrees, as in lightproof/imaging/lighting/diagnosis.py
const FRONTAL = 0.36; // sine of the angle below which the light counts as that of the camera
const FACING = 7.5; // degrees by which a head may be turned and still face the camera
const AMBIENT = 0.035; // enough to see the head in its own shadow
const SOFT = 0.12; // width of the edge of the shadow
const WIDE = 0.78; // a head is narrower than it is high

/** Toward the light, as the camera sees it: x to the right of the picture, y up, z to the camera. */
function toward(azimuth, elevation) {
  const [a, e] = [azimuth, elevation].map((degrees) => (degrees * Math.PI) / 180);
  return [-Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e)];
}

/** How far a head comes out to the camera; x and y from -1 to 1. */
function relief(x, y) {
  const inside = 1 - (x / WIDE) ** 2 - y ** 2;
  if (inside <= 0) return 0;
  const bump = (cx, cy, wx, wy) => Math.exp(-(((x - cx) / wx) ** 2) - ((y - cy) / wy) ** 2);
  return (
    0.85 * Math.sqrt(inside) +
    0.27 * bump(0, -0.1, 0.13, 0.2) +
    0.1 * bump(0, 0.15, 0.06, 0.25) -
    0.11 * (bump(-0.3, 0.16, 0.17, 0.12) + bump(0.3, 0.16, 0.17, 0.12)) +
    0.045 * bump(0, 0.35, 0.5, 0.1) +
    0.05 * (bump(0, -0.43, 0.2, 0.05) + bump(0, -0.54, 0.17, 0.05)) -
    0.05 * bump(0, -0.485, 0.19, 0.02)
  );
}

/** A head lit from one direction; plain where the direction is not known. */
export function head(azimuth, elevation, size) {
  const sides = Math.round(size * Math.min(2, window.devicePixelRatio || 1));
  const canvas = el(
    "canvas",
    { class: "head", width: sides, height: sides, "aria-hidden": "true", vars: { "--size": `${size}px` } },
  );
  const light = azimuth === null || elevation === null ? null : toward(azimuth, elevation);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(sides, sides);
  const step = 2 / sides;
  for (let row = 0; row < sides; row++) {
    for (let column = 0; column < sides; column++) {
      const [x, y] = [(column + 0.5) * step - 1, 1 - (row + 0.5) * step];
      const reach = Math.hypot(x / WIDE, y);
      const cover = Math.min(1, Math.max(0, (0.985 - reach) / step));
      if (!cover) continue;
      picture.data.set([...tone(x, y, light), 255 * cover], 4 * (row * sides + column));
    }
  }
  context.putImageData(picture, 0, 0);
  return canvas;
}

function tone(x, y, light) {
  if (light === null) return [150, 147, 140];
  const d = 0.02;
  const slope = [
    relief(x + d, y) - relief(x - d, y),
    relief(x, y + d) - relief(x, y - d),
  ].map((rise) => -rise / (2 * d));
  const length = Math.hypot(...slope, 1);
  const lit = (slope[0] * light[0] + slope[1] * light[1] + light[2]) / length;
  const direct = (lit + Math.hypot(lit, SOFT)) / 2;
  const bright = Math.min(1, AMBIENT * (0.4 + 1 / length) + direct) ** (1 / 2.2);
  return [22 + 230 * bright, 21 + 222 * bright, 22 + 203 * bright];
}

/** A head and the lamp around it. `light` has azimuth and elevation, as Light and Photo have. */
export function lamp(light, size = 120) {
  const { azimuth, elevation } = light;
  const inner = Math.round(size * 0.66);
  return el(
    "span",
    { class: "lamp", "aria-hidden": "true", vars: { "--size": `${size}px` } },
    ring(azimuth, elevation),
    head(azimuth, elevation, inner),
  );
}

function ring(azimuth, elevation) {
  const drawn = svg("svg", { viewBox: "-50 -50 100 100", focusable: "false" });
  const known = azimuth !== null && elevation !== null;
  const [x, y, z] = known ? toward(azimuth, elevation) : [0, 0, 0];
  const aside = Math.hypot(x, y);
  const frontal = known && aside < FRONTAL && z > 0;
  drawn.append(svg("circle", { r: 41, class: frontal ? "ring lit" : "ring" }));
  if (!known || frontal) return drawn;
  // Behind the head it is drawn hollow.
  const sun = svg(
    "g",
    { class: z < -0.25 ? "sun behind" : "sun", transform: `translate(${(41 * x) / aside} ${(-41 * y) / aside})` },
  );
  for (let k = 0; k < 8; k++) sun.append(svg("line", { x1: 5.6, x2: 8, transform: `rotate(${45 * k})` }));
  sun.append(svg("circle", { r: 4 }));
  drawn.append(sun);
  return drawn;
}

/** Where light comes from, in words; left and right are those of the picture. */
export function directionWords({ azimuth, elevation, side, height }) {
  if (azimuth === null || elevation === null || side === null) return "The direction of the light cannot be read";
  const behind = Math.abs(azimuth) >= BEHIND ? ", behind the face" : "";
  const from = side === "front" ? "Light from the front" : `Light from the ${side} of the picture`;
  const high = { above: ", from above", below: ", from below" }[height] ?? "";
  return `${from}${high}${behind}`;
}

export function degrees({ azimuth, elevation }) {
  if (azimuth === null || elevation === null) return "";
  const aside = `${Math.abs(azimuth).toFixed(0)}° to the ${azimuth < 0 ? "right" : "left"}`;
  const high = `${Math.abs(elevation).toFixed(0)}° ${elevation < 0 ? "down" : "up"}`;
  return `${Math.round(azimuth) === 0 ? "0° to the side" : aside}, ${high}`;
}

/** How the head is turned, and mouth and eyes, in words; left and right are those of the picture. */
export function poseWords({ yaw, pitch, roll, mouth_open: mouth, eyes_open: eyes }) {
  const turns = [
    [yaw, "to the left", "to the right"],
    [pitch, "up", "down"],
    [roll, "clockwise", "counterclockwise"],
  ].filter(([angle]) => Math.abs(angle) >= FACING);
  const turned = turns.map(([angle, plus, minus]) => `${Math.abs(angle).toFixed(0)}° ${angle > 0 ? plus : minus}`);
  const head = turned.length ? `Head turned ${turned.join(", ")}` : "Head toward the camera";
  const lips = mouth < 0.1 ? "closed" : mouth < 0.45 ? "a little open" : "wide open";
  const lids = eyes < 0.1 ? "closed" : eyes < 0.4 ? "half closed" : "open";
  return `${head}; mouth ${lips}, eyes ${lids}`;
}

/** The seven lights around a face, as the camera sees them: those that photos show, and those that they lack. */
export function lightsDiagram(has = null) {
  const cells = Object.entries(LIGHTS).map(([name, { azimuth, elevation, words }]) => {
    const there = has === null ? null : has.includes(name);
    return el(
      "li",
      { class: `light ${name.replace(" ", "-")} ${there === null ? "" : there ? "has" : "lacks"}` },
      head(azimuth, elevation, 60),
      el("span", { class: "light-name", text: name }),
      there === null ? null : el("span", { class: "light-there", text: there ? "there" : "missing" }),
      el("span", { class: "visually-hidden", text: `, such as ${words}` }),
    );
  });
  return el("ul", { class: "lights", "aria-label": has === null ? "Seven lights" : "Lights of the photos" }, cells);
}
