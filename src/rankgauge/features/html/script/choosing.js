// Choosing a sample, a metric and a run: by click, key and link. Begins everything.

const linkTo = (i) => {
  const chosen = { sample: data.ids[i], metric: data.metrics[state.metric].name, ...(data.runs.length > 2 ? { run: data.runs[state.run] } : {}), ...(state.show !== "all" ? { show: state.show } : {}), ...(state.tag ? { tag: state.tag } : {}) };
  return `#${Object.entries(chosen).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
};
const opening = (i, tabindex = null) => el("a", { href: linkTo(i), dir: "auto", tabindex, text: data.ids[i], onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(i, true); } });
// Shows a sample; whoever opens one is taken to it, and Back leads to the one before.
const go = (i, opens = false, remembers = true) => {
  const isOther = state.sample >= 0 && state.sample !== i;
  state.sample = state.active = i;
  const at = order.indexOf(i);
  if (at >= 0) state.cursor = at;
  if (isOther && remembers && location.hash !== linkTo(i)) history.pushState(null, "", linkTo(i));
  else if (remembers) history.replaceState(null, "", linkTo(i));
  drawBars();
  drawTable();
  drawOne();
  drawScatter();
  if (!opens) return;
  $("one").scrollIntoView();
  $("one-h").focus({ preventScroll: true });
};
// What the static part said of the first run and metric, said of the chosen ones.
const say = (place, key) => {
  const box = $(place);
  if (!box || box.dataset.key === key) return;
  const written = data.blocks().get(`${place} ${key}`);
  // It was laid out with everything escaped, as the static part was, and no script but this one may run.
  box.replaceChildren(...new DOMParser().parseFromString(written === undefined ? "<p class=how></p>" : written, "text/html").body.childNodes);
  if (written === undefined) box.firstChild.textContent = `${metricNames[state.metric]} is not compared for ${runNames[state.run]}.`;
  box.dataset.key = key;
};
const choose = (metric, run = state.run, remembers = true) => {
  const before = state.sample;
  Object.assign(state, { metric, run, range: null, sort: null });
  sorted();
  for (const place of ["finding", "answers", "dots"]) say(place, `${run}/${metric}`);
  say("board", String(metric));
  for (const place of ["cohorts", "funnel"]) say(place, String(run));
  for (const row of document.querySelectorAll("#board [data-of-run]")) row.classList.toggle("on", +row.dataset.ofRun === run);
  colourCurves();
  document.title = `${($("finding").querySelector("h1") || $("finding")).textContent} \u00b7 rankgauge`;
  widest = Math.max(1e-9, ...minmax(order.map(amount)).map(Math.abs));
  if ($("metric")) $("metric").value = String(metric);
  if ($("run")) $("run").value = String(run);
  for (const row of document.querySelectorAll("#mt tbody tr")) {
    const on = +row.dataset.metric === metric && (!pairs || +row.dataset.run === run);
    row.classList.toggle("on", on);
    row.querySelector("input").checked = on;
  }
  const words = metricNames[metric];
  if (pairs) {
    const counts = { worse: 0, same: 0, better: 0, none: 0 };
    order.forEach((i) => (counts[kindOf(i)] += 1));
    $("samples-h").textContent = `${words}: ${runNames[run]} is better on ${counted(counts.better, "sample")}, worse on ${many(counts.worse)}, the same on ${many(counts.same)}`;
  } else $("samples-h").textContent = `${words} of ${counted(order.length, "sample")}`;
  filter();
  go(before >= 0 ? before : order.length ? order[0] : 0, false, remembers);
};
const fromLink = () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const metric = data.metrics.findIndex((each) => each.name === wanted.get("metric"));
  const run = data.runs.indexOf(wanted.get("run"));
  const sample = data.ids.indexOf(wanted.get("sample"));
  if ((metric >= 0 && metric !== state.metric) || (run > 0 && run !== state.run)) choose(metric >= 0 ? metric : state.metric, run > 0 ? run : state.run, false);
  const shown = document.querySelector(`[data-show="${CSS.escape(wanted.get("show") || "all")}"]`) ? wanted.get("show") || "all" : "all";
  const tag = data.tags && data.tags.some((tags) => tags.includes(wanted.get("tag"))) ? wanted.get("tag") : "";
  if (shown !== state.show || tag !== state.tag) {
    state.tag = tag;
    if ($("tag")) $("tag").value = tag;
    show(shown);
  }
  if (sample >= 0) go(sample, true, false);
  else if (shown !== "all" || tag) $("samples").scrollIntoView();
};

data.metrics.forEach((metric, place) => $("metric").append(el("option", { value: place, text: metricNames[place] })));
$("metric").addEventListener("change", (event) => choose(+event.target.value));
if ($("run")) {
  data.runs.slice(1).forEach((name, place) => $("run").append(el("option", { value: place + 1, text: apart(name) })));
  $("run").addEventListener("change", (event) => choose(state.metric, +event.target.value));
}
for (const row of document.querySelectorAll("#mt tbody tr")) row.querySelector("input").addEventListener("change", () => choose(+row.dataset.metric, pairs ? +row.dataset.run : 0));
$("search").addEventListener("input", (event) => { state.words = event.target.value; filter(); });
for (const button of document.querySelectorAll("[data-show]")) button.addEventListener("click", () => { show(button.dataset.show); relink(); });
const relink = () => history.replaceState(null, "", linkTo(state.sample));
if ($("tag")) {
  for (const tag of [...new Set(data.tags.flat())].sort()) $("tag").append(el("option", { value: tag, text: apart(tag) }));
  $("tag").addEventListener("change", (event) => { state.tag = event.target.value; filter(); relink(); });
}
$("copy").addEventListener("click", async () => { $("count").textContent = (await copy(csv())) ? `copied ${counted(rows.length, "sample")}` : "the browser does not allow copying"; });
const clearRange = () => { state.range = null; drawBars(); filter(); };
$("clear").addEventListener("click", clearRange);
$("scroll").addEventListener("scroll", () => requestAnimationFrame(drawTable));
const step = (by) => {
  const at = rows.indexOf(state.sample);
  if (rows.length) go(rows[Math.max(0, Math.min(rows.length - 1, at + by))]);
};
$("prev").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
document.querySelector(".browse").addEventListener("keydown", (event) => {
  if (!(event.key in LETTERS) || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
  step(LETTERS[event.key]);
  event.preventDefault();
});
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
walk(box, SLIDER, () => state.cursor, () => order.length - 1, (at, event, from) => {
  state.cursor = at;
  if (event.shiftKey) {
    const fixedEnd = state.range ? (state.range[0] === from ? state.range[1] : state.range[0]) : from;
    state.range = [Math.min(fixedEnd, at), Math.max(fixedEnd, at)];
    filter();
  }
  drawBars();
}, { Enter: () => order.length > 0 && go(order[state.cursor], true), Escape: () => clearRange() });
addEventListener("resize", () => { drawBars(); drawJoins(); });
// On paper: bars as wide as the sheet, folds open, and the list from its top.
let closed = [];
const print = (on) => {
  if (on === printing) return;
  printing = on;
  if (on) closed = [...document.querySelectorAll("details:not([open])")];
  for (const fold of closed) fold.open = on;
  $("scroll").scrollTop = 0;
  drawBars();
  drawTable();
  drawJoins();
};
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (event) => print(event.matches));
addEventListener("hashchange", fromLink);
const asked = location.hash;
choose(0);
if (asked) {
  history.replaceState(null, "", asked);
  fromLink();
}
ready();
