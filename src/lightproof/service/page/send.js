// Photos of one person to the service, some at a time.

import { enrollMore, enrollNew, Problem } from "./api.js";
import { tooLarge } from "./words.js";

const TOGETHER = 6; // photos in one request: small enough that progress is seen
const AROUND = 2048; // bytes that a form adds to a photo, with room to spare

/** Cut photos into groups that fit into one request. */
export function groups(photos, limits) {
  const made = [];
  let bytes = Infinity;
  for (const photo of photos) {
    const adds = photo.size + AROUND;
    const last = made.at(-1);
    if (!last || last.length >= Math.min(TOGETHER, limits.photos) || bytes + adds > limits.body_bytes) {
      made.push([photo]);
      bytes = AROUND + adds;
    } else {
      last.push(photo);
      bytes += adds;
    }
  }
  return made;
}

/** Why a photo need not be sent at all, or null. */
export function refusal(photo, limits) {
  if (photo.size === 0) return "The file is empty.";
  if (photo.size <= limits.photo_bytes) return null;
  return tooLarge(photo.size, limits.photo_bytes);
}

/**
 * Send one group; `whom` is {id} or {name}.
 *
 * Returns {person, results}, results in the order of the photos: {what: "taken" | "known" | "rejected", detail, photo}.
 * The person is null if no photo was enrolled.
 */
export async function sendGroup(whom, files, options) {
  try {
    const isNew = whom.id === undefined;
    const told = await (isNew ? enrollNew(whom.name, files, options) : enrollMore(whom.id, files, options));
    return { person: told.person, results: results(files.length, told) };
  } catch (mistake) {
    if (!(mistake instanceof Problem) || !mistake.rejected.length) throw mistake;
    return { person: null, results: results(files.length, mistake) };
  }
}

function results(count, { added = [], known = [], rejected = [] }) {
  // Its number in a request means nothing to who sent a whole folder.
  const why = new Map(rejected.map(({ index, detail }) => [index, detail.replace(/^Photo \d+\b/, "The photo")]));
  const there = new Set(known);
  const fresh = [...added];
  return Array.from({ length: count }, (_, index) => {
    if (why.has(index)) return { what: "rejected", detail: why.get(index) };
    if (there.has(index)) return { what: "known" };
    return { what: "taken", photo: fresh.shift() };
  });
}
