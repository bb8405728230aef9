// What is chosen, and what the data say of a sample under that choice.

const n = data.ids.length, pairs = data.runs.length > 1;
if (!data.metrics.length || !n || !$("bars")) {
  ready();
  return; // nothing was measured: the static part says why
}

const state = { metric: 0, run: pairs ? 1 : 0, sample: -1, show: "all", words: "", tag: "", sort: null, range: null, cursor: 0, active: -1 };
const TIED = 2e-7; // scores may be single precision here
const valueOf = (run, i, metric = state.metric) => {
  const value = data.values[run][metric][i];
  return Number.isNaN(value) ? null : value;
};
const sign = () => (data.metrics[state.metric].higher ? 1 : -1);
// What is sorted: the difference to the baseline, or the score of the only run. Null where a score is missing.
const amount = (i) => {
  const own = valueOf(state.run, i);
  if (!pairs) return own;
  const base = valueOf(0, i);
  return own === null || base === null ? null : Math.abs(own - base) < TIED * Math.max(1, Math.abs(base)) ? 0 : own - base;
};
const kindOf = (i) => {
  const value = amount(i);
  return value === null ? "none" : value === 0 ? "same" : value * sign() > 0 ? "better" : "worse";
};
const STATUSES = ["scored", "undefined", "missing", "failed"];
const statusOf = (run, i) => STATUSES[data.codes[run][state.metric] ? data.codes[run][state.metric][i] : 0];
// The runs that a view shows: the baseline and the chosen one, or the only one.
const shownRuns = () => (pairs ? [0, state.run] : [0]);
const reasonOf = (run, i) => {
  const why = data.reasons[run], which = why && why.which[state.metric];
  return which && which[i] ? why.texts[which[i] - 1] : "";
};
const textAt = (place) => (place ? data.texts()[place - 1] : "");
const input = (i) => (data.inputs ? textAt(data.inputs[i]) : "");

// One sample of one run under the chosen metric: what its ranks hold and add, and what is missing. Null where the
// file does not have it.
const detail = (run, i) => {
  const facts = data.facts[run][state.metric] && data.facts[run][state.metric]();
  if (!facts) return null;
  const set = data.sets[facts.set](), own = set.runs[run];
  if (!own || (own.listed && !own.listed[i])) return null;
  const gold = [], dropped = own.dropped.get(i);
  for (let at = set.gold.first[i]; at < set.gold.first[i + 1]; at++) {
    const name = set.gold.item ? apart(set.names[set.first[i] + set.gold.item[at]]) : textAt(set.gold.text[at]) || "(its text is not in this file)";
    gold.push({ name, code: set.gold.item ? set.gold.item[at] : -1, grade: set.gold.grade[at], relevant: set.gold.grade[at] >= facts.least, ideal: gold.length + 1, rank: null, dropped: dropped && dropped.get(gold.length) });
  }
  const held = new Map();
  for (let row = own.rows[i]; row < own.rows[i + 1]; row++) {
    const rank = own.rank[row], item = gold[own.gold[row]];
    if (!held.has(rank)) held.set(rank, { gold: [], grade: null, relevant: false, gain: 0, discount: 0 });
    const here = held.get(rank);
    here.gold.push(item);
    here.grade = here.grade === null ? item.grade : Math.max(here.grade, item.grade);
    here.relevant = here.relevant || item.relevant;
    here.gain += facts.gain[row];
    here.discount = here.discount || facts.discount[row];
    if (item.rank === null) item.rank = rank;
  }
  const k = facts.ks ? facts.k[i] : facts.k, divisor = facts.divisor[i], isSum = !Number.isNaN(divisor);
  const ranks = [];
  const rankOf = (rank, place) => {
    const here = held.get(rank) || { gold: [], grade: null, relevant: false, gain: 0, discount: 0 };
    const counts = k === null || rank <= k;
    const code = place !== null ? own.item[place] : set.gold.item && here.gold.length ? here.gold[0].code : -rank;
    const id = code < 0 ? "" : apart(set.names[set.first[i] + code]), at = place !== null && own.text ? own.text[place] : 0;
    const text = textAt(at), whole = at ? data.whole()[at - 1] : 0;
    const mark = text && own.length[place] ? [own.from[place], own.from[place] + own.length[place]] : null;
    const beside = place !== null && own.beside ? textAt(own.beside[place]) : "";
    const grade = here.grade !== null && here.grade < 0 && !here.relevant ? null : here.grade; // pooled, but not judged
    return { rank, key: code, id: id || null, text, whole, mark, beside, ...here, grade, relevant: here.relevant && counts, adds: isSum && divisor ? (here.gain * here.discount) / divisor : 0 };
  };
  for (let place = own.first[i]; place < own.first[i + 1]; place++) ranks.push(rankOf(place - own.first[i] + 1, place));
  for (const rank of [...held.keys()].sort((x, y) => x - y)) if (rank > ranks.length) ranks.push(rankOf(rank, null));
  const missing = gold.filter((item) => item.relevant && (item.rank === null || (k !== null && item.rank > k)));
  return { ranks, gold, missing, k, isSum, divisor, unit: facts.unit, byText: !set.gold.item, isAnswer: set.judged.includes(" of the generated answer "), depth: own.depth[i], listed: own.first[i + 1] - own.first[i] };
};

let order = [];
const sorted = () => {
  order = [];
  for (let i = 0; i < n; i++) if (amount(i) !== null) order.push(i);
  order.sort((x, y) => sign() * (amount(x) - amount(y)) || x - y);
};
