// Lists that come whole, `<table data-sortable="teams">`: put in another order by their headings, and searched.
//
// Order and search stand in the address (`?teams.sort=-income&teams.find=vision`; `sort` and `find` for a table without a
// name), so a link leads to the same view. Cells are compared as what they are: by `data-value` (a number) where there is
// one, numbers of `.num` columns exactly, times by their instant, all else as text. A cell that says nothing comes last
// either way. Rows that change by themselves take their new places once nobody points at them or has the focus in them.

// A list with more rows than this can be searched.
const SHORT = 12;

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// The first number of a text in millionths: exact, as amounts are.
function exact(text) {
  const [, sign, whole, decimals = ""] = /([-\u2212]?)(\d[\d,]*)(?:\.(\d+))?/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const millionths = BigInt(whole.replaceAll(",", "") + decimals.slice(0, 6).padEnd(6, "0"));
  return sign ? -millionths : millionths;
}

function valueOf(cell) {
  if (cell.dataset.value !== undefined) return exact(cell.dataset.value);
  const instant = Date.parse(cell.querySelector("time")?.dateTime);
  if (!Number.isNaN(instant)) return instant;
  if (cell.classList.contains("num")) return exact(cell.textContent);
  const text = cell.textContent.trim();
  return text === "" || text === "—" ? undefined : text;
}

function compare(one, other) {
  if (typeof one === "string" || typeof other === "string") return collator.compare(one, other);
  return one < other ? -1 : Number(one > other);
}

// What a heading says, without its unit.
function nameOf(head) {
  const unit = head.querySelector("small")?.textContent ?? "";
  return head.textContent.slice(0, head.textContent.length - unit.length).trim();
}

const keyOf = (head) => nameOf(head).toLowerCase().replace(/[^a-z0-9]+/g, "-");

// Says what was done to those who do not see it.
let status = null;
function say(text) {
  if (!status?.isConnected) {
    status = Object.assign(document.createElement("p"), { className: "hidden" });
    status.setAttribute("role", "status");
    document.body.append(status);
  }
  status.textContent = text;
}

// The address says it from now on; no step back leads to what it said before.
function remember(name, value) {
  const url = new URL(location.href);
  if ((url.searchParams.get(name) ?? "") === value) return;
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

class List {
  #table;
  #sortName;
  #findName;
  // Key of the column, and whether its greatest comes first; none is the page's own order.
  #order = null;
  #words = [];
  #box = null;
  #found = null;
  #places = new WeakMap();
  #seen = 0;
  // Only a mouse can point without touching: a finger leaves nothing behind that would hold rows for good.
  #mouse = false;

  constructor(table) {
    this.#table = table;
    const prefix = table.dataset.sortable ? `${table.dataset.sortable}.` : "";
    this.#sortName = `${prefix}sort`;
    this.#findName = `${prefix}find`;
    const asked = new URLSearchParams(location.search);
    const sort = asked.get(this.#sortName);
    if (sort) this.#order = { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
    this.#words = wordsOf(asked.get(this.#findName) ?? "");
    table.tHead.addEventListener("click", (event) => this.#click(event));
    table.addEventListener("pointerover", ({ pointerType }) => { this.#mouse = pointerType === "mouse"; });
    for (const name of ["pointerleave", "focusout"]) table.addEventListener(name, () => setTimeout(() => this.#arrange()));
    // Rows change by themselves, and are put in order here: the order that follows from itself changes nothing.
    new MutationObserver(() => this.#arrange()).observe(table, { subtree: true, childList: true, characterData: true });
    this.keepUp();
    this.#arrange(true);
  }

  get isConnected() {
    return this.#table.isConnected;
  }

  remove() {
    this.#box?.remove();
  }

  // What the page wrote anew gets its buttons; an address that a link of the page led to says the order again.
  keepUp() {
    for (const head of this.#table.tHead.rows[0].cells) this.#makeButton(head);
    this.#mark();
    this.#address();
    if (!this.#box && (this.#words.length > 0 || this.#rows.length > SHORT)) this.#makeBox();
  }

  get #rows() {
    return [...(this.#table.tBodies[0]?.rows ?? [])];
  }

  get #heads() {
    return [...this.#table.tHead.querySelectorAll("th:has(> .sort)")];
  }

  #makeButton(head) {
    if (head.querySelector(".sort, .hidden, input") || head.hasAttribute("data-unsorted") || !keyOf(head)) return;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    // Pages that are written again leave it as it is.
    head.dataset.own = "";
    // Headings of one name differ in their units: the second is "pool-price-2".
    const alike = this.#heads.filter((other) => other !== head && keyOf(other) === keyOf(head)).length;
    head.dataset.key = alike > 0 ? `${keyOf(head)}-${alike + 1}` : keyOf(head);
  }

  #makeBox() {
    const input = Object.assign(document.createElement("input"), { type: "search", value: this.#words.join(" "), autocomplete: "off" });
    const label = document.createElement("label");
    const name = this.#table.caption?.textContent ?? document.getElementById(this.#table.getAttribute("aria-labelledby"))?.textContent;
    input.setAttribute("aria-label", name ? `Find in ${name}` : "Find in this list");
    label.append("Find", input);
    this.#found = document.createElement("span");
    this.#found.className = "quiet";
    this.#box = document.createElement("div");
    this.#box.className = "find";
    this.#box.append(label, this.#found);
    input.addEventListener("input", () => {
      this.#words = wordsOf(input.value);
      this.#address();
      this.#search();
      if (this.#found.textContent) say(this.#found.textContent);
    });
    // Return would send the form around the list.
    input.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    (this.#table.closest(".scroll") ?? this.#table).before(this.#box);
  }

  #address() {
    const order = this.#order;
    remember(this.#sortName, order ? `${order.descending ? "-" : ""}${order.key}` : "");
    remember(this.#findName, this.#words.join(" "));
  }

  #mark() {
    for (const head of this.#heads) {
      const sorted = this.#order?.key === head.dataset.key;
      const direction = this.#order?.descending ? "descending" : "ascending";
      if (!sorted) head.removeAttribute("aria-sort");
      else if (head.getAttribute("aria-sort") !== direction) head.setAttribute("aria-sort", direction);
    }
  }

  // The useful direction first, then the other, then the page's own order.
  #click(event) {
    const head = event.target.closest("th:has(> .sort)");
    if (!head) return;
    const { key } = head.dataset;
    const first = head.classList.contains("num");
    if (this.#order?.key !== key) this.#order = { key, descending: first };
    else if (this.#order.descending === first) this.#order = { key, descending: !first };
    else this.#order = null;
    this.#mark();
    this.#address();
    this.#arrange(true);
    const way = this.#order?.descending ? "greatest first" : "smallest first";
    say(this.#order ? `Sorted by ${nameOf(head)}, ${way}` : "In the page's own order");
  }

  #isHeld() {
    const body = this.#table.tBodies[0];
    return (this.#mouse && body.matches(":hover")) || body.contains(document.activeElement);
  }

  #search() {
    const rows = this.#rows;
    let count = 0;
    for (const row of rows) {
      const text = this.#words.length > 0 ? row.textContent.toLowerCase() : "";
      row.hidden = !this.#words.every((word) => text.includes(word));
      count += Number(!row.hidden);
    }
    if (!this.#found) return;
    const text = this.#words.length > 0 ? `${count} of ${rows.length}` : "";
    if (this.#found.textContent !== text) this.#found.textContent = text;
  }

  #arrange(asked = false) {
    const rows = this.#rows;
    if (rows.length === 0) return;
    this.#search();
    for (const row of rows) if (!this.#places.has(row)) this.#places.set(row, (this.#seen += 1));
    if (!asked && (!this.#order || this.#isHeld())) return;
    const sorted = this.#order ? this.#sorted(rows) : rows.toSorted((one, other) => this.#places.get(one) - this.#places.get(other));
    if (sorted.every((row, index) => row === rows[index])) return;
    // What the page itself put behind the rows stays there.
    const end = rows.at(-1).nextSibling;
    for (const row of sorted) row.parentNode.insertBefore(row, end);
  }

  #sorted(rows) {
    const head = this.#heads.find(({ dataset }) => dataset.key === this.#order.key);
    if (!head) return rows;
    const sign = this.#order.descending ? -1 : 1;
    const values = new Map(rows.map((row) => [row, row.cells[head.cellIndex] && valueOf(row.cells[head.cellIndex])]));
    return rows.toSorted((one, other) => {
      const [value, next] = [values.get(one), values.get(other)];
      if (value === undefined || next === undefined) return Number(value === undefined) - Number(next === undefined);
      return sign * compare(value, next);
    });
  }
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

const lists = new Map();

// Takes over the lists that are new on the page, and lets go of those that left it.
export function keepUp() {
  for (const [table, list] of lists) {
    if (list.isConnected) continue;
    list.remove();
    lists.delete(table);
  }
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    if (lists.has(table)) lists.get(table).keepUp();
    else if (table.tHead?.rows.length > 0) lists.set(table, new List(table));
  }
}
