// The list of samples: filtered, sorted, and drawn only where it is seen.

const ROW = 32;
let rows = [];
const columns = () => {
  const found = [["Sample", "c0", (i) => data.ids[i], ""], ["Text", "", (i) => input(i), ""]];
  if (!data.inputs) {
    found.pop();
    found[0][1] = "";
  }
  if (data.tags) found.push(["Tags", "c5", (i) => data.tags[i].join(", "), ""]);
  if (pairs) found.push([data.runs[0], "c3", (i) => valueOf(0, i), "n a"]);
  found.push([data.runs[state.run], "c3", (i) => valueOf(state.run, i), pairs ? "n b" : "n a"]);
  if (pairs) found.push(["Difference", "c4", amount, "n"]);
  if (data.unjudged) found.push(["Unjudged@10", "c5", (i) => { const share = data.unjudged[state.run][i]; return Number.isNaN(share) ? null : share; }, "n"]);
  return found;
};
const unjudgedShare = (run, i) => (Number.isNaN(data.unjudged[run][i]) ? DASH : `${+(data.unjudged[run][i] * 100).toFixed(0)} %`);
const filter = () => {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const inRange = state.range ? new Set(order.slice(state.range[0], state.range[1] + 1)) : null;
  const place = new Map(order.map((i, at) => [i, at]));
  rows = [];
  for (let i = 0; i < n; i++) {
    if (inRange && !inRange.has(i)) continue;
    if (state.show !== "all" && kindOf(i) !== state.show) continue;
    if (words.length) {
      const text = `${data.ids[i]} ${input(i)} ${data.tags ? data.tags[i].join(" ") : ""}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    rows.push(i);
  }
  const at = (i) => (place.has(i) ? place.get(i) : n);
  if (state.sort === null) rows.sort((x, y) => at(x) - at(y));
  else {
    const [column, falls] = state.sort;
    const get = columns()[column][2], way = falls ? -1 : 1;
    const plain = (value) => (value === null || value === undefined ? null : value);
    rows.sort((x, y) => {
      const one = plain(get(x)), other = plain(get(y));
      if (one === null || other === null) return (one === null) - (other === null) || x - y;
      return (typeof one === "string" ? way * one.localeCompare(other, "en", { numeric: true }) : way * (one - other)) || x - y;
    });
  }
  $("count").textContent = rows.length === n ? `${many(n)} samples` : `${many(rows.length)} of ${many(n)} samples`;
  $("clear").hidden = !state.range;
  $("scroll").scrollTop = 0;
  drawTable();
};
const drawTable = () => {
  const table = $("table"), box = $("scroll");
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
  const last = Math.min(rows.length, first + 40);
  const shown = columns();
  const head = el("tr");
  shown.forEach(([name, kind, , side], place) => {
    const on = state.sort ? state.sort[0] === place : pairs ? name === "Difference" : place === shown.length - (data.unjudged ? 2 : 1);
    const falls = state.sort ? state.sort[1] : sign() < 0;
    const button = el("button", { type: "button", text: on ? `${name} ${falls ? "\u2193" : "\u2191"}` : name, onclick: () => {
      state.sort = [place, state.sort && state.sort[0] === place ? !state.sort[1] : false];
      filter();
      const again = table.querySelectorAll("th button")[place];
      if (again) again.focus();
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
  for (const i of rows.slice(first, last)) {
    const row = el("tr", { "data-i": i, class: i === state.sample ? "on" : null, onclick: () => go(i) });
    for (const [name, kind, get, side] of shown) {
      const value = get(i);
      if (name === "Sample") row.append(el("td", { class: "x c0" }, opening(i)));
      else if (name === "Difference") row.append(el("td", { class: "n" }, value === null ? "" : spark(value), " " + signed(value)));
      else if (side) row.append(el("td", { class: `n ${kind}`, text: name !== "Unjudged@10" ? fixed(value) : value === null ? DASH : pairs ? `${unjudgedShare(0, i)} \u2192 ${unjudgedShare(state.run, i)}` : unjudgedShare(0, i) }));
      else row.append(el("td", { class: `x ${kind}`, text: value }));
    }
    body.append(row);
  }
  gap(rows.length - last);
  table.replaceChildren(el("thead", {}, head), body);
  table.setAttribute("aria-rowcount", String(rows.length + 1));
};
let widest = 1;
const spark = (value) => {
  const size = (Math.abs(value) / widest) * 40;
  const kind = value === 0 ? "ft" : value * sign() > 0 ? "fb" : "fa";
  return svg("svg", { width: 84, height: 12, "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 42, x2: 42, y1: 0, y2: 12 }),
    svg("rect", { class: kind, x: value < 0 ? 42 - size : 42, y: 2, width: Math.max(size, 1), height: 8 }));
};
