// People: who is enrolled. person.js shows one of them.

import { exported, imported, people } from "./api.js";
import { announce, byId, complain, el, nameOf, say, show } from "./dom.js";
import { hidePerson, showPerson } from "./person.js";
import { emit, limits, on } from "./state.js";
import { counted, day, grouped, megabytes, tooLarge } from "./words.js";

const LIMIT = 50;
const search = byId("people-name");
let befores = []; // where the pages before this one began
let after = null;
let next = null;
let asking = new AbortController();
let timer = null;
let open = false;

export function startPeople() {
  byId("people-search").addEventListener("submit", (event) => (event.preventDefault(), fromStart()));
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fromStart, 250); // not at every letter
  });
  byId("people-next").addEventListener("click", () => {
    befores.push(after);
    after = next;
    turn();
  });
  byId("people-before").addEventListener("click", () => {
    after = befores.pop();
    turn();
  });
  byId("export").addEventListener("click", exportGallery);
  const file = byId("import-file");
  file.addEventListener("change", () => {
    const [chosen] = file.files;
    if (chosen) importGallery(chosen);
    file.value = "";
  });
  on("gallery", () => open && load());
}

/** Show the list, or the person whose id stands in the address. */
export function showPeople(id) {
  open = true;
  if (id) {
    show(byId("people-list-view"), false);
    showPerson(Number(id), (sentence) => {
      say(byId("people-said"), sentence);
      location.hash = "#people";
    });
  } else {
    const back = !byId("person-view").hidden;
    hidePerson();
    show(byId("people-list-view"));
    load();
    if (back) byId("people-title").focus();
  }
}

export function leavePeople() {
  open = false;
  say(byId("people-said"), "");
}

function fromStart() {
  befores = [];
  after = null;
  load();
}

async function turn() {
  await load();
  byId("people-title").focus();
  window.scrollTo(0, 0);
}

async function load() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const list = byId("people-list");
  list.setAttribute("aria-busy", "true");
  say(byId("people-trouble"), "");
  if (!list.childElementCount) list.replaceChildren(el("p", { class: "soft", text: "Loading …" }));
  try {
    const name = search.value.trim();
    const page = await people({ limit: LIMIT, after, name, signal });
    if (signal.aborted) return;
    next = page.next;
    list.replaceChildren(page.people.length ? rows(page.people) : nobody(name));
    if (name) announce(`${counted(page.total, "person", "people")} found.`);
    place(page);
  } catch (mistake) {
    if (signal.aborted) return;
    list.replaceChildren();
    show(byId("people-pages"), false);
    complain(byId("people-trouble"), mistake);
  } finally {
    if (!signal.aborted) list.setAttribute("aria-busy", "false");
  }
}

const rows = (found) =>
  el(
    "ul",
    { class: "people" },
    found.map((person) =>
      el(
        "li",
        {},
        el(
          "a",
          { href: `#people/${person.id}` },
          el("span", { class: "face", "aria-hidden": "true", text: Array.from(person.name.trim())[0] ?? "?" }),
          nameOf(person.name, { class: "person-name" }),
          el(
            "span",
            {
              class: "soft person-photos",
              text: person.photos ? counted(person.photos, "photo") : "no photo: never found",
            },
          ),
          el("span", { class: "soft small person-added", text: `since ${day(person.added)}` }),
        ),
      ),
    ),
  );

function nobody(name) {
  if (name) return el("p", { class: "nobody" }, "Nobody is called ", nameOf(name), ".");
  return el(
    "p",
    { class: "nobody" },
    "Nobody is enrolled yet. One photo a person is enough. ",
    el("a", { href: "#enroll", text: "Enroll somebody" }),
  );
}

function place({ people: found, total }) {
  const first = befores.length * LIMIT + 1;
  const counts = `${counted(total, "person", "people")} ${search.value.trim() ? "found" : "can be named"}.`;
  byId("people-lead").textContent = total ? counts : "Everybody who can be named.";
  byId("people-place").textContent = `${grouped(first)} to ${grouped(first + found.length - 1)} of ${grouped(total)}`;
  show(byId("people-pages"), befores.length > 0 || next !== null);
  byId("people-before").disabled = !befores.length;
  byId("people-next").disabled = next === null;
}

// The gallery as a file

async function withFile(button, words, work) {
  const [said, trouble] = [byId("file-said"), byId("file-trouble")];
  say(trouble, "");
  say(said, words);
  button.setAttribute("aria-disabled", "true");
  try {
    say(said, await work());
  } catch (mistake) {
    say(said, "");
    complain(trouble, mistake);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

function exportGallery() {
  return withFile(byId("export"), "Making a copy …", async () => {
    const { blob, name } = await exported();
    const address = URL.createObjectURL(blob);
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // the download must have begun
    return `${name}, ${megabytes(blob.size)}, is in your downloads.`;
  });
}

function importGallery(file) {
  return withFile(byId("import-label"), `Adding the people of ${file.name} …`, async () => {
    const most = limits().import_bytes;
    if (file.size > most) throw new Error(tooLarge(file.size, most));
    const told = await imported(file);
    emit("gallery");
    return `${counted(told.people, "person", "people")} came with ${file.name}.`;
  });
}
