// What every page does beside its data: theme, times in the viewer's zone, keys. It works before and without the
// WebAssembly part, and only touches text and attributes that the pages never read back.

const root = document.documentElement;

// --- Theme -----------------------------------------------------------------------------------------------------

function showTheme() {
  const theme = root.dataset.theme ?? "auto";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  }
}

function chooseTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Storage may be blocked; the choice then lasts as long as the page.
  }
  showTheme();
  document.dispatchEvent(new Event("qm-theme"));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  document.dispatchEvent(new Event("qm-theme")),
);

// --- Sliders ---------------------------------------------------------------------------------------------------

// Sliders of one name move together, say their number, and show what the page has for it.
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
  for (const slider of document.querySelectorAll(`input[type="range"][name="${CSS.escape(target.name)}"]`)) {
    slider.value = target.value;
    const said = slider.closest(".field")?.querySelector("[data-slider-value]");
    if (said) said.textContent = target.value;
  }
  for (const part of document.querySelectorAll("[data-slider-at]")) {
    part.toggleAttribute("hidden", part.dataset.sliderAt !== target.value);
  }
});

// --- Times -----------------------------------------------------------------------------------------------------

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const parts = new Intl.DateTimeFormat("en-GB", {
  timeZone: zone, hourCycle: "h23",
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

function localText(instant, show) {
  const of = Object.fromEntries(parts.formatToParts(instant).map(({ type, value }) => [type, value]));
  const time = `${of.hour}:${of.minute}:${of.second}`;
  return show === "time" ? time : `${of.year}-${of.month}-${of.day} ${time}`;
}

// Writes into the existing text node: the page's views hold on to it.
function setText(element, text) {
  const node = element.firstChild;
  if (node?.nodeType === Node.TEXT_NODE && node.data !== text) node.data = text;
}

function localise() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const instant = new Date(element.dateTime);
    if (Number.isNaN(instant.getTime())) continue;
    setText(element, localText(instant, element.dataset.show));
    const title = `${zone}; in UTC ${element.dateTime}`;
    if (element.title !== title) element.title = title;
  }
  for (const element of document.querySelectorAll("[data-zone]")) setText(element, zone);
}

// --- Keys ------------------------------------------------------------------------------------------------------

const rowLinks = (table) => [...table.querySelectorAll("tr:not([hidden]) a[data-row]")];

// One stop per table for the tab key; the arrow keys move within it.
function rove(table, chosen) {
  const links = rowLinks(table);
  const current = chosen ?? links.find((link) => link.getAttribute("tabindex") === "0")
    ?? links.find((link) => link.hasAttribute("aria-current")) ?? links[0];
  for (const link of links) {
    const index = link === current ? "0" : "-1";
    if (link.getAttribute("tabindex") !== index) link.setAttribute("tabindex", index);
  }
}

function moveRow(event) {
  const table = event.target.closest?.("table[data-rows]");
  if (!table || !event.target.matches("a[data-row]")) return;
  const links = rowLinks(table);
  const at = links.indexOf(event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  const link = links[to];
  if (to === undefined || !link) return;
  event.preventDefault();
  rove(table, link);
  link.focus();
}

const pages = {
  m: "/", q: "/bids", b: "/book", a: "/allocations", c: "/cycles", p: "/planner", u: "/budget", f: "/finance", s: "/supply", l: "/lab",
  o: "/organisation",
};
let leader = 0;

function pageKey(event) {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable], dialog[open]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") {
    event.preventDefault();
    document.getElementById("keys")?.showModal();
  } else if (event.key === "g") {
    leader = event.timeStamp;
  } else if (event.key === "n") {
    document.querySelector("[data-new-bid]")?.click();
  } else if (event.key in pages && event.timeStamp - leader < 1500) {
    leader = 0;
    document.querySelector(`.rail > a[href="${pages[event.key]}"]`)?.click();
  }
}

document.addEventListener("keydown", (event) => {
  moveRow(event);
  if (!event.defaultPrevented) pageKey(event);
});
document.addEventListener("focusin", (event) => {
  const table = event.target.closest?.("table[data-rows]");
  if (table && event.target.matches("a[data-row]")) rove(table, event.target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-theme-choice], [data-opens]");
  if (!button) return;
  if (button.dataset.themeChoice) chooseTheme(button.dataset.themeChoice);
  else document.getElementById(button.dataset.opens)?.showModal();
});

// --- Keeping up with what the pages change ---------------------------------------------------------------------

function keepUp() {
  localise();
  document.querySelectorAll("table[data-rows]").forEach((table) => rove(table));
  for (const element of ["qm-chart", "qm-bids"]) {
    if (document.querySelector(element)) import(element);
  }
  // Lists are changed once the page is taken over: hydration must find what the server wrote.
  const isReady = "plain" in root.dataset || "hydrated" in root.dataset;
  if (isReady && document.querySelector("table[data-sortable]")) import("qm-tables").then((tables) => tables.keepUp());
}

// --- Plain pages that follow the market ------------------------------------------------------------------------

// A part of the page as it is now; nothing where it can't be read.
async function readAgain(selector) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
  if (!answer?.ok || answer.redirected) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(selector);
}

// The part with `data-each-cycle` (the cycle it shows) is read again when a newer one clears, unless somebody is in it.
function followCycles(part) {
  const events = new EventSource("/api/v1/events");
  events.addEventListener("cycle", async (event) => {
    if (Number(event.lastEventId) <= Number(part.dataset.eachCycle) || part.contains(document.activeElement)) return;
    const fresh = await readAgain("[data-each-cycle]");
    if (!fresh || part.contains(document.activeElement)) return;
    const open = [...part.querySelectorAll("details")].map((details) => details.open);
    fresh.querySelectorAll("details").forEach((details, index) => { details.open = open[index] ?? false; });
    part.replaceChildren(...fresh.childNodes);
    part.dataset.eachCycle = fresh.dataset.eachCycle;
  });
}

// The part with `data-goes-on` shows work that is under way, and is read again until it says that nothing is.
async function followWork(part) {
  while (part.hasAttribute("data-goes-on")) {
    await new Promise((done) => setTimeout(done, 1500));
    const fresh = document.hidden ? null : await readAgain(`#${part.id}`);
    if (!fresh) continue;
    const { morph } = await import("qm-morph");
    morph(part, fresh);
    part.toggleAttribute("data-goes-on", fresh.hasAttribute("data-goes-on"));
  }
}

// In a narrow window the navigation is a bar that scrolls: it begins with the place where one is in view.
document.querySelector(".rail > a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

showTheme();
// The browser part turns the times of its own forms, once it has taken the page over.
if ("plain" in root.dataset) {
  const timed = [...document.querySelectorAll("form")].filter((form) => form.querySelector("[data-zone-field]"));
  if (timed.length > 0) import("qm-times").then(({ toLocalTime }) => timed.forEach(toLocalTime));
}
keepUp();
const followed = document.querySelector("[data-each-cycle]");
if (followed) followCycles(followed);
document.querySelectorAll("[data-goes-on]").forEach(followWork);
// An observer runs before the next paint: a time never shows in two zones.
new MutationObserver(keepUp).observe(document.body, {
  subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["datetime"],
});
