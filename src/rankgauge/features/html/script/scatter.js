// Both scores of each sample.

let scatterAt = null;
const drawScatter = () => {
  const box = $("plot");
  if (!box) return;
  const size = 420, left = 34, bottom = 30, room = size - left - 14;
  const range = data.metrics[state.metric].range;
  const points = order.map((i) => [i, valueOf(0, i), valueOf(state.run, i)]);
  let [low, high] = minmax(points.flatMap(([, x, y]) => [x, y]));
  low = range[0] !== null ? range[0] : low;
  high = range[1] !== null ? range[1] : high;
  if (high - low < 1e-9) high = low + 1;
  const px = (value) => left + ((value - low) / (high - low)) * room, py = (value) => 10 + (1 - (value - low) / (high - low)) * room;
  const name = metricNames[state.metric], onTop = sign() > 0;
  const parts = [svg("line", { class: "axis", x1: px(low), y1: py(low), x2: px(high), y2: py(high) }),
    svg("line", { class: "axis", x1: left, x2: left + room, y1: py(low), y2: py(low) }), svg("line", { class: "axis", x1: left, x2: left, y1: py(low), y2: py(high) })];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = low + share * (high - low), label = String(+value.toPrecision(3));
    parts.push(svg("text", { class: "tick", x: px(value), y: py(low) + 16, "text-anchor": "middle", text: label }));
    if (share) parts.push(svg("text", { class: "tick", x: left - 6, y: py(value) + 4, "text-anchor": "end", text: label }));
  }
  scatterAt = (i) => [px(valueOf(0, i)), py(valueOf(state.run, i))];
  if (points.length <= 2000) {
    // Samples with the same scores are one point, as large as they are many.
    const groups = new Map();
    for (const [i, x, y] of points) {
      const key = `${px(x).toFixed(1)} ${py(y).toFixed(1)}`;
      groups.set(key, [...(groups.get(key) || []), i]);
    }
    for (const [key, held] of [...groups].sort(([, one], [, other]) => other.length - one.length)) {
      const [x, y] = key.split(" "), kind = kindOf(held[0]) === "better" ? "fb" : kindOf(held[0]) === "worse" ? "fa" : "ft";
      const radius = Math.min(26, 3.5 * Math.sqrt(held.length)), open = () => go(held.includes(state.sample) ? state.sample : held[0], true);
      const point = svg("circle", { class: `pt ${kind}${held.includes(state.sample) ? " on" : ""}`, cx: x, cy: y, r: radius.toFixed(1), onclick: open, onpointerenter: () => pointAt(order.indexOf(held[0]), held.length) },
        svg("title", { text: held.length > 1 ? `${counted(held.length, "sample")} with these scores: ${held.slice(0, 5).map(nameOf).join(", ")}${held.length > 5 ? ", \u2026" : ""}` : `${nameOf(held[0])} ${cut(input(held[0]), 80)}` }));
      parts.push(point);
      if (held.length > 2) parts.push(svg("text", { class: "in", x, y: +y + 4, "text-anchor": "middle", text: many(held.length) }));
    }
  } else {
    // One path a colour: thousands of circles would be slow.
    const paths = { fa: "", fb: "", ft: "" };
    for (const [i, x, y] of points) paths[kindOf(i) === "better" ? "fb" : kindOf(i) === "worse" ? "fa" : "ft"] += `M${(px(x) - 1).toFixed(1)} ${(py(y) - 1).toFixed(1)}h2v2h-2z`;
    for (const [kind, path] of Object.entries(paths)) if (path) parts.push(svg("path", { class: kind, d: path, "fill-opacity": 0.25 }));
  }
  const boxes = points.length <= 2000 ? points.map(([, x, y]) => [px(x) - 5, py(y) - 5, px(x) + 5, py(y) + 5]) : [];
  let named = 0;
  for (const i of [...order.slice(0, 6), ...order.slice(-6)]) {
    if (named >= (order.length <= 30 ? 30 : 8) || points.length > 2000 || kindOf(i) === "same") continue;
    const text = cutName(data.ids[i], 14), wide = 7 * text.length, x = px(valueOf(0, i)) + 8, y = py(valueOf(state.run, i)) - 6;
    const own = [x, y - 11, x + wide, y + 2];
    if (own[2] > left + room || own[1] < 0 || boxes.some((each) => own[0] < each[2] && own[2] > each[0] && own[1] < each[3] && own[3] > each[1])) continue;
    boxes.push(own);
    parts.push(svg("text", { class: kindOf(i) === "better" ? "b" : "a", x, y, text }));
    named += 1;
  }
  parts.push(svg("text", { class: `lab ${onTop ? "b" : "a"}`, x: left + 8, y: 20, text: `${cutName(data.runs[onTop ? state.run : 0], 20)} better` }));
  parts.push(svg("text", { class: `lab ${onTop ? "a" : "b"}`, x: left + room, y: py(low) - 8, "text-anchor": "end", text: `${cutName(data.runs[onTop ? 0 : state.run], 20)} better` }));
  parts.push(svg("text", { class: "lab a", x: left + room, y: py(low) + 34, "text-anchor": "end", text: `${cutName(data.metrics[state.metric].name, 20)} with ${cutName(data.runs[0], 20)}` }));
  parts.push(svg("text", { class: "lab b", x: 0, y: -8, text: `${cutName(data.metrics[state.metric].name, 20)} with ${cutName(data.runs[state.run], 20)}` }));
  parts.push(svg("circle", { class: "ring", r: 8 }));
  box.replaceChildren(svg("svg", { class: "fig", width: size, height: size + 16, viewBox: `0 -20 ${size} ${size + 36}`, role: "img", "aria-label": `${name} of each sample in both runs` }, ...parts));
  drawFar();
  const [over, under] = [el("b", { class: onTop ? "b" : "a", text: onTop ? "Above" : "Below" }), runNames[state.run]];
  $("above").replaceChildren(over, " the diagonal ", el("b", { class: "b", text: under }), ` is better${onTop ? "" : `: of ${name} less is better`}. Click a point to open its sample. Keys: \u2190 \u2192 walk over the samples, Enter opens one.`);
  pointAt(state.cursor);
};
// The sample under the pointer or the keys, in words and in the plot.
let pointed = 0;
const pointAt = (at, count = 1) => {
  const box = $("plot"), i = order[at];
  if (!box || i === undefined) return;
  pointed = at;
  readout($("pointed"), box, at);
  if (count > 1) $("pointed").prepend(`${counted(count, "sample")} with these scores, the first is `);
  const ring = box.querySelector(".ring"), [x, y] = scatterAt(i);
  ring.setAttribute("cx", x);
  ring.setAttribute("cy", y);
};

// The samples furthest from the diagonal by name, where there is room beside the points.
const drawFar = () => {
  if (!$("far")) return;
  const table = (kind, from) => {
    const all = from.filter((i) => kindOf(i) === kind), rows = all.slice(0, FAR);
    if (!rows.length) return "";
    const shown = small(`${kind === "worse" ? "Lost" : "Won"} most: ${many(rows.length)} of ${many(all.length)}`, [["Sample", "x"], [runNames[0], "n a"], [runNames[state.run], "n b"], ["Difference", "n"]],
      rows.map((i) => [["", "x"], [fixed(valueOf(0, i)), "n"], [fixed(valueOf(state.run, i)), "n"], [signed(amount(i)), kind === "better" ? "n b" : "n a"]]), []);
    shown.querySelectorAll("tbody td.x").forEach((cell, place) => cell.append(opening(rows[place])));
    return shown;
  };
  $("far").replaceChildren(table("worse", order), table("better", [...order].reverse()));
};
if ($("plot")) walk($("plot"), SLIDER, () => pointed, () => order.length - 1, (at) => pointAt(at), { Enter: () => order.length && go(order[pointed], true) });
