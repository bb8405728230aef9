// The list of samples, drawn only where it is seen.

const ROW = 32;
// Each column: its name, its class, what it has of a sample, its side and how that is written.
const columns = () => {
  const texts = (value) => value, found = [["Sample", "c0", (i) => data.ids[i], "", texts]];
  if (data.inputs) found.push(["Text", "ct", (i) => input(i), "", texts]);
  if (data.tags) found.push(["Tags", "c5", (i) => data.tags[i].join(", "), "", texts]);
  if (ranksOf) for (const [at, run] of shownRuns().entries()) found.push([pairs ? `Rank in ${data.runs[run]}` : "Rank", "c3", (i) => (ranksOf.has(i) ? ranksOf.get(i)[at] : null), pairs ? (run ? "n b" : "n a") : "n", (rank) => (rank === null ? DASH : String(rank))]);
  if (pairs) found.push([data.runs[0], "c3", (i) => valueOf(0, i), "n a", (value) => fixed(value)]);
  found.push([data.runs[state.run], "c3", (i) => valueOf(state.run, i), pairs ? "n b" : "n a", (value) => fixed(value)]);
  if (pairs) found.push(["Difference", "c4", amount, "n", (value) => signed(value)]);
  if (STATUSES.includes(state.show)) found.push(["Why", "cw", (i) => shownRuns().map((run) => [run, reasonOf(run, i)]).filter(([, why]) => why).map(([run, why]) => (pairs ? `${data.runs[run]}: ${why}` : why)).join("; "), "", texts]);
  else if (data.unjudged) for (const run of shownRuns().slice(-1)) found.push(["Unjudged@10", "c5", (i) => { const share = data.unjudged[run][i]; return Number.isNaN(share) ? null : share; }, "n", (value, i) => (value === null ? DASH : shownRuns().map((each) => unjudgedShare(each, i)).join(" \u2192 "))]);
  return found;
};
const unjudgedShare = (run, i) => (Number.isNaN(data.unjudged[run][i]) ? DASH : `${+(data.unjudged[run][i] * 100).toFixed(0)} %`);
const usual = (kind, side) => (pairs ? kind === "c4" : side === "n a");
const keyOf = ([name, kind, , side]) => `${kind} ${side} ${name}`; // a run may be called as another column is
const drawTable = () => {
  const table = $("table"), box = $("scroll"), held = heldIn(table);
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
  const last = Math.min(rows.length, first + Math.max(40, 17 + Math.ceil(box.clientHeight / ROW)));
  const shown = columns();
  const head = el("tr");
  shown.forEach((column) => {
    const [name, kind, , side] = column, key = keyOf(column);
    const on = state.sort ? state.sort[0] === key : usual(kind, side);
    const falls = state.sort ? state.sort[1] : sign() < 0;
    const button = el("button", { type: "button", text: on ? `${apart(name)} ${falls ? "\u2193" : "\u2191"}` : apart(name), onclick: () => {
      state.sort = [key, state.sort && state.sort[0] === key ? !state.sort[1] : false];
      filter();
    } });
    head.append(el("th", { scope: "col", class: `${kind} ${side}`, title: name, "aria-sort": on ? (falls ? "descending" : "ascending") : null }, button));
  });
  const body = el("tbody");
  const gap = (count) => {
    if (count <= 0) return;
    const cell = el("td", { class: "gap", colspan: shown.length });
    cell.style.height = `${count * ROW}px`;
    body.append(el("tr", { "aria-hidden": "true" }, cell));
  };
  gap(first);
  const stop = rows.includes(state.active) ? state.active : rows.includes(state.sample) ? state.sample : rows[0];
  for (const i of rows.slice(first, last)) {
    const row = el("tr", { "data-i": i, class: i === state.sample ? "on" : null, onclick: () => go(i, true) });
    for (const [name, kind, get, side, written] of shown) {
      const value = get(i);
      if (name === "Sample" && !side) row.append(el("td", { class: `x ${kind}` }, opening(i, i === stop ? "0" : "-1")));
      else if (name === "Difference" && kind === "c4") row.append(el("td", { class: `n ${kind}` }, value === null ? "" : spark(value), " " + signed(value)));
      else row.append(el("td", { class: `${side ? "n" : "x"} ${kind}`, dir: side ? null : "auto", text: written(value, i) }));
    }
    body.append(row);
  }
  gap(rows.length - last);
  if (!rows.length) body.append(el("tr", {}, el("td", { colspan: shown.length }, "No sample matches. ", el("button", { type: "button", class: "link", text: "Show all", onclick: () => { clearAll(); $("scroll").focus({ preventScroll: true }); } }))));
  table.replaceChildren(el("thead", {}, head), body);
  table.setAttribute("aria-rowcount", String(rows.length + 1));
  if (held) held();
};
// What gives the focus back after the list was drawn again: to its row, its heading, or else the list.
const heldIn = (table) => {
  const focused = document.activeElement, row = table.contains(focused) && focused.closest("tr");
  if (!row) return null;
  const column = [...row.children].findIndex((cell) => cell.contains(focused));
  return () => ((row.dataset.i === undefined ? table.querySelectorAll("thead th button")[column] : table.querySelector(`tr[data-i="${row.dataset.i}"] a`)) || $("scroll")).focus({ preventScroll: true });
};
// Arrow keys walk over the rows; the row that is reached is drawn and has the focus.
walk($("scroll"), LIST, () => {
  const row = document.activeElement.closest("tr[data-i]");
  return row ? rows.indexOf(+row.dataset.i) : Math.floor($("scroll").scrollTop / ROW) - 1;
}, () => rows.length - 1, (at) => {
  const box = $("scroll"), seen = box.clientHeight - 2 * ROW;
  state.active = rows[at];
  if (at * ROW < box.scrollTop) box.scrollTop = at * ROW;
  else if (at * ROW > box.scrollTop + seen) box.scrollTop = at * ROW - seen;
  drawTable();
  const reached = box.querySelector(`tr[data-i="${state.active}"] a`);
  if (reached) reached.focus({ preventScroll: true });
});
let widest = 1;
const spark = (value) => {
  const size = (Math.abs(value) / widest) * 40;
  const kind = value === 0 ? "ft" : value * sign() > 0 ? "fb" : "fa";
  return svg("svg", { width: 84, height: 12, "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 42, x2: 42, y1: 0, y2: 12 }),
    svg("rect", { class: kind, x: value < 0 ? 42 - size : 42, y: 2, width: Math.max(size, 1), height: 8 }));
};
