// Frames of a camera to the service, one after the other, until most of the last ones agree.

import { identify, Problem, waited } from "./api.js";
import { voteOf, Votes } from "./votes.js";

const LONGEST = 640; // pixels
const PACE = 1 / 6; // seconds from one frame to the next, at least
const NO_FACE = new Set(["no_face", "bad_picture", "bad_image"]);

/**
 * Watch until the signal aborts.
 *
 * `onFrame(answer)` gets every answer, null where there is no face; `onAgreed(vote, answer, frame)` what most frames
 * say, when it changes, with the answer to a frame that says the same. Both are waited for.
 */
export async function watch({ camera, cropped, onFrame, onAgreed, signal }) {
  const votes = new Votes();
  let said = null;
  while (!signal.aborted) {
    const start = performance.now() / 1000;
    const frame = await camera.grab(LONGEST);
    const told = await asked(frame, cropped(), signal);
    if (signal.aborted) return;
    if (told !== undefined) {
      await onFrame(told);
      const vote = voteOf(told);
      const agreed = votes.add(start, vote);
      if (agreed !== null && agreed !== said && agreed === vote) {
        said = agreed;
        await onAgreed(agreed, told, frame);
      }
    }
    await pause(start + PACE - performance.now() / 1000, signal);
  }
}

/** The answer; null for no face, undefined if the service was busy and the frame is stale by now. */
async function asked(frame, cropped, signal) {
  try {
    // Whoever stands at a camera is large in its picture, and most frames show nobody.
    return await identify(frame, { cropped, quick: true, signal, patient: false });
  } catch (mistake) {
    if (signal.aborted) return undefined;
    if (!(mistake instanceof Problem)) throw mistake;
    if (NO_FACE.has(mistake.code)) return null;
    if (!mistake.passing) throw mistake;
    await pause(mistake.wait, signal);
    return undefined;
  }
}

async function pause(seconds, signal) {
  try {
    await waited(Math.max(0, seconds), signal);
  } catch {
    // Stopped meanwhile: the caller looks at the signal.
  }
}
