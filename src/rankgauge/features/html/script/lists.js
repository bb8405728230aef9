// Ranked lists of one sample, and the lines between them.

const SHOWN = 10, LISTED = 20, MOVED = 6, MISSING = 7, FAR = 5;
const gradeOf = (grade) => String(+grade.toPrecision(3)).replace("-", MINUS);
const glyph = (here, byText = false) => {
  const picture = svg("svg", { class: "gl", width: 11, height: 11, "aria-hidden": "true" });
  if (here.relevant) picture.append(svg("rect", { class: "glr", x: 1, y: 1, width: 9, height: 9 }));
  else if (here.grade !== null || byText) picture.append(svg("rect", { class: "gln", x: 1.5, y: 1.5, width: 8, height: 8 }), svg("path", { class: "gln", d: "M1.5 9.5l8-8" }));
  else picture.append(svg("circle", { class: "glu", cx: 5.5, cy: 5.5, r: 4 }));
  const judged = here.grade !== null, grade = judged ? `grade ${gradeOf(here.grade)}` : "";
  const word = byText ? (here.relevant ? `match${here.grade === 1 ? "" : `, ${grade}`}` : "no match") : here.relevant ? grade : judged ? "not relevant" : "unjudged";
  return [picture, el("span", { class: "w", text: word })];
};
// Where words of the question stand in a text, endings of up to three letters apart.
const wordsIn = (text) => {
  const words = input(state.sample).match(/[\p{L}\p{N}]{4,}/gu) || [];
  if (!words.length || text.length > 5000) return [];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${[...new Set(words)].sort((x, y) => y.length - x.length).slice(0, 40).join("|")})[\\p{L}\\p{N}]{0,3}(?![\\p{L}\\p{N}])`, "giu");
  return [...text.matchAll(pattern)].map((found) => [found.index, found.index + found[0].length]);
};
const underlined = (text, ranges, begin, end) => {
  const nodes = [];
  let at = begin;
  for (const [from, to] of ranges) {
    if (to <= at || from >= end) continue;
    nodes.push(text.slice(at, Math.max(at, from)), el("mark", { text: text.slice(Math.max(at, from), Math.min(to, end)) }));
    at = Math.min(to, end);
  }
  nodes.push(text.slice(at, end));
  return nodes;
};
// What a result covers of gold spans: the parts between brackets are marked.
const besides = (here) => (here.beside ? [el("span", { class: "t2 beside" }, ...here.beside.split(/[\u27e6\u27e7]/).map((part, place) => (place % 2 ? el("mark", { text: part }) : part)))] : []);
const cutNote = ({ text, whole }) => (whole ? [el("span", { class: "dim", text: `\nOf ${many(whole)} characters this file holds ${many([...text].length)}.` })] : []);
// A title, and below it the id with a part of the text near what matched; a click shows all of the text.
const itemCell = (here) => {
  if (!here.text) return el("td", {}, el("span", { class: "t1", title: here.id, text: here.id === null ? "(no id)" : here.id }), ...besides(here));
  const text = here.text, ranges = here.mark ? [here.mark] : wordsIn(text);
  const line = text.indexOf("\n") < 0 ? text.length : text.indexOf("\n");
  const later = ranges.find(([from]) => from >= Math.min(line, 50)), near = later ? text.lastIndexOf(" ", Math.max(0, later[0] - 20)) + 1 : 0;
  const begin = line < text.length ? Math.max(line + 1, near) : later ? near : text.indexOf(" ", Math.min(line, 50)) + 1 || text.length;
  const rest = begin < text.length ? [begin > line + 1 || (line === text.length && begin) ? "\u2026 " : "", ...underlined(text, ranges, begin, Math.min(text.length, begin + 160))] : [];
  const name = here.id === null ? [] : [here.id, ...(rest.length ? [" \u00b7 "] : [])];
  const button = el("button", { type: "button", class: "t1", dir: "auto", "aria-expanded": "false" }, ...underlined(text, ranges, 0, Math.min(line, 200)));
  const full = el("span", { class: "full", dir: "auto", hidden: "" }, ...(here.id === null ? [] : [`${here.id}\n`]), ...underlined(text, ranges, 0, text.length), ...cutNote(here));
  const cell = el("td", {}, button, el("span", { class: "t2" }, ...name, ...rest), ...besides(here), full);
  button.addEventListener("click", () => {
    full.hidden = !full.hidden;
    button.setAttribute("aria-expanded", String(!full.hidden));
    drawJoins();
  });
  return cell;
};
const depthOf = (own) => (own.k === null ? SHOWN : Math.min(own.k, LISTED));
const table = (name, kind, last, rows, foot) => el("table", { class: "rank" }, el("caption", { class: kind, text: name }),
  el("thead", {}, el("tr", {}, el("th", { class: "k", text: "#", scope: "col" }), el("th", { class: "j", text: "judgment", scope: "col" }), el("th", { text: data.texts().length ? "document (words of the question underlined)" : "document", scope: "col" }), el("th", { class: "s n", text: last, scope: "col" }))),
  el("tbody", {}, ...rows), el("tfoot", {}, ...foot));
const ranked = (run, own, kind) => {
  const depth = depthOf(own), score = valueOf(run, state.sample);
  const within = own.ranks.filter((here) => own.k === null || here.rank <= own.k);
  const shown = within.filter((here) => here.rank <= Math.min(depth, own.listed || depth)), rest = within.filter((here) => !shown.includes(here) && here.adds);
  const rounded = own.isSum && score !== null ? addUp([...shown, ...rest].map((here) => here.adds), score) : null;
  const rows = shown.map((here, place) => el("tr", { class: here.relevant ? "rel" : null, "data-rank": here.rank },
    el("td", { class: "k", text: here.rank }), el("td", { class: "j" }, ...glyph(here, own.byText)), itemCell(here),
    el("td", { class: "s n", text: rounded === null ? "" : here.adds ? fixed(rounded[place]) : "0" })));
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 4, text: reasonOf(run, state.sample) || "nothing was retrieved" })));
  const foot = [];
  if (rest.length && rounded !== null) foot.push(el("tr", { class: "more" }, el("td", { colspan: 3, text: `${many(rest.length)} below rank ${depth}` }), el("td", { class: "n", text: fixed(rounded.slice(shown.length).reduce((sum, each) => sum + each, 0)) })));
  foot.push(el("tr", {}, el("td", { colspan: 3, text: metricNames[state.metric] }), el("td", { class: "n", text: fixed(score) })));
  return table(runNames[run], kind, rounded === null ? "" : "adds", rows, foot);
};
const ideal = (own) => {
  const best = own.gold.filter((item) => item.relevant), depth = depthOf(own);
  const rows = best.slice(0, depth).map((item) => {
    const listed = own.ranks.find((here) => here.key === item.code && here.text);
    const is = { relevant: true, grade: item.grade, id: item.name, text: listed ? listed.text : "", whole: listed ? listed.whole : 0, mark: null };
    return el("tr", { class: item.rank !== null && (own.k === null || item.rank <= own.k) ? "rel" : null, "data-rank": item.ideal },
      el("td", { class: "k", text: item.ideal }), el("td", { class: "j" }, ...glyph(is, own.byText)), itemCell(is), el("td", { class: "s n", text: item.rank !== null ? `rank ${item.rank}` : item.dropped ? `dropped at ${item.dropped.rank}` : "none", title: item.dropped ? `dropped by ${item.dropped.step}` : null }));
  });
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 4, text: "nothing is relevant" })));
  const foot = best.length > depth ? [el("tr", { class: "more" }, el("td", { colspan: 4, text: `${many(best.length - depth)} more relevant` }))] : [];
  return table("ideal order", "dim", "found at", rows, foot);
};

// Lines between two lists: [rank on the left, rank on the right, class, what is said on the left, on the right].
let joined = null;
const joinsOf = (one, other) => {
  const left = new Map(one.ranks.map((here) => [here.key, here])), right = new Map(other.ranks.map((here) => [here.key, here]));
  const found = [], beyond = (own, word) => (own.depth > own.listed ? `> ${own.listed}` : word);
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const from = left.get(key), to = right.get(key), relevant = (from || to).grade !== null && ((from && from.relevant) || (to && to.relevant));
    const kind = !relevant ? "" : to && (!from || to.rank < from.rank) ? "ju" : from && to && to.rank === from.rank ? "js" : "jd";
    found.push([from ? from.rank : null, to ? to.rank : null, kind, `\u2192 ${to ? to.rank : beyond(other, "gone")}`, `${from ? from.rank : beyond(one, "new")} \u2192`]);
  }
  return found;
};
const joinsToIdeal = (own) => own.gold.filter((item) => item.relevant).map((item) => [item.rank, item.ideal, "jd", "", ""]);
const drawJoins = () => {
  if (joined === null) return;
  const { box, left, right, lines } = joined;
  if (!box.clientWidth) return;
  const width = box.clientWidth - 16, flat = Math.min(30, width / 4);
  const rows = (own) => new Map([...own.querySelectorAll("tr[data-rank]")].map((row) => [+row.dataset.rank, row.offsetTop + Math.min(row.offsetHeight, 45) / 2]));
  const from = rows(left), to = rows(right), paths = [], labels = [];
  for (const [one, other, kind, before, after] of lines) {
    const start = from.get(one), end = to.get(other);
    if (start !== undefined && end !== undefined)
      paths[kind ? "push" : "unshift"](svg("path", { class: `join ${kind}`, d: `M0 ${start}H${flat}C${width / 2} ${start} ${width / 2} ${end} ${width - flat} ${end}H${width}` }));
    else if (start !== undefined && before) labels.push(svg("text", { class: kind === "jd" ? "a" : kind === "ju" ? "b" : "tick", x: 0, y: start + 4, text: before }));
    else if (end !== undefined && after) labels.push(svg("text", { class: kind === "ju" ? "b" : kind === "jd" ? "a" : "tick", x: width, y: end + 4, "text-anchor": "end", text: after }));
  }
  const tall = Math.max(left.offsetHeight, right.offsetHeight);
  box.replaceChildren(svg("svg", { class: "gut", width, height: tall, viewBox: `0 0 ${width} ${tall}`, "aria-hidden": "true" }, ...paths, ...labels));
};
