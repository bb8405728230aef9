// One bar for each sample, sorted; a range of them filters the table.

const HEIGHT = 232, TOP = 14, BOTTOM = 26;
const PRINTED = 680; // what a sheet of A4 or Letter has room for
let barScale = null, printing = false;
const drawBars = () => {
  const box = $("bars");
  const width = printing ? PRINTED : Math.max(240, box.clientWidth), left = 36, room = width - left;
  const values = order.map(amount);
  const range = data.metrics[state.metric].range;
  let low = Math.min(0, ...minmax(values)), high = Math.max(0, ...minmax(values));
  if (!pairs && range[1] !== null) high = Math.max(high, range[1]);
  if (high - low < 1e-9) high = low + 1;
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const x = (place) => left + (place / Math.max(1, order.length)) * room;
  const parts = [];
  const step = niceStep((high - low) / 4);
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) {
    const at = y(tick);
    parts.push(svg("line", { class: Math.abs(tick) < 1e-9 ? "axis" : "grid", x1: left, x2: width, y1: at, y2: at }));
    const label = Math.abs(tick) < 1e-9 ? "0" : (pairs ? signed : fixed)(tick, step < 0.1 ? 2 : 1);
    parts.push(svg("text", { class: "tick", x: left - 6, y: at + 4, "text-anchor": "end", text: label }));
  }
  if (state.range) {
    const [from, to] = state.range;
    parts.push(svg("rect", { class: "brush", x: x(from), y: TOP, width: Math.max(1, x(to + 1) - x(from)), height: HEIGHT - TOP - BOTTOM }));
  }
  const each = room / Math.max(1, order.length);
  const colour = (value) => (value === 0 ? "ft" : pairs ? (value * sign() > 0 ? "fb" : "fa") : "fa");
  if (order.length <= 30) {
    order.forEach((i, place) => {
      const at = x(place) + each / 2, value = amount(i);
      parts.push(svg("line", { class: "stem", x1: at, x2: at, y1: y(0), y2: y(value) }));
      parts.push(svg("circle", { class: colour(value), cx: at, cy: y(value), r: 5 }));
      if (each > 44) parts.push(svg("text", { class: "tick", x: at, y: HEIGHT - 8, "text-anchor": "middle", text: cutName(data.ids[i], Math.floor(each / 7)) }));
    });
  } else {
    // Bars of one colour are one path; where a pixel holds several samples it shows their extremes.
    const paths = { fa: "", fb: "", ft: "" };
    const bar = (at, size, from, to, kind) => {
      const top = Math.min(y(from), y(to)), tall = Math.max(Math.abs(y(to) - y(from)), kind === "ft" ? 3 : 1);
      paths[kind] += `M${at.toFixed(1)} ${(kind === "ft" ? y(0) - 1.5 : top).toFixed(1)}h${size.toFixed(1)}v${tall.toFixed(1)}h${(-size).toFixed(1)}z`;
    };
    if (each >= 1) order.forEach((i, place) => bar(x(place), Math.max(0.6, each - (each > 3 ? 1 : 0)), 0, amount(i), colour(amount(i))));
    else for (let pixel = 0; pixel < room; pixel++) {
      const from = Math.floor((pixel / room) * order.length), to = Math.max(from + 1, Math.floor(((pixel + 1) / room) * order.length));
      const [least, most] = minmax(values.slice(from, to));
      if (least < 0) bar(left + pixel, 1, 0, least, colour(least));
      if (most > 0) bar(left + pixel, 1, 0, most, colour(most));
      if (least === 0 && most === 0) bar(left + pixel, 1, 0, 0, "ft");
    }
    for (const [kind, path] of Object.entries(paths)) if (path) parts.push(svg("path", { class: kind, d: path }));
    if (order.length) {
      const first = order[0], last = order[order.length - 1];
      const below = amount(first) < 0;
      parts.push(svg("text", { class: "tick", x: left + (below ? each : 0) + 4, y: y(amount(first)) + (below ? 11 : -6), text: `${cutName(data.ids[first], 18)} ${(pairs ? signed : fixed)(amount(first))}` }));
      parts.push(svg("text", { class: "tick", x: width, y: Math.max(10, y(amount(last)) - 6), "text-anchor": "end", text: `${cutName(data.ids[last], 18)} ${(pairs ? signed : fixed)(amount(last))}` }));
    }
  }
  if (pairs) {
    const counts = { worse: 0, same: 0, better: 0 };
    order.forEach((i) => (counts[kindOf(i)] += 1));
    let at = left;
    for (const [word, kind] of [["worse", "a"], ["same", "t"], ["better", "b"]]) {
      const wide = (counts[word] / Math.max(1, order.length)) * room;
      if (wide > 60 && order.length > 30) parts.push(svg("text", { class: `lab ${kind}`, x: at + wide / 2, y: HEIGHT - 6, "text-anchor": "middle", text: `${many(counts[word])} ${word}` }));
      at += wide;
    }
  }
  if (order.length) {
    const at = x(Math.min(state.cursor, order.length - 1));
    parts.push(svg("rect", { class: "cur", x: at - 0.5, y: TOP, width: Math.max(2, each + 1), height: HEIGHT - TOP - BOTTOM }));
  }
  const picture = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" }, ...parts);
  box.replaceChildren(picture);
  barScale = (clientX) => {
    const inside = clientX - box.getBoundingClientRect().left - left;
    return Math.max(0, Math.min(order.length - 1, Math.floor((inside / room) * order.length)));
  };
  readout($("read"), box, state.cursor);
};
// What a view has under its cursor, in one line above it.
const readout = (line, box, cursor) => {
  const i = order[cursor];
  line.replaceChildren();
  if (i === undefined) return;
  line.append(el("b", { text: data.ids[i], dir: "auto" }), " ");
  if (pairs) {
    const kind = kindOf(i);
    line.append(el("b", { class: kind === "better" ? "b" : kind === "worse" ? "a" : "dim", text: signed(amount(i)) }));
    line.append(el("span", { class: "dim", text: `  ${fixed(valueOf(0, i))} \u2192 ${fixed(valueOf(state.run, i))}  ` }));
  } else line.append(el("b", { class: "a", text: fixed(amount(i)) }), " ");
  line.append(el("span", { text: input(i).split("\n")[0], dir: "auto" }));
  slide(box, order.length, cursor, line.textContent);
};
