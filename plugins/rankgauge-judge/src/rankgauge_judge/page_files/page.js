"use strict";
(() => {
const byId = (name) => document.getElementById(name);
const data = JSON.parse(byId("data").textContent);
const { header, rows, grades, key } = data;
const shownAtOnce = 20000;
const state = { name: "", at: 0, done: {}, past: [] };
let store = null;
try { store = window.localStorage; store.setItem(`${key}:test`, "1"); store.removeItem(`${key}:test`); } catch { store = null; }
byId("lost").hidden = store !== null;

const isGraded = (at) => state.done[at] !== undefined && state.done[at].grade !== null;
const isSeen = (at) => state.done[at] !== undefined && (state.done[at].grade !== null || state.done[at].skipped);
const many = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const graded = () => rows.filter((_, at) => isGraded(at)).length;
const say = (text) => { byId("said").textContent = text; };
const isModel = (name) => /^model:/i.test(name);
const now = () => new Date().toISOString().replace(/\.\d+Z$/, "Z");

function keep() {
  if (store === null) return;
  try {
    store.setItem(`${key}:${state.name}`, JSON.stringify({ at: state.at, done: state.done }));
    store.setItem(`${key}:who`, state.name);
  } catch { store = null; byId("lost").hidden = false; }
}

function recall(name) {
  state.name = name; state.at = 0; state.done = {}; state.past = [];
  try {
    const kept = JSON.parse((store && store.getItem(`${key}:${name}`)) || "null");
    if (kept) { state.done = kept.done; state.at = Math.min(kept.at, rows.length - 1); }
  } catch { /* what was kept cannot be read: begin anew */ }
}

function show(section) {
  for (const name of ["start", "desk", "end"]) byId(name).hidden = name !== section;
  if (document.activeElement.closest("[hidden]")) document.activeElement.blur(); // else the next key would go there
  byId("export").hidden = section === "start";
  const n = graded();
  byId("who").textContent = state.name || "Judging";
  byId("meter").max = rows.length; byId("meter").value = n;
  byId("count").textContent = section === "start" ? many(rows.length, "document") : `${n.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
}

function draw() {
  const row = rows[state.at], own = state.done[state.at] || {};
  show("desk");
  byId("place").textContent = `Document ${(state.at + 1).toLocaleString("en")} of ${rows.length.toLocaleString("en")}${own.skipped ? " · skipped" : ""}`;
  byId("question").textContent = row.query_text;
  const text = row.document_text, isLong = text.length > shownAtOnce;
  byId("text").textContent = isLong ? text.slice(0, shownAtOnce) : text;
  byId("more").hidden = !isLong;
  byId("more").textContent = `Show all of it (${text.length.toLocaleString("en")} characters)`;
  byId("note").value = own.note || "";
  for (const button of byId("grades").children) button.setAttribute("aria-pressed", String(Number(button.value) === own.grade && own.grade !== null && own.grade !== undefined));
  byId("back").disabled = state.at === 0;
  byId("forth").disabled = state.at === rows.length - 1;
  byId("undo").disabled = state.past.length === 0;
  window.scrollTo(0, 0);
}

function go(at) { state.at = at; keep(); draw(); }

function onward() {
  for (let step = 1; step <= rows.length; step += 1) {
    const at = (state.at + step) % rows.length;
    if (!isSeen(at)) return go(at);
  }
  finish();
}

function change(next) {
  const at = state.at, before = state.done[at];
  state.past.push([at, before === undefined ? null : { ...before }]);
  state.done[at] = { grade: null, when: now(), note: (before && before.note) || "", skipped: false, ...next };
  keep();
}

function grade(value) {
  change({ grade: value });
  onward();
  say(`Graded ${value}. ${byId("end").hidden ? byId("place").textContent + ". " + rows[state.at].query_text : "All done."}`);
}

function skip() { change({ skipped: true }); onward(); say(`Skipped. ${byId("end").hidden ? byId("place").textContent : ""}`); }

function undo() {
  const last = state.past.pop();
  if (last === undefined) return;
  const [at, before] = last;
  if (before === null) delete state.done[at]; else state.done[at] = before;
  go(at);
  say(`Taken back. ${byId("place").textContent}`);
}

function finish() {
  const n = graded(), left = rows.length - n;
  keep();
  show("end");
  byId("done").textContent = left ? `${many(n, "document")} judged, ${left.toLocaleString("en")} left out` : `All ${many(n, "document")} judged. Thank you.`;
  byId("left").textContent = left ? "Those that you skipped are not in the file; nobody has to be sure of everything." : "Export the judgments, and hand in the file.";
  byId("again").hidden = left === 0;
  byId("done").focus();
}

function lines() {
  const kept = rows.flatMap((row, at) => {
    if (!isGraded(at)) return [];
    const { grade: value, when, note } = state.done[at];
    const filled = { ...row, grade: value, judge: state.name, when };
    if (data.rubric) filled.rubric = data.rubric;
    if (note) filled.note = note;
    return [filled];
  });
  return [header, ...kept].map((each) => JSON.stringify(each) + "\n").join("");
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines()], { type: "application/x-ndjson" }));
  link.download = `judged-by-${state.name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "somebody"}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`Exported ${many(graded(), "judgment")}.`);
}

async function take(file) {
  const places = new Map(rows.map((row, at) => [`${row.query}\0${row.document}`, at]));
  let name = "", n = 0;
  const refuse = (why) => { byId("refused").hidden = false; byId("refused").textContent = why; };
  try {
    const [head, ...others] = (await file.text()).split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    if (head.schema_version !== header.schema_version) return refuse(`${file.name} is no file that this page exported.`);
    const mine = others.filter((row) => places.has(`${row.query}\0${row.document}`) && grades.some(([value]) => value === row.grade));
    if (mine.length === 0) return refuse(`${file.name} has no judgment of a document on this page.`);
    name = String(mine[0].judge || "");
    if (!name || mine.some((row) => row.judge !== name)) return refuse(`${file.name} is not of one judge.`);
    if (isModel(name)) return refuse(`${file.name} is of a model, whose grades people do not see before they judge.`);
    recall(name);
    for (const row of mine) {
      state.done[places.get(`${row.query}\0${row.document}`)] = { grade: row.grade, when: String(row.when || now()), note: String(row.note || ""), skipped: false };
      n += 1;
    }
  } catch { return refuse(`${file.name} cannot be read: it is not JSON lines.`); }
  byId("name").value = name;
  keep();
  begin();
  say(`Took ${many(n, "judgment")} by ${name} from the file.`);
}

function begin() {
  const next = rows.findIndex((_, at) => !isSeen(at));
  if (next < 0) finish(); else go(isSeen(state.at) ? next : state.at);
}

function pair(list, term, text) {
  const name = document.createElement("dt"), meaning = document.createElement("dd");
  name.append(...[].concat(term)); meaning.textContent = text; meaning.dir = "auto";
  list.append(name, meaning);
}
const cap = (text) => { const each = document.createElement("kbd"); each.textContent = text; return each; };

const keyOf = (place) => { const [value] = grades[place]; return grades.every(([each]) => Number.isInteger(each) && each >= 0 && each < 10) ? String(value) : String(place + 1); };
const typed = new Map(grades.map(([value], place) => [keyOf(place), value]));
grades.forEach(([value, meaning], place) => {
  for (const list of ["scale", "meanings"]) pair(byId(list), String(value), meaning);
  const button = document.createElement("button"), number = document.createElement("b"), words = document.createElement("span");
  button.type = "button"; button.value = String(value); button.setAttribute("aria-keyshortcuts", keyOf(place));
  number.textContent = String(value); words.textContent = meaning; words.dir = "auto"; button.title = meaning;
  button.append(number, words);
  button.addEventListener("click", () => grade(value));
  byId("grades").append(button);
});
byId("task").textContent = `Judge ${many(rows.length, "document")} of ${many(new Set(rows.map((row) => row.query)).size, "question")}`;
byId("guideline").textContent = header.guideline || "";
byId("instruction").textContent = data.instruction || "";
byId("instruction").hidden = !data.instruction;
pair(byId("keylist"), [...typed.keys()].map(cap), `grade: ${grades.map(([value]) => value).join(", ")}`);
for (const [names, meaning] of [[["←", "→"], "the document before, the next one"], [["S"], "skip"], [["U"], "undo"], [["N"], "write a note; Escape leaves it"], [["?"], "these keys"]]) pair(byId("keylist"), names.map(cap), meaning);

const act = {
  s: skip, u: undo, n: () => byId("note").focus(), "?": () => byId("keys").showModal(),
  ArrowLeft: () => state.at > 0 && go(state.at - 1), ArrowRight: () => state.at < rows.length - 1 && go(state.at + 1),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const field = event.target.closest("input, textarea");
  if (field) { if (event.key === "Escape") field.blur(); return; }
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (pressed === "?") { event.preventDefault(); return act["?"](); }
  if (pressed === "u" && !byId("start").hidden) return;
  if (byId("desk").hidden) { if (pressed === "u" && !byId("end").hidden) { event.preventDefault(); undo(); } return; }
  if (typed.has(pressed)) { event.preventDefault(); grade(typed.get(pressed)); } else if (act[pressed]) { event.preventDefault(); act[pressed](); }
});
byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("name").value.trim();
  if (!name) return byId("name").focus();
  if (isModel(name)) { byId("refused").hidden = false; byId("refused").textContent = "Names that begin with model: are those of models."; return; }
  recall(name); begin();
});
byId("note").addEventListener("input", () => {
  const own = state.done[state.at] || { grade: null, when: now(), skipped: false };
  state.done[state.at] = { ...own, note: byId("note").value }; keep();
});
byId("more").addEventListener("click", () => { byId("text").textContent = rows[state.at].document_text; byId("more").hidden = true; byId("text").focus(); });
byId("import").addEventListener("change", (event) => { if (event.target.files.length) take(event.target.files[0]); event.target.value = ""; });
byId("again").addEventListener("click", () => { for (const own of Object.values(state.done)) own.skipped = false; state.past = []; begin(); });
byId("first").addEventListener("click", () => go(0));
byId("export").addEventListener("click", save);
byId("save").addEventListener("click", save);
byId("help").addEventListener("click", act["?"]);
byId("back").addEventListener("click", act.ArrowLeft);
byId("forth").addEventListener("click", act.ArrowRight);
byId("skip").addEventListener("click", skip);
byId("undo").addEventListener("click", undo);
try { byId("name").value = (store && store.getItem(`${key}:who`)) || ""; } catch { /* nothing is kept */ }
show("start");
document.documentElement.dataset.ready = "";
})();
