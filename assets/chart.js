// <qm-chart data="…" data-label="…">: an interactive chart of the data in its attribute.
//
// The data is what app/src/chart.rs writes: integers with a divisor. The element draws lines or a stack over time, or
// a price over the chips asked for, shows the values under the pointer or the keyboard's cursor, and zooms. Colours come from the design tokens. A
// table with the same numbers stands beside every chart, so the canvas itself is hidden from screen readers.

import uPlot from "uplot";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const withAlpha = (hex, alpha) => `${hex}${Math.round(alpha * 255).toString(16).padStart(2, "0")}`;

const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
// Prices as everywhere else: exact, with at least two decimals.
const price = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const when = new Intl.DateTimeFormat("en-GB", {
  hourCycle: "h23", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

// Own limits from which on their lines stand back.
const MANY_LIMITS = 8;

// Clock and date labels of the time axis, by the distance between two of them.
const HOUR = 3600;
const DAY = 24 * HOUR;
const two = (value) => String(value).padStart(2, "0");
const month = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
function timeLabels(_plot, splits, _axis, _space, step) {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1000);
    if (step >= DAY) return month.format(at);
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    if (step < 60) return `${clock}:${two(at.getSeconds())}`;
    return clock === "00:00" ? month.format(at) : clock;
  });
}

// Numbers of an axis, all with as many decimals as the finest needs.
function numberLabels(_plot, splits, _axis, _space, step) {
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
  return splits.map((value) =>
    value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
}

// Room for the labels of the vertical axis, by the longest.
const labelRoom = (_plot, labels) => Math.max(44, 14 + 6.6 * Math.max(0, ...(labels ?? []).map(({ length }) => length)));

// Values as drawn: divided, and for a stack each layer on top of the ones before it. The sum of all layers is drawn
// first and the lowest layer last, so that each covers the upper ones.
function drawn(chart) {
  const scaled = chart.series.map(({ y }) => y.map((value) => (value === null ? null : value / chart.divisor)));
  if (chart.kind !== "stack") return { order: chart.series.map((_, index) => index), values: scaled };
  const layers = chart.series.flatMap(({ over }, index) => (over ? [] : [index]));
  const sums = new Map();
  let below = chart.x.map(() => 0);
  for (const index of layers) {
    below = below.map((sum, at) => sum + (scaled[index][at] ?? 0));
    sums.set(index, below);
  }
  const over = chart.series.flatMap((series, index) => (series.over ? [index] : []));
  const order = [...layers.reverse(), ...over];
  return { order, values: order.map((index) => sums.get(index) ?? scaled[index]) };
}

class Chart extends HTMLElement {
  static observedAttributes = ["data", "data-label"];

  #chart = null;
  #plot = null;
  #holder = null;
  #tip = null;
  #all = null;
  #size = new ResizeObserver(() => this.#resize());
  #themed = () => this.#draw();

  connectedCallback() {
    if (!this.#holder) this.#build();
    this.#size.observe(this);
    document.addEventListener("qm-theme", this.#themed);
    this.#read();
  }

  disconnectedCallback() {
    this.#size.disconnect();
    document.removeEventListener("qm-theme", this.#themed);
    this.#plot?.destroy();
    this.#plot = null;
  }

  attributeChangedCallback(name) {
    if (!this.#holder) return;
    if (name === "data") this.#read();
    else this.#label();
  }

  #build() {
    this.#holder = document.createElement("div");
    this.#holder.className = "plot";
    this.#holder.tabIndex = 0;
    this.#holder.setAttribute("role", "img");
    this.#holder.addEventListener("keydown", (event) => this.#key(event));
    this.#holder.addEventListener("blur", () => this.#hideTip());
    this.#tip = document.createElement("div");
    this.#tip.className = "tip";
    this.#tip.hidden = true;
    this.#tip.setAttribute("aria-live", "polite");
    this.#all = document.createElement("button");
    this.#all.type = "button";
    this.#all.className = "button all";
    this.#all.textContent = "Show all";
    this.#all.hidden = true;
    this.#all.addEventListener("click", () => this.#zoom(0, this.#chart.x.length - 1));
    this.append(this.#holder, this.#tip, this.#all);
    this.#label();
  }

  #label() {
    this.#holder.setAttribute("aria-label", this.dataset.label ?? "Chart");
  }

  // New data of the same form keeps zoom and cursor; anything else is drawn afresh.
  #read() {
    const before = this.#chart;
    try {
      this.#chart = JSON.parse(this.getAttribute("data"));
    } catch {
      this.#chart = null;
    }
    if (!this.#chart) return;
    const form = (chart) => JSON.stringify([chart.kind, chart.series.map(({ label, color }) => [label, color])]);
    if (!this.#plot || !before || form(before) !== form(this.#chart)) {
      this.#draw();
      return;
    }
    const zoomed = this.#zoomed(before);
    this.#plot.setData([this.#chart.x, ...drawn(this.#chart).values], !zoomed);
  }

  #draw() {
    this.#plot?.destroy();
    this.#plot = null;
    const { width, height } = this.getBoundingClientRect();
    if (!this.#chart || width === 0) return;
    const { order, values } = drawn(this.#chart);
    const options = this.#options(order, Math.floor(width), Math.floor(height));
    this.#plot = new uPlot(options, [this.#chart.x, ...values], this.#holder);
  }

  #options(order, width, height) {
    const grid = { stroke: css("line"), width: 1 };
    const overTime = this.#chart.kind !== "depth";
    const axis = { stroke: css("ink-3"), font: `11px ${css("font")}`, grid, ticks: { show: false } };
    return {
      width, height,
      // At the right there is room for half a label.
      padding: [30, 20, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: overTime, range: (_plot, low, high) => this.#across(low, high) },
        y: { range: (_plot, low, high) => this.#range(low, high) },
      },
      cursor: {
        drag: { x: true, y: false },
        points: { size: 7, fill: (_plot, index) => this.#color(order[index - 1]) },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 28, space: 70, values: overTime ? timeLabels : numberLabels },
        { ...axis, size: labelRoom, values: numberLabels },
      ],
      series: [{}, ...order.map((index) => this.#series(index))],
      hooks: {
        draw: [(plot) => this.#marks(plot)],
        setCursor: [(plot) => this.#point(plot, order)],
        setScale: [(plot, key) => key === "x" && this.#showAll(plot)],
      },
    };
  }

  #color(index) {
    return css(this.#chart.series[index]?.color ?? "ink-3");
  }

  #series(index) {
    const { over, color } = this.#chart.series[index];
    const stroke = this.#color(index);
    const layer = this.#chart.kind === "stack" && !over;
    // A step holds from its start on; in the curve of demand, from the step before.
    const align = this.#chart.kind === "depth" ? -1 : 1;
    const shape = { paths: uPlot.paths.stepped({ align }), points: { show: false }, spanGaps: false };
    if (layer) return { ...shape, stroke, width: 0, fill: stroke };
    if (color === "band") return { ...shape, stroke, width: 1 };
    if (color === "accent") return { ...shape, stroke, width: 2, fill: withAlpha(stroke, 0.06) };
    return { ...shape, stroke, width: 1.5, dash: color === "mine" && over ? [5, 4] : undefined };
  }

  // The whole curve of demand shows the supply too, and a little room beyond the last chip.
  #across(low, high) {
    const { kind, x, marks } = this.#chart;
    if (kind !== "depth" || low > x[0] || high < x[x.length - 1]) return [low, high];
    return [0, Math.max(high, ...marks.map((mark) => mark.x)) * 1.04];
  }

  // A stack and a curve of demand stand on zero. A line gets a little room; a level one stands in the middle.
  #range(low, high) {
    if (low === null || high === null) return [0, 1];
    if (high <= 0) return [0, 1];
    if (this.#chart.kind !== "line") return [0, high * 1.06];
    // Own limits are shown where they are near the prices; one far away would flatten them.
    for (const own of this.#chart.own ?? []) {
      const value = own.y / this.#chart.divisor;
      if (value <= high * 1.5 && value >= low / 1.5) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    const room = Math.max((high - low) * 0.12, high * 0.02);
    return [Math.max(0, low - room), high + room];
  }

  #marks(plot) {
    const { ctx, bbox } = plot;
    const dot = devicePixelRatio;
    const depth = this.#chart.kind === "depth";
    ctx.save();
    ctx.font = `${11 * dot}px ${css("font")}`;
    ctx.fillStyle = css("ink-3");
    ctx.textAlign = "left";
    ctx.fillText(this.#chart.unit, 4 * dot, 12 * dot);
    ctx.strokeStyle = css(depth ? "supply" : "control");
    ctx.lineWidth = (depth ? 1.5 : 1) * dot;
    ctx.setLineDash([4 * dot, 3 * dot]);
    let free = -Infinity;
    for (const { x, label } of this.#chart.marks) {
      const at = Math.round(plot.valToPos(x, "x", true));
      if (at < bbox.left || at > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
      // Labels that would run into each other are left out; the table has them all.
      const width = ctx.measureText(label).width;
      const fits = at + width / 2 < bbox.left + bbox.width;
      const left = fits ? at - width / 2 : bbox.left + bbox.width - width;
      if (left > free) {
        ctx.fillText(label, left, bbox.top - 5 * dot);
        free = left + width + 8 * dot;
      }
    }
    this.#owns(plot, dot);
    if (this.#chart.point) this.#clearingPoint(plot, dot);
    ctx.restore();
  }

  // The viewer's bids, the highest first. Labels that would run into each other are left out, and many lines stand
  // back behind the prices.
  #owns(plot, dot) {
    const owns = [...(this.#chart.own ?? [])].sort((one, other) => other.y - one.y);
    plot.ctx.globalAlpha = this.#chart.kind !== "depth" && owns.length > MANY_LIMITS ? 0.4 : 1;
    let free = -Infinity;
    for (const own of owns) free = this.#own(plot, dot, own, free) ?? free;
    plot.ctx.globalAlpha = 1;
  }

  // A bid of the viewer's: a level line over time, a dot on the curve of demand. A label goes where it is `free`; gives
  // back from where on the next one may stand.
  #own({ ctx, bbox, valToPos, scales }, dot, { x, y, label }, free) {
    const value = y / this.#chart.divisor;
    if (value < scales.y.min || value > scales.y.max) return undefined;
    const at = Math.round(valToPos(value, "y", true));
    ctx.fillStyle = css("mine");
    ctx.strokeStyle = css("mine");
    ctx.beginPath();
    if (this.#chart.kind === "depth") {
      ctx.arc(valToPos(x, "x", true), at, 4 * dot, 0, 2 * Math.PI);
      ctx.fill();
      return undefined;
    }
    ctx.setLineDash([5 * dot, 4 * dot]);
    ctx.moveTo(bbox.left, at);
    ctx.lineTo(bbox.left + bbox.width, at);
    ctx.stroke();
    if (at < free) return undefined;
    const alpha = ctx.globalAlpha;
    ctx.globalAlpha = 1;
    ctx.textAlign = "right";
    ctx.fillText(`${label} ${price.format(value)}`, bbox.left + bbox.width - 4 * dot, at - 4 * dot);
    ctx.textAlign = "left";
    ctx.globalAlpha = alpha;
    return at + 15 * dot;
  }

  #clearingPoint({ ctx, valToPos }, dot) {
    const { x, y } = this.#chart.point;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(valToPos(x, "x", true), valToPos(y / this.#chart.divisor, "y", true), 5 * dot, 0, 2 * Math.PI);
    ctx.fillStyle = css("surface");
    ctx.strokeStyle = css("supply");
    ctx.lineWidth = 2 * dot;
    ctx.fill();
    ctx.stroke();
  }

  #point(plot, order) {
    const at = plot.cursor.idx;
    if (at === null || at === undefined || plot.cursor.left < 0) {
      this.#hideTip();
      return;
    }
    this.#showTip(plot, at, order);
  }

  #showTip(plot, at, order) {
    const table = document.createElement("table");
    const x = this.#chart.x[at];
    table.createCaption().textContent = this.#chart.kind === "depth"
      ? `${number.format(x)} chips are asked for at`
      : when.format(new Date(x * 1000));
    const shown = this.#chart.kind === "stack" ? number : price;
    const lines = this.#chart.kind === "stack" ? [...order].sort((a, b) => a - b) : order;
    for (const index of lines) {
      const { label, y } = this.#chart.series[index];
      const row = table.insertRow();
      const swatch = document.createElement("i");
      swatch.style.background = this.#color(index);
      const name = row.insertCell();
      name.append(swatch, label);
      const value = y[at];
      row.insertCell().textContent = value === null ? "no trade" : shown.format(value / this.#chart.divisor);
    }
    const unit = table.createTFoot().insertRow().insertCell();
    unit.colSpan = 2;
    unit.className = "quiet";
    unit.textContent = this.#chart.unit;
    this.#tip.replaceChildren(table);
    this.#tip.hidden = false;
    const place = plot.valToPos(x, "x") + plot.bbox.left / devicePixelRatio;
    const room = this.clientWidth - this.#tip.offsetWidth;
    const left = place + 14 > room ? place - this.#tip.offsetWidth - 14 : place + 14;
    this.#tip.style.transform = `translateX(${Math.max(0, Math.min(left, room))}px)`;
  }

  #hideTip() {
    this.#tip.hidden = true;
  }

  #key(event) {
    const plot = this.#plot;
    if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.#chart.x.length - 1;
    const { min, max } = plot.scales.x;
    const first = this.#chart.x.findIndex((x) => x >= min);
    const end = this.#chart.x.findLastIndex((x) => x <= max);
    const at = plot.cursor.idx ?? end;
    const quarter = Math.max(1, Math.floor((end - first) / 4));
    const actions = {
      ArrowRight: () => this.#moveTo(Math.min(at + 1, end)),
      ArrowLeft: () => this.#moveTo(Math.max(at - 1, first)),
      Home: () => this.#moveTo(first),
      End: () => this.#moveTo(end),
      "+": () => end - first > 4 && this.#zoom(first + quarter, end - quarter),
      "-": () => this.#zoom(Math.max(0, first - 2 * quarter), Math.min(last, end + 2 * quarter)),
      0: () => this.#zoom(0, last),
      Escape: () => plot.setCursor({ left: -10, top: -10 }),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  #moveTo(at) {
    const left = this.#plot.valToPos(this.#chart.x[at], "x");
    this.#plot.setCursor({ left, top: this.#plot.bbox.height / devicePixelRatio / 2 });
  }

  #zoom(first, end) {
    this.#plot.setScale("x", { min: this.#chart.x[first], max: this.#chart.x[end] });
  }

  #zoomed(chart) {
    const { min, max } = this.#plot.scales.x;
    return min > chart.x[0] || max < chart.x[chart.x.length - 1];
  }

  #showAll(plot) {
    const { min, max } = plot.scales.x;
    this.#all.hidden = !(min > this.#chart.x[0] || max < this.#chart.x[this.#chart.x.length - 1]);
  }

  #resize() {
    const { width, height } = this.getBoundingClientRect();
    if (!this.#plot) this.#draw();
    else this.#plot.setSize({ width: Math.floor(width), height: Math.floor(height) });
  }
}

customElements.define("qm-chart", Chart);
