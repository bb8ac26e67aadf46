// One person: photos, lights, another name, and forgetting.

import { forgetPerson, forgetPhoto, person as readPerson, photosOf, rename } from "./api.js";
import { ask } from "./ask.js";
import { announce, byId, complain, el, nameOf, say, show } from "./dom.js";
import { giveToEnroll } from "./enroll.js";
import { degrees, head, lightsDiagram } from "./light.js";
import { emit } from "./state.js";
import { faceOfPhoto } from "./thumbs.js";
import { counted, day } from "./words.js";

const view = byId("person-view");
let shownId = null;

export function hidePerson() {
  shownId = null;
  show(view, false);
  view.replaceChildren();
}

/** Show somebody; `onGone` gets a sentence when the person was deleted. */
export async function showPerson(id, onGone) {
  shownId = id;
  show(view);
  view.replaceChildren(back(), el("p", { class: "soft", text: "Loading …" }));
  try {
    const [person, { photos }] = await Promise.all([readPerson(id), photosOf(id)]);
    if (shownId === id) fill(person, photos, onGone);
  } catch (mistake) {
    if (shownId !== id) return;
    const note = el("div", { class: "note bad", role: "alert" });
    complain(note, mistake);
    view.replaceChildren(back(), note);
  }
}

const back = () => el("p", {}, el("a", { class: "back", href: "#people", text: "All people" }));

function fill(person, photos, onGone) {
  const said = el("div", { class: "note", role: "status", hidden: true });
  const trouble = el("div", { class: "note bad", role: "alert", hidden: true });
  const again = async (sentence) => {
    emit("gallery");
    await showPerson(person.id, onGone);
    const note = view.querySelector(".note[role=status]");
    if (note && sentence) say(note, sentence);
  };
  const title = el("h2", { tabindex: "-1", class: person.name.length > 24 ? "long" : null }, nameOf(person.name));
  const photoWords = person.photos ? counted(person.photos, "photo") : "No photo: never found";
  view.replaceChildren(
    back(),
    el(
      "div",
      { class: "intro" },
      title,
      el("p", { class: "lead", text: `${photoWords}, enrolled on ${day(person.added)}.` }),
    ),
    said,
    trouble,
    el(
      "div",
      { class: "two" },
      el(
        "section",
        { "aria-labelledby": "photos-title" },
        el("h3", { id: "photos-title", text: "Photos" }),
        photoList(person, photos, again, trouble),
        adding(person),
      ),
      el(
        "section",
        { "aria-labelledby": "lights-title" },
        el("h3", { id: "lights-title", text: "Lights" }),
        lightsDiagram(person.advice.has),
        el("p", { class: "hint", text: person.advice.next }),
        el("p", { class: "small soft", text: "Left and right are those of the person." }),
      ),
    ),
    el(
      "section",
      { class: "block", "aria-labelledby": "change-title" },
      el("h3", { id: "change-title", text: "Change" }),
      renameForm(person, again),
      forgetting(person, onGone, trouble),
    ),
  );
  title.focus();
}

function photoList(person, photos, again, trouble) {
  if (!photos.length) return el("p", { class: "soft", text: "There is none." });
  const items = photos.map((photo, i) => {
    const words = photo.light === null ? "light not known" : `light: ${photo.light}`;
    const face = el("span", { class: "photo-face" }, head(photo.azimuth, photo.elevation, 96));
    if (photo.has_thumbnail) {
      faceOfPhoto(person.id, photo.id).then(
        (address) => face.replaceChildren(el("img", { src: address, alt: `Face of photo ${i + 1}` })),
        () => {},
      );
    }
    return el(
      "li",
      { class: "photo" },
      face,
      el("span", { text: words }),
      el("span", { class: "small soft", text: day(photo.added), title: degrees(photo) || null }),
      el(
        "button",
        {
          type: "button",
          class: "link danger",
          "aria-label": `Delete photo ${i + 1}, ${words}`,
          text: "Delete",
          on: { click: () => removePhoto(person, photo, photos.length, again, trouble) },
        },
      ),
    );
  });
  return el("ul", { class: "photos" }, items);
}

async function removePhoto(person, photo, count, again, trouble) {
  const last = count === 1 ? ` It is the only one: without a photo ${person.name} is never found.` : "";
  const yes = await ask({
    title: "Delete this photo?",
    text: `It cannot be undone.${last}`,
    yes: "Delete the photo",
    danger: true,
  });
  if (!yes) return;
  try {
    const told = await forgetPhoto(person.id, photo.id);
    await again(["The photo is deleted.", told.leftover].filter(Boolean).join(" "));
  } catch (mistake) {
    complain(trouble, mistake);
  }
}

const adding = ({ name }) =>
  el(
    "div",
    {},
    el("button", { type: "button", class: "plain", text: "Add photos", on: { click: () => giveToEnroll({ name }) } }),
  );

function renameForm(person, again) {
  const field = el(
    "input",
    {
      type: "text",
      id: "rename",
      autocomplete: "off",
      maxlength: "200",
      value: person.name,
      "aria-describedby": "rename-trouble",
    },
  );
  const trouble = el("p", { class: "field-trouble", id: "rename-trouble", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    trouble.textContent = name ? "" : "Enter a name.";
    if (!name) return field.focus();
    if (name === person.name) return;
    try {
      await rename(person.id, name);
      await again(`Now called ${name}.`);
    } catch (mistake) {
      trouble.textContent = mistake.message;
      field.focus();
    }
  };
  return el(
    "form",
    { class: "rename", on: { submit } },
    el("div", { class: "field" }, el("label", { for: "rename", text: "Name" }), field, trouble),
    el("button", { type: "submit", class: "plain", text: "Rename" }),
  );
}

function forgetting(person, onGone, trouble) {
  const photos = { 0: "", 1: ", with the photo," }[person.photos] ?? `, with all ${person.photos} photos,`;
  const forget = async () => {
    const yes = await ask({
      title: `Delete ${person.name}?`,
      text: `The person${photos} is deleted. It cannot be undone.`,
      yes: "Delete the person",
      danger: true,
    });
    if (!yes) return;
    try {
      const told = await forgetPerson(person.id);
      const sentence = [
        `${person.name} is deleted, with ${counted(told.photos, "photo")}.`,
        told.leftover,
      ].filter(Boolean).join(" ");
      emit("gallery");
      onGone(sentence);
      announce(sentence);
    } catch (mistake) {
      complain(trouble, mistake);
    }
  };
  return el(
    "div",
    { class: "forget" },
    el("p", { class: "soft", text: "Deletes the person's photos and templates for good." }),
    el("button", { type: "button", class: "plain danger", text: "Delete this person", on: { click: forget } }),
  );
}
