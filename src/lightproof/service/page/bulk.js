// Many people: a folder or a zip, sent person by person.

import { personNamed, Problem } from "./api.js";
import { announce, byId, el, nameOf, say, show, takeDrops } from "./dom.js";
import { fromDrop, fromInput, planned } from "./plan.js";
import { groups, refusal, sendGroup } from "./send.js";
import { emit, limits, state } from "./state.js";
import { counted, grouped } from "./words.js";
import { BadZip, extract, listed } from "./zip.js";

const SHOWN = 60; // names in the list before it is cut
const trouble = byId("bulk-trouble");
let running = null;

export function startBulk() {
  const [folder, zip] = [byId("bulk-folder"), byId("bulk-zip")];
  folder.addEventListener("change", () => {
    const files = fromInput(folder.files);
    folder.value = "";
    if (files.length) prepare(async () => files);
  });
  zip.addEventListener("change", () => {
    const [file] = zip.files;
    if (file) prepare(() => fromZip(file));
    zip.value = "";
  });
  takeDrops(byId("bulk-folder-drop"), dropped);
  takeDrops(byId("bulk-zip-drop"), dropped);
  byId("bulk-stop").addEventListener("click", () => {
    running?.abort();
    byId("bulk-now").textContent = "Stopping after these …";
  });
}

/** Either zone takes either: a zip, or folders. */
function dropped(transfer) {
  const [file] = transfer.files;
  if (transfer.files.length === 1 && /\.zip$/i.test(file.name)) return prepare(() => fromZip(file));
  const files = fromDrop(transfer);
  return prepare(() => files);
}

async function fromZip(file) {
  const entries = await listed(file);
  return entries.map((entry) => ({
    path: entry.path,
    size: entry.size,
    open: async () => new File([await extract(file, entry, limits().photo_bytes)], entry.path.split("/").at(-1)),
  }));
}

async function prepare(read) {
  if (running) return;
  say(trouble, "");
  show(byId("bulk-plan"), false);
  show(byId("bulk-report"), false);
  try {
    showPlan(planned(await read()));
  } catch (mistake) {
    say(trouble, mistake instanceof BadZip ? mistake.message : `That cannot be read: ${mistake.message}`);
  }
}

function showPlan(plan) {
  const names = [...plan.people.keys()];
  const photos = [...plan.people.values()].reduce((sum, list) => sum + list.length, 0);
  if (!photos) return say(trouble, `There is no photo in a person's folder. ${leftOut(plan)}`.trim());
  const start = el(
    "button",
    {
      type: "button",
      class: "main",
      text: `Enroll ${counted(names.length, "person", "people")}`,
      on: { click: () => run(plan, photos) },
    },
  );
  byId("bulk-plan").replaceChildren(
    el("p", { class: "big-words", text: `${counted(names.length, "person", "people")}, ${counted(photos, "photo")}` }),
    el(
      "ul",
      { class: "names" },
      names.slice(0, SHOWN).map((name) => el(
        "li",
        {},
        nameOf(name),
        el("span", { class: "soft", text: ` ${plan.people.get(name).length}` }),
      )),
    ),
    names.length > SHOWN ? el("p", { class: "soft small", text: `and ${grouped(names.length - SHOWN)} more` }) : "",
    el("p", { class: "soft small", text: leftOut(plan) }),
    el("div", { class: "row" }, start),
  );
  show(byId("bulk-plan"));
  announce(`${counted(names.length, "person", "people")}, ${counted(photos, "photo")} found.`);
  start.focus();
}

function leftOut({ others, homeless }) {
  const parts = [];
  if (others) parts.push(`${counted(others, "file")} left out: no ${others === 1 ? "picture" : "pictures"}.`);
  if (homeless.length) parts.push(`${counted(homeless.length, "picture")} left out: not in a person's folder.`);
  return parts.join(" ");
}

async function run(plan, total) {
  running = new AbortController();
  const tally = { total, done: 0, taken: 0, known: 0, people: new Set(), rejected: [] };
  show(byId("bulk-plan"), false);
  show(byId("bulk-run"));
  advance(tally, "");
  byId("bulk-stop").focus();
  let ended = null;
  try {
    for (const [name, photos] of plan.people) await sendPerson(name, photos, tally, running.signal);
  } catch (mistake) {
    ended = running.signal.aborted ? "stopped" : mistake.message;
  }
  running = null;
  show(byId("bulk-run"), false);
  if (tally.taken) emit("gallery");
  report(tally, plan, ended);
}

async function sendPerson(name, photos, tally, signal) {
  advance(tally, name);
  const sendable = photos.filter((photo) => !left(photo, refusal(photo, limits()), tally));
  const there = await personNamed(name, signal);
  let whom = there === null ? { name } : { id: there.id };
  for (const group of groups(sendable, limits())) {
    const [kept, files] = await opened(group, tally);
    signal.throwIfAborted();
    if (files.length) {
      const told = await sendOrRefuse(whom, files, signal);
      // Even if it was stopped meanwhile: the service has them.
      if (told.person !== null) {
        whom = { id: told.person.id };
        tally.people.add(told.person.id);
      }
      told.results.forEach((result, i) => count(kept[i], result, tally));
    }
    signal.throwIfAborted();
    advance(tally, name);
  }
}

async function opened(group, tally) {
  const [kept, files] = [[], []];
  for (const photo of group) {
    try {
      files.push(await photo.open());
      kept.push(photo);
    } catch (mistake) {
      left(photo, mistake.message, tally);
    }
  }
  return [kept, files];
}

/** A request that is refused as a whole, such as one with a name too long, must not end all the others. */
async function sendOrRefuse(whom, files, signal) {
  try {
    return await sendGroup(whom, files, { cropped: state.cropped, stop: signal });
  } catch (mistake) {
    const about = mistake instanceof Problem && mistake.status >= 400 && mistake.status < 500;
    if (!about || [401, 403, 429].includes(mistake.status)) throw mistake;
    return { person: null, results: files.map(() => ({ what: "rejected", detail: mistake.message })) };
  }
}

function left(photo, why, tally) {
  if (why) count(photo, { what: "rejected", detail: why }, tally);
  return Boolean(why);
}

function count(photo, { what, detail }, tally) {
  tally.done += 1;
  if (what === "rejected") tally.rejected.push({ path: photo.path, detail });
  else tally[what] += 1;
}

function advance({ done, total }, name) {
  byId("bulk-count").textContent = `${grouped(done)} of ${counted(total, "photo")}`;
  byId("bulk-now").textContent = name;
  const bar = byId("bulk-progress");
  [bar.max, bar.value] = [total, done];
}

function report(tally, plan, ended) {
  const { total, done, taken, known, people, rejected } = tally;
  const title = ended === null ? "Done" : ended === "stopped" ? "Stopped" : "Not finished";
  const parts = [
    `${counted(taken, "photo")} enrolled`,
    `${grouped(known)} known already`,
    `${grouped(rejected.length)} not enrolled`,
  ];
  const unsent = total - done;
  const rest = unsent ? ` ${counted(unsent, "photo")} not sent.` : "";
  const sentence = `${parts.join(", ")}; ${counted(people.size, "person", "people")}.${rest}`;
  const heading = el("h4", { class: "big-words", tabindex: "-1", text: title });
  byId("bulk-report").replaceChildren(
    heading,
    ended !== null && ended !== "stopped" ? el("p", { class: "note bad", text: ended }) : "",
    el("p", { class: "sentence", text: sentence }),
    el("p", { class: "soft small", text: leftOut(plan) }),
    unsent ? el(
      "p",
      {
        class: "soft small",
        text: "Choose the same folder or zip again to go on: photos that are enrolled already are skipped.",
      },
    ) : "",
    rejected.length ? rejectedList(rejected) : "",
  );
  show(byId("bulk-report"));
  announce(`${title}: ${sentence}`);
  heading.focus();
}

function rejectedList(rejected) {
  const items = rejected.map(({ path, detail }) =>
    el(
      "li",
      { class: "result rejected" },
      el("span", { class: "result-name", text: path }),
      el("span", { class: "small", text: detail }),
    ),
  );
  return el(
    "details",
    { class: "more", open: rejected.length <= 12 },
    el("summary", { text: `${counted(rejected.length, "photo")} not enrolled, and why` }),
    el("ul", { class: "results" }, items),
  );
}
