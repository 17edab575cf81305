// A bid that is being typed: kept in the tab until it was sent, and previewed while the typing rests.

import { element, fieldsOf, parsed, send } from "qm-forms";
import { morph } from "qm-morph";
import { toLocalTime } from "qm-times";

// Controls by name and place, with their values.
function valuesOf(form) {
  const counts = new Map();
  const values = new Map();
  for (const control of form.elements) {
    if (!control.name || control.type === "submit" || control.type === "hidden") continue;
    const place = counts.get(control.name) ?? 0;
    counts.set(control.name, place + 1);
    const property = control.type === "radio" ? "checked" : "value";
    values.set(`${control.name}.${place}`, { control, property, value: control[property] });
  }
  return values;
}

// What is typed is kept in this tab, over reloads, until it was sent. Storage may be blocked; then nothing is kept.
const keyOf = (form) => `draft ${form.getAttribute("action")}`;
function inStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

export class Draft {
  #form;
  #host;
  #trouble;
  #typed = 0;
  #timer = 0;
  #asking = false;
  // It was sent in vain: from now on an empty field is at fault too.
  #tried;

  // `trouble` is called with the problem when the server gives no answer.
  constructor(form, host, trouble) {
    this.#form = form;
    this.#host = host;
    this.#trouble = trouble;
    this.#tried = form.querySelector("[aria-invalid]") !== null;
    toLocalTime(form);
    this.#quick();
  }

  get form() {
    return this.#form;
  }

  // What was typed in this tab before and not sent, as the body of a form.
  kept() {
    const kept = inStorage((storage) => storage.getItem(keyOf(this.#form)));
    return kept === String(fieldsOf(this.#form)) ? null : kept;
  }

  forget() {
    clearTimeout(this.#timer);
    inStorage((storage) => storage.removeItem(keyOf(this.#form)));
  }

  input({ target }) {
    const form = this.#form;
    if (target.name === "limit" && !form.querySelector("[name=limit_kind]:checked")) {
      form.querySelector("[name=limit_kind][value=at]").checked = true;
    }
    this.#quick();
    this.#touch();
  }

  // What the fields hold now, to find again what was typed while the server answered.
  values() {
    return valuesOf(this.#form);
  }

  // The server wrote the form again, as it was sent: what was typed since goes on top.
  rewritten(sent, since, button) {
    const form = this.#form;
    form.reset();
    const present = valuesOf(form);
    for (const [key, { property, value }] of since) {
      const now = present.get(key);
      if (sent.get(key)?.value !== value && now) now.control[property] = value;
    }
    this.#quick();
    if (button?.value === "add") [...form.querySelectorAll("[name=chip_type]")].at(-1)?.focus();
    const fault = form.querySelector("[aria-invalid=true]");
    this.#tried ||= fault !== null;
    fault?.focus();
    this.#touch();
  }

  // Quick limits are those of the chip type that is chosen first.
  #quick() {
    const first = this.#form.querySelector("[name=chip_type]")?.value;
    for (const choices of this.#form.querySelectorAll("[data-quick]")) choices.hidden = choices.dataset.quick !== first;
  }

  #touch() {
    inStorage((storage) => storage.setItem(keyOf(this.#form), fieldsOf(this.#form)));
    this.#typed += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), 250);
  }

  // Asks for a preview, one at a time; what was typed meanwhile is asked for afterwards.
  async look() {
    const panel = this.#host.querySelector("[data-preview]");
    if (!panel || this.#asking) return;
    const typed = this.#typed;
    this.#asking = true;
    const fields = fieldsOf(this.#form);
    fields.append("do", "look");
    if (this.#tried) fields.append("tried", "yes");
    panel.setAttribute("aria-busy", "true");
    try {
      const answer = await send(this.#form.getAttribute("action"), fields);
      if (typed === this.#typed) this.#show(panel, answer);
      this.#trouble(null);
    } catch (problem) {
      this.#trouble(problem);
    }
    panel.removeAttribute("aria-busy");
    this.#asking = false;
    if (typed !== this.#typed) this.look();
  }

  #show(panel, { preview, errors }) {
    morph(panel, parsed(preview));
    for (const fault of this.#form.querySelectorAll(".error")) {
      const key = fault.id.replace("fault-", "");
      const error = errors.find(({ field }) => field === key);
      const text = error ? `${fault.dataset.label} ${error.detail}.` : "";
      if (fault.textContent !== text) fault.textContent = text;
      const control = document.getElementById(`field-${key}`);
      if (error) control?.setAttribute("aria-invalid", "true");
      else control?.removeAttribute("aria-invalid");
    }
  }

  // Says that the form is not as the server wrote it, with the way back.
  static restoredNotice() {
    const over = element("button", "link", "Start over");
    over.type = "button";
    over.dataset.startOver = "";
    return element("p", "outcome", "What you typed here before stands in the form again. ", over);
  }
}
