// Which samples are listed: by what changed, status, tag, range and words, which are looked up in texts and ids, too.

let rows = [];
// A word as what it hits: each sample by its own words, each text by its place, each name of the metric's lists.
const hits = (word) => {
  const id = word.startsWith("doc:") ? word.slice(4) : null; // that document and no other
  const lists = shownRuns().map((run) => {
    const facts = data.facts[run][state.metric] && data.facts[run][state.metric]();
    const set = facts && data.sets[facts.set](), own = set && set.runs[run];
    if (!own) return null;
    set.lower = set.lower || set.names.map((name) => name.toLowerCase());
    return { set, own };
  });
  const known = new Map();
  const texts = id === null ? data.texts().map((text) => text.toLowerCase().includes(word)) : [];
  // The first rank of each run that holds it, or null.
  return (i) => {
    const ranks = lists.map((list) => {
      if (!list) return null;
      const { set, own } = list;
      for (let at = own.first[i]; at < own.first[i + 1]; at++) {
        const code = set.first[i] + own.item[at], place = own.text ? own.text[at] : 0;
        if (id === null ? set.lower[code].includes(word) || (place && texts[place - 1]) : set.lower[code] === id) return at - own.first[i] + 1;
      }
      return null;
    });
    if (id === null && !known.has(i)) known.set(i, `${data.ids[i]} ${input(i)} ${data.tags ? data.tags[i].join(" ") : ""}`.toLowerCase().includes(word));
    return { sample: id === null && known.get(i), ranks };
  };
};
// How many samples have their lists in this file.
const listedOf = (run) => {
  const facts = data.facts[run][state.metric] && data.facts[run][state.metric](), own = facts && data.sets[facts.set]().runs[run];
  return own ? (own.listed ? own.listed.reduce((sum, is) => sum + is, 0) : n) : 0;
};
let ranksOf = null; // of each listed sample, where the words were found in the lists; null while nothing is searched
const filter = () => {
  const words = [...state.words.toLowerCase().matchAll(/"([^"]+)"?|\S+/g)].map(([word, phrase]) => hits(phrase || word));
  const inRange = state.range ? new Set(order.slice(state.range[0], state.range[1] + 1)) : null;
  const place = new Map(order.map((i, at) => [i, at]));
  const seen = words.length ? new Map() : null;
  rows = [];
  for (let i = 0; i < n; i++) {
    if (inRange && !inRange.has(i)) continue;
    if (state.show !== "all" && (STATUSES.includes(state.show) ? !shownRuns().some((run) => statusOf(run, i) === state.show) : kindOf(i) !== state.show)) continue;
    if (state.tag && !data.tags[i].includes(state.tag)) continue;
    if (words.length) {
      const where = words.map((hit) => hit(i));
      if (!where.every((at) => at.sample || at.ranks.some((rank) => rank !== null))) continue;
      const first = where.find((at) => at.ranks.some((rank) => rank !== null));
      if (first) seen.set(i, first.ranks);
    }
    rows.push(i);
  }
  ranksOf = seen && seen.size ? seen : null;
  const at = (i) => (place.has(i) ? place.get(i) : n);
  const sorting = state.sort && columns().find((column) => keyOf(column) === state.sort[0]);
  if (!sorting) rows.sort((x, y) => at(x) - at(y));
  else {
    const get = sorting[2], way = state.sort[1] ? -1 : 1;
    const plain = (value) => (value === null || value === undefined ? null : value);
    rows.sort((x, y) => {
      const one = plain(get(x)), other = plain(get(y));
      if (one === null || other === null) return (one === null) - (other === null) || x - y;
      return (typeof one === "string" ? way * one.localeCompare(other, "en", { numeric: true }) : way * (one - other)) || x - y;
    });
  }
  const known = words.length ? listedOf(shownRuns()[shownRuns().length - 1]) : n;
  $("count").textContent = `${rows.length === n ? many(n) : `${many(rows.length)} of ${many(n)}`} samples${known < n ? `; documents are known of ${many(known)}` : ""}`;
  $("clear").hidden = !state.range;
  $("printed").textContent = `${$("count").textContent} (${[state.show, state.tag, state.words].filter(Boolean).join(", ")}); the first 20 are printed.`;
  $("scroll").scrollTop = 0;
  drawTable();
};
const clearAll = () => {
  Object.assign(state, { show: "all", words: "", tag: "", range: null });
  $("search").value = "";
  if ($("tag")) $("tag").value = "";
  press();
  drawBars();
  filter();
};
const press = () => { for (const each of document.querySelectorAll("[data-show]")) each.setAttribute("aria-pressed", String(each.dataset.show === state.show)); };
const show = (which) => { state.show = which; press(); filter(); };

// What is listed as CSV, with all digits.
const csv = () => {
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const listed = columns().map(([name, , get]) => [name, get]);
  const lines = [listed.map(([name]) => name), ...rows.map((i) => listed.map(([, get]) => get(i)))];
  return lines.map((line) => line.map((value) => cell(value === null || value === undefined ? "" : String(value))).join(",")).join("\r\n");
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { "aria-hidden": "true" }); // where a file may not use the clipboard otherwise
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    $("copy").focus();
    return done;
  }
  return true;
};
