// <qm-bids>: a page of bids as the server writes it, kept alive.
//
// The page arrives as text in the property `html`. Only what is other is changed, and rows keep their order while
// somebody points at them or has the focus in them. Forms are sent to the server as they are; it answers where to go on,
// or with the page again. All of it also works without this script, as plain forms.

import { Draft } from "qm-draft";
import { element, fieldsOf, go, here, parsed, read, send } from "qm-forms";
import { morph } from "qm-morph";
import { Queue, keepOrder } from "qm-queue";

// What was done on the page before, said on the one that follows. The router may make that page twice in a row, so it is
// remembered a little longer than for one.
let said = null;
const SAID_MILLIS = 3000;

const EVENTS = ["submit", "change", "input", "click", "keydown", "pointerdown", "pointermove", "pointerup", "pointercancel", "pointerover", "pointerout", "focusout"];

class Bids extends HTMLElement {
  // Rises with each cycle: the page is read again, or the preview of an open form, which stays as it is.
  static observedAttributes = ["data-version"];

  #newest = null;
  #isShown = true;
  #reads = 0;
  #sending = false;
  #draft = null;
  #queue = new Queue(this, (problem) => this.#moved(problem));

  connectedCallback() {
    for (const name of EVENTS) this.addEventListener(name, this);
    if (this.childElementCount > 0) this.#settle();
    // A property that was set before this script ran hides the class's own.
    if (Object.hasOwn(this, "html")) {
      const { html } = this;
      delete this.html;
      this.html = html;
    }
  }

  attributeChangedCallback(_name, before) {
    if (before === null || !this.isConnected) return;
    if (this.#draft) this.#draft.look();
    else this.#refresh();
  }

  get html() {
    return this.#newest;
  }

  set html(text) {
    // What the server rendered stands there already, and its text does not come a second time.
    if (text === "") return;
    this.#newest = text;
    this.#show();
  }

  handleEvent(event) {
    const queue = this.#queue;
    switch (event.type) {
      case "submit": return this.#submit(event);
      case "change": return this.#change(event);
      case "input": return this.#draft?.input(event);
      case "click": return this.#click(event);
      case "keydown": return queue.key(event);
      case "pointerdown": return queue.grab(event);
      case "pointermove": return queue.pull(event);
      case "pointerup": return queue.drop(true);
      case "pointercancel": return queue.drop(false);
      case "pointerover": return queue.point(event);
      // Once nobody points at the rows any more, they take their new order.
      default: return setTimeout(() => this.#isShown || this.#show());
    }
  }

  // Shows the newest page; a question that stands there is answered first, unless this is the answer. Rows that somebody
  // is at keep their order, unless it is what was asked for.
  #show(answered = false, reordered = false) {
    if (this.#newest === null || (!answered && this.querySelector(".ask"))) return;
    const fresh = parsed(this.#newest);
    const held = !reordered && this.#queue.isHeld();
    if (held) keepOrder(fresh, this.querySelector("table[data-movable]"));
    morph(this, fresh);
    this.#isShown = !held;
    this.#settle();
  }

  // What stands there is new: finds its form, counts what is chosen, says what was done.
  #settle() {
    if (said?.to === here()) {
      this.#say(element("p", "outcome done", said.text));
    }
    this.#count();
    const form = this.querySelector("form[data-draft]");
    if (form !== (this.#draft?.form ?? null)) {
      this.#draft = form && new Draft(form, this, (problem) => this.#trouble(problem));
      if (form) this.#restore();
    }
  }

  // Reads the page again. Of several that are on their way, the last one asked for counts.
  async #refresh(answered = false, reordered = false) {
    const number = (this.#reads += 1);
    try {
      const { html } = await read(here());
      if (number !== this.#reads) return;
      this.#newest = html;
      this.#show(answered, reordered);
    } catch (problem) {
      this.#trouble(problem);
    }
  }

  #say(...content) {
    this.querySelector("[data-notice]")?.replaceChildren(...content);
  }

  // The server gave no answer, or nobody is signed in any more: said until it answers again.
  #trouble(problem) {
    if (!problem) {
      if (this.querySelector("[data-trouble]")) this.#say();
      return;
    }
    const { status, title, detail } = problem;
    const kept = this.#draft ? " What you typed is still here, and survives a reload of this page." : "";
    const way = element("a", "button", "Sign in in a new tab");
    Object.assign(way, { href: "/sign-in", target: "_blank", rel: "external" });
    const content = status === 401
      ? [element("p", "strong", "Your session has ended"),
        element("p", "", `Sign in in a new tab, come back to this one, and do it again.${kept}`), way]
      : [element("p", "strong", title ?? "The server cannot be reached"),
        element("p", "", `${detail ?? "There was no answer. Try again in a moment."}${kept}`)];
    const notice = element("div", "outcome refused", ...content);
    notice.dataset.trouble = "";
    notice.setAttribute("role", "alert");
    this.#say(notice);
  }

  async #submit(event) {
    const form = event.target;
    if (!form.matches("[data-sent]")) return;
    event.preventDefault();
    if (this.#sending) return;
    this.#sending = true;
    said = null;
    form.setAttribute("aria-busy", "true");
    const before = this.#draft?.values();
    try {
      const answer = await send(form.getAttribute("action"), fieldsOf(form, event.submitter));
      this.#say();
      if (answer.to) await this.#done(form, answer, event.submitter?.name === "first");
      else this.#again(answer.html, before, event.submitter);
    } catch (problem) {
      this.#trouble(problem);
    }
    this.#sending = false;
    form.removeAttribute("aria-busy");
  }

  async #done(form, { to, said: text }, reordered) {
    if (this.#draft) this.#draft.forget();
    else for (const box of form.querySelectorAll("[type=checkbox]")) box.checked = false;
    const address = to.split("#")[0];
    const done = { to: address, text };
    said = done;
    setTimeout(() => said === done && (said = null), SAID_MILLIS);
    if (address === here()) await this.#refresh(true, reordered);
    else go(address);
  }

  // The page again: with what was sent, and what is wrong with it or must be said first.
  #again(html, before, button) {
    const since = this.#draft?.values();
    this.#newest = html;
    this.#show(true);
    if (since) this.#draft?.rewritten(before, since, button);
    else this.querySelector(".ask .button")?.focus();
  }

  async #restore() {
    const draft = this.#draft;
    const kept = draft.kept();
    if (!kept) {
      draft.look();
      return;
    }
    try {
      const before = draft.values();
      const { html } = await send(draft.form.getAttribute("action"), `${kept}&do=restore`);
      this.#again(html, before, null);
      this.#say(Draft.restoredNotice());
    } catch (problem) {
      this.#trouble(problem);
    }
  }

  #click(event) {
    const link = event.target.closest?.("[data-refresh], [data-start-over]");
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();
    if (link.matches("[data-refresh]")) {
      this.#refresh(true);
    } else {
      this.#draft.forget();
      location.reload();
    }
  }

  #change(event) {
    const chooser = event.target.closest("form[data-chooser]");
    if (chooser) {
      go(`${chooser.getAttribute("action")}?${fieldsOf(chooser)}`);
      return;
    }
    if (event.target.matches("[data-all]")) {
      for (const box of this.querySelectorAll("[name=bid]")) box.checked = event.target.checked;
    }
    this.#count();
  }

  // How many bids are chosen; without any, the buttons for the chosen ones do nothing.
  #count() {
    const boxes = [...this.querySelectorAll("[name=bid]")];
    const chosen = boxes.filter(({ checked }) => checked).length;
    this.querySelector("[data-chosen]")?.replaceChildren(String(chosen));
    for (const button of this.querySelectorAll("button[value=chosen]")) button.disabled = chosen === 0;
    const all = this.querySelector("[data-all]");
    if (!all) return;
    all.checked = chosen > 0 && chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
  }

  // All moves are sent.
  #moved(problem) {
    // What was said of the page before is old news now: reading the page again would say it once more.
    said = null;
    if (problem) this.#trouble(problem);
    else this.#say(element("p", "outcome done", "The new order takes effect in the next cycle."));
    this.#refresh();
  }
}

customElements.define("qm-bids", Bids);
