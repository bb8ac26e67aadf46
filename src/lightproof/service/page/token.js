// The form that asks for the token of a service that wants one.

import { hasToken, onMissingToken, setToken } from "./api.js";
import { shown } from "./ask.js";
import { byId, show } from "./dom.js";

async function askForToken(wrong) {
  const [dialog, form, field] = ["token-dialog", "token-form", "token"].map(byId);
  byId("token-wrong").textContent = wrong ? "This token was not accepted." : "";
  field.value = "";
  form.onsubmit = (event) => {
    event.preventDefault();
    if (field.value.trim()) dialog.close("given");
    else field.focus();
  };
  byId("token-cancel").onclick = () => dialog.close();
  const given = (await shown(dialog, field)) === "given" ? field.value.trim() : null;
  field.value = "";
  show(byId("token-forget"), given !== null);
  return given;
}

export function startToken() {
  onMissingToken(askForToken);
  show(byId("token-forget"), hasToken());
  byId("token-forget").addEventListener("click", () => {
    setToken(null);
    location.reload(); // nothing that was read with it stays on the page
  });
}
