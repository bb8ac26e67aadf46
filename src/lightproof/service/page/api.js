// The service, as functions. Every answer is described in lightproof/service/schemas.py.

const KEPT = "lightproof-token";
const PATIENCE = 8; // times that a busy service is asked again
const LONGEST_WAIT = 30; // seconds

/** What went wrong; `message` is the sentence to show. */
export class Problem extends Error {
  constructor({ status = 0, code = "unreadable", title = "", detail = "", rejected = [] }, wait = 1) {
    super(detail || `The service answered ${status}.`);
    Object.assign(this, { name: "Problem", status, code, title, rejected, wait });
  }

  /** Whether asking again later may help. */
  get passing() {
    return this.status === 429 || this.status === 503;
  }
}

let token = remembered();
let asking = null;
let refusals = 0; // times that no token was given
let askForToken = async () => null;

export const hasToken = () => token !== null;

/** Say how a token is asked for: a function of whether the last one was wrong, to a token or null. */
export function onMissingToken(ask) {
  askForToken = ask;
}

export function setToken(given) {
  token = given;
  try {
    if (given === null) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, given);
  } catch {
    // Where nothing may be stored, it lives as long as the page.
  }
}

function remembered() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** Wait some seconds; an abort ends the wait with its reason. */
export function waited(seconds, signal) {
  return new Promise((done, fail) => {
    signal?.throwIfAborted();
    const stop = () => (clearTimeout(timer), fail(signal.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), done()), 1000 * seconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Ask the service. `signal` ends the request itself; `stop` only the waiting between two tries, so that it is known
 * what became of a request that was sent.
 */
async function call(method, path, { json, body, signal, stop = signal, patient = true, as = "json" } = {}) {
  const before = refusals;
  for (let tries = 0; ; tries++) {
    const used = token;
    const response = await sent(method, path, used, json, body, signal);
    if (response.ok) return as === "json" ? response.json() : response;
    const problem = await problemOf(response);
    if (response.status === 401) {
      if (await gotToken(used, before)) continue;
    } else if (problem.passing && patient && tries < PATIENCE) {
      await waited(problem.wait, stop);
      continue;
    }
    throw problem;
  }
}

async function sent(method, path, used, json, body, signal) {
  const headers = {};
  if (used !== null) headers.Authorization = `Bearer ${used}`;
  if (json !== undefined) headers["Content-Type"] = "application/json";
  else if (body instanceof Blob) headers["Content-Type"] = "application/octet-stream";
  try {
    return await fetch(`/v1${path}`, {
      method,
      headers,
      signal,
      body: json === undefined ? body : JSON.stringify(json),
      cache: "no-store",
      credentials: "omit",
    });
  } catch (mistake) {
    if (signal?.aborted) throw mistake;
    // A browser tells the one from the other by nothing that a page can see.
    const files = body === undefined ? "" : " Or a file has changed or gone since it was chosen: choose it again.";
    throw new Problem({
      code: "unreachable",
      detail: `The service cannot be reached: check that it is running, and the network.${files}`,
    });
  }
}

async function problemOf(response) {
  const wait = Math.min(LONGEST_WAIT, Math.max(0.2, Number(response.headers.get("Retry-After")) || 1));
  try {
    const told = await response.json();
    // What the service says of headers is for programs.
    if (response.status === 401) told.detail = "The service needs its token.";
    return new Problem({ ...told, status: response.status }, wait);
  } catch {
    return new Problem({ status: response.status }, wait);
  }
}

/** Ask for a token once, however many calls have failed for the lack of it; a call that was under way when none was
 * given does not ask again. */
async function gotToken(used, before) {
  if (token !== used) return true;
  if (refusals !== before) return false;
  asking ??= askForToken(used !== null).finally(() => (asking = null));
  const given = await asking;
  if (given === null) {
    refusals += 1;
    if (token === used) setToken(null); // one that was not accepted is not kept
    return false;
  }
  if (token === used) setToken(given);
  return true;
}

function form(fields) {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    for (const one of [value].flat()) {
      if (one instanceof Blob) made.append(name, one, one.name ?? "photo.jpg");
      else made.append(name, String(one));
    }
  }
  return made;
}

const post = (path, fields, more = {}) => call("POST", path, { body: form(fields), ...more });

export const version = () => call("GET", "/version", { patient: false });

export const identify = (photo, { top = 5, cropped, quick, ...more }) =>
  post("/identify", { photo, top, cropped, quick }, more);
export const explain = (photo, { person, against, cropped, ...more }) =>
  post("/explain", { photo, person, against, cropped }, more);

export function people({ limit = 50, after, name, signal } = {}) {
  const asked = new URLSearchParams({ limit });
  if (after) asked.set("after", after);
  if (name) asked.set("name", name);
  return call("GET", `/people?${asked}`, { signal });
}

/** Find somebody by the whole name; null if there is nobody of that name. */
export async function personNamed(name, signal) {
  const wanted = name.trim().normalize("NFC");
  for (let after; ; ) {
    const page = await people({ limit: 200, name: wanted, after, signal });
    const found = page.people.find((person) => person.name.normalize("NFC") === wanted);
    if (found || !page.next) return found ?? null;
    after = page.next;
  }
}

export const enrollNew = (name, photos, { cropped, stop }) => post("/people", { name, photos, cropped }, { stop });
export const enrollMore = (id, photos, { cropped, stop }) => post(
  `/people/${id}/photos`,
  { photos, cropped },
  { stop },
);

export const person = (id) => call("GET", `/people/${id}`);
export const rename = (id, name) => call("PATCH", `/people/${id}`, { json: { name } });
export const forgetPerson = (id) => call("DELETE", `/people/${id}`);
export const photosOf = (id) => call("GET", `/people/${id}/photos`);
export const forgetPhoto = (id, photo) => call("DELETE", `/people/${id}/photos/${photo}`);

export async function thumbnail(id, photo) {
  const response = await call("GET", `/people/${id}/photos/${photo}/thumbnail`, { as: "response" });
  return response.blob();
}

export const calibration = () => call("GET", "/calibration");
export const calibrate = (far) => call("POST", "/calibrate", { json: { far } });
export const accuracy = (signal) => call("GET", "/accuracy", { signal });

/** The gallery as a file: its bytes, and the name that the service gives it. */
export async function exported() {
  const response = await call("GET", "/export", { as: "response" });
  const told = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "");
  return { blob: await response.blob(), name: told?.[1] ?? "people.gallery" };
}

export const imported = (file) => call("POST", "/import", { body: file });
