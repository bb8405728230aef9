// Choosing a sample, a metric and a run: by click, key and link. Begins everything.

const link = (i) => `#sample=${encodeURIComponent(data.ids[i])}&metric=${encodeURIComponent(data.metrics[state.metric].name)}${pairs && data.runs.length > 2 ? `&run=${encodeURIComponent(data.runs[state.run])}` : ""}`;
const opening = (i) => el("a", { href: link(i), text: data.ids[i], onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(i, true); } });
const go = (i, scroll = false) => {
  state.sample = i;
  const at = order.indexOf(i);
  if (at >= 0) state.cursor = at;
  history.replaceState(null, "", link(i));
  drawBars();
  drawTable();
  drawOne();
  for (const point of document.querySelectorAll(".pt.on")) point.classList.remove("on");
  drawScatter();
  if (scroll) $("one").scrollIntoView();
};
const choose = (metric, run = state.run) => {
  const before = state.sample;
  Object.assign(state, { metric, run, range: null, sort: null });
  sorted();
  widest = Math.max(1e-9, ...minmax(order.map(amount)).map(Math.abs));
  if ($("metric")) $("metric").value = String(metric);
  if ($("run")) $("run").value = String(run);
  for (const row of document.querySelectorAll("#mt tbody tr")) {
    const on = +row.dataset.metric === metric && (!pairs || +row.dataset.run === run);
    row.classList.toggle("on", on);
    row.querySelector("input").checked = on;
  }
  const words = data.metrics[metric].name;
  if (pairs) {
    const counts = { worse: 0, same: 0, better: 0, none: 0 };
    order.forEach((i) => (counts[kindOf(i)] += 1));
    $("samples-h").textContent = `${words}: ${data.runs[run]} is better on ${counted(counts.better, "sample")}, worse on ${many(counts.worse)}, the same on ${many(counts.same)}`;
  } else $("samples-h").textContent = `${words} of ${counted(order.length, "sample")}`;
  filter();
  go(before >= 0 ? before : order.length ? order[0] : 0);
};
const fromLink = () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const metric = data.metrics.findIndex((each) => each.name === wanted.get("metric"));
  const run = data.runs.indexOf(wanted.get("run"));
  const sample = data.ids.indexOf(wanted.get("sample"));
  if (metric >= 0 || run > 0) choose(metric >= 0 ? metric : state.metric, run > 0 ? run : state.run);
  if (sample >= 0) go(sample, true);
};

data.metrics.forEach((metric, place) => $("metric").append(el("option", { value: place, text: metric.name })));
$("metric").addEventListener("change", (event) => choose(+event.target.value));
if ($("run")) {
  data.runs.slice(1).forEach((name, place) => $("run").append(el("option", { value: place + 1, text: name })));
  $("run").addEventListener("change", (event) => choose(state.metric, +event.target.value));
}
for (const row of document.querySelectorAll("#mt tbody tr")) row.querySelector("input").addEventListener("change", () => choose(+row.dataset.metric, pairs ? +row.dataset.run : 0));
$("search").addEventListener("input", (event) => { state.words = event.target.value; filter(); });
for (const button of document.querySelectorAll("[data-show]")) button.addEventListener("click", () => {
  state.show = button.dataset.show;
  for (const each of document.querySelectorAll("[data-show]")) each.setAttribute("aria-pressed", String(each === button));
  filter();
});
const clearRange = () => { state.range = null; drawBars(); filter(); };
$("clear").addEventListener("click", clearRange);
$("scroll").addEventListener("scroll", () => requestAnimationFrame(drawTable));
const step = (by) => {
  const at = rows.indexOf(state.sample);
  if (rows.length) go(rows[Math.max(0, Math.min(rows.length - 1, at + by))]);
};
$("prev").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
const box = $("bars");
let start = null;
box.addEventListener("pointerdown", (event) => { start = barScale(event.clientX); box.setPointerCapture(event.pointerId); });
box.addEventListener("pointermove", (event) => {
  state.cursor = barScale(event.clientX);
  if (start !== null && state.cursor !== start) state.range = [Math.min(start, state.cursor), Math.max(start, state.cursor)];
  drawBars();
});
box.addEventListener("pointerup", (event) => {
  const end = barScale(event.clientX);
  if (start !== null && end === start && order.length) go(order[end]);
  else filter();
  start = null;
});
box.addEventListener("keydown", (event) => {
  const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -n, End: n };
  if (event.key in moves) {
    const from = state.cursor;
    state.cursor = Math.max(0, Math.min(order.length - 1, state.cursor + moves[event.key]));
    if (event.shiftKey) {
      const fixedEnd = state.range ? (state.range[0] === from ? state.range[1] : state.range[0]) : from;
      state.range = [Math.min(fixedEnd, state.cursor), Math.max(fixedEnd, state.cursor)];
      filter();
    }
    drawBars();
  } else if (event.key === "Enter" && order.length) go(order[state.cursor], true);
  else if (event.key === "Escape") clearRange();
  else return;
  event.preventDefault();
});
addEventListener("resize", () => { drawBars(); drawJoins(); });
addEventListener("beforeprint", () => { $("scroll").scrollTop = 0; drawTable(); });
addEventListener("hashchange", fromLink);
const asked = location.hash;
choose(0);
if (asked) {
  history.replaceState(null, "", asked);
  fromLink();
}
ready();
