// Questions before something is done for good.

import { byId } from "./dom.js";

/** Show a dialog; return what it was closed with, "" for Escape. */
export function shown(dialog, focus) {
  dialog.returnValue = ""; // or Escape would repeat the last answer
  return new Promise((answered) => {
    dialog.addEventListener("close", () => answered(dialog.returnValue), { once: true });
    dialog.showModal();
    focus.focus();
  });
}

/** Ask; true if it was confirmed. Escape and Cancel say no, and Cancel has the focus: a slip does nothing. */
export async function ask({ title, text, yes, danger = false }) {
  const [dialog, confirm, cancel] = ["ask", "ask-yes", "ask-no"].map(byId);
  byId("ask-title").textContent = title;
  byId("ask-text").textContent = text;
  confirm.textContent = yes;
  confirm.className = danger ? "main danger" : "main";
  confirm.onclick = () => dialog.close("yes");
  cancel.onclick = () => dialog.close();
  return (await shown(dialog, cancel)) === "yes";
}
