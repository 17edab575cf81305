// The rows of a queue: moved by a handle with the pointer or the keys, and held in their order while somebody looks.

import { send } from "qm-forms";

// Rows of a fresh page in the order in which they are shown: new ones behind, and one that is gone where it was.
export function keepOrder(fresh, table) {
  const body = fresh.querySelector("table[data-movable] tbody");
  if (!body) return;
  const rows = new Map([...body.rows].map((row) => [row.id, row]));
  for (const shown of table.tBodies[0].rows) {
    let row = rows.get(shown.id);
    if (!row) {
      row = shown.cloneNode(true);
      row.classList.add("gone");
      row.title = "No longer in the queue";
      for (const control of row.querySelectorAll("button, input")) control.disabled = true;
    }
    rows.delete(shown.id);
    body.append(row);
  }
  body.append(...rows.values());
}

const handleOf = (event) => event.target.closest?.("table[data-movable] [data-move]");
const rowsOf = (table) => [...table.tBodies[0].rows];

export class Queue {
  #host;
  #ended;
  #drag = null;
  #moves = [];
  // Only a mouse can point without touching: a finger leaves nothing behind that would hold rows for good.
  #mouse = false;

  // `ended` is called when all moves are sent, with the problem if there was one.
  constructor(host, ended) {
    this.#host = host;
    this.#ended = ended;
  }

  get #table() {
    return this.#host.querySelector("table[data-movable]");
  }

  // Somebody points at the rows, has the focus in them, or moves one.
  isHeld() {
    const table = this.#table;
    if (!table) return false;
    const pointed = this.#mouse && table.matches(":hover");
    return pointed || table.contains(document.activeElement) || this.#drag !== null || this.#moves.length > 0;
  }

  point({ pointerType }) {
    this.#mouse = pointerType === "mouse";
  }

  key(event) {
    if (event.key === "Escape") this.drop(false);
    const handle = handleOf(event);
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = rowsOf(this.#table);
    const at = rows.indexOf(handle.closest("tr"));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#put(at, to);
  }

  grab(event) {
    const handle = handleOf(event);
    if (!handle || event.button !== 0) return;
    const from = rowsOf(this.#table).indexOf(handle.closest("tr"));
    this.#drag = { from, to: from };
    handle.setPointerCapture(event.pointerId);
  }

  pull(event) {
    if (!this.#drag) return;
    const rows = rowsOf(this.#table);
    const at = rows.findIndex((row) => event.clientY < row.getBoundingClientRect().bottom);
    this.#drag.to = at === -1 ? rows.length - 1 : at;
    this.#mark(this.#drag);
  }

  drop(put) {
    if (!this.#drag) return;
    const { from, to } = this.#drag;
    this.#mark({ from: -1, to: -1 });
    this.#drag = null;
    if (put) this.#put(from, to);
  }

  // Shows where the row would go.
  #mark({ from, to }) {
    for (const [index, row] of rowsOf(this.#table).entries()) {
      row.toggleAttribute("data-dragged", index === from && to !== from);
      if (index === to && to !== from) row.dataset.drop = to < from ? "before" : "after";
      else delete row.dataset.drop;
    }
  }

  // Puts a row elsewhere at once, and says so to the server: the bid, and the one it goes before.
  #put(from, to) {
    const rows = rowsOf(this.#table);
    if (from === to || to < 0 || to >= rows.length) return;
    const row = rows[from];
    const place = (one) => one.querySelector("[data-place]");
    const places = rows.map((one) => place(one).textContent);
    row.parentNode.insertBefore(row, to < from ? rows[to] : rows[to].nextSibling);
    for (const [index, one] of rowsOf(this.#table).entries()) place(one).textContent = places[index];
    const handle = row.querySelector("[data-move]");
    handle.focus();
    this.#host.querySelector("[data-moved]").textContent =
      `${handle.dataset.name} is at place ${places[to]} of ${rows.length}. It takes effect in the next cycle.`;
    const body = new URLSearchParams({ move: handle.value });
    const next = row.nextElementSibling?.querySelector("[data-move]");
    if (next) body.append("before", next.value);
    // Steps of one bid in a row are one move; the first in line is on its way already.
    if (this.#moves.length > 1 && this.#moves.at(-1).get("move") === handle.value) this.#moves.pop();
    this.#moves.push(body);
    if (this.#moves.length === 1) this.#send();
  }

  // One after the other: each names the bid it goes before, so their order counts.
  async #send() {
    const address = this.#table.closest("form").getAttribute("action");
    let problem = null;
    while (this.#moves.length > 0 && !problem) {
      try {
        const answer = await send(address, this.#moves[0]);
        if (!answer.to) problem = { title: "The bid was not moved", detail: "The queue is shown as it is." };
      } catch (thrown) {
        problem = thrown;
      }
      this.#moves.shift();
    }
    this.#moves = [];
    this.#ended(problem);
  }
}
