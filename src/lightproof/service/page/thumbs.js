// Faces that the gallery kept, as addresses of pictures. The token is a header, so an <img> cannot ask by itself.

import { photosOf, thumbnail } from "./api.js";
import { on } from "./state.js";

const kept = new Map();

on("gallery", () => {
  for (const address of kept.values()) address.then((it) => it && URL.revokeObjectURL(it), () => {});
  kept.clear();
});

function once(key, make) {
  if (!kept.has(key)) {
    const made = make();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
  }
  return kept.get(key);
}

/** The kept face of a photo. */
export const faceOfPhoto = (person, photo) => once(
  `${person}/${photo}`,
  async () => URL.createObjectURL(await thumbnail(person, photo)),
);

/** A kept face of somebody, the evenest light first; null if there is none. */
export async function faceOfPerson(person) {
  const { photos } = await photosOf(person);
  const faces = photos.filter((photo) => photo.has_thumbnail);
  const best = faces.find((photo) => photo.light === "front") ?? faces[0];
  return best ? faceOfPhoto(person, best.id) : null;
}
