// What the parts of the page share.

const changes = new EventTarget();

export const state = {
  /** As /v1/version says; null until it has answered. */
  version: null,
  /** Whether pictures are faces already; for as long as the page is open. */
  cropped: false,
};

/** Events: "version" (it was read anew), "gallery" (people or photos changed), "threshold" (it was moved). */
export const on = (event, listener) => changes.addEventListener(event, listener);
export const emit = (event) => changes.dispatchEvent(new Event(event));

const EVERYTHING = { photo_bytes: Infinity, photos: 8, body_bytes: Infinity, import_bytes: Infinity };

/** What the service accepts at most; until it has answered that, it refuses the rest itself. */
export const limits = () => state.version?.limits ?? EVERYTHING;
