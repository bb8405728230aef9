"use strict";
// The views that follow the chosen metric, run and sample. Texts reach the page by textContent only; data never run.
(async () => {
  const $ = (id) => document.getElementById(id);
  const el = (name, props = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(props)) {
      if (value === null || value === undefined) continue;
      if (key === "text") node.textContent = value;
      else if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  };
  const svg = (name, props = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(props)) {
      if (key === "text") node.textContent = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };

  // Numbers, as the static part writes them.
  const MINUS = "\u2212", DASH = "\u2013";
  const fixed = (value, decimals = 3) => (value === null || value === undefined ? DASH : value.toFixed(decimals).replace("-", MINUS));
  const signed = (value, decimals = 3) => {
    if (value === null || value === undefined) return DASH;
    const text = fixed(value, decimals);
    return value > 0 ? "+" + text : text;
  };
  const many = (count) => count.toLocaleString("en-US");

  // Parts rounded so that they add up to their rounded sum: the largest remainders are rounded up.
  const addUp = (parts, total) => {
    const units = parts.map((part) => part * 1000);
    const floors = units.map(Math.floor);
    let left = Math.round(total * 1000) - floors.reduce((sum, each) => sum + each, 0);
    const order = units.map((unit, i) => [unit - floors[i], i]).sort((x, y) => y[0] - x[0]);
    for (const [, i] of order) if (left-- > 0) floors[i] += 1;
    return floors.map((unit) => unit / 1000);
  };

  const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const n = data.ids.length, pairs = data.runs.length > 1;
  if (!data.metrics.length || !n || !$("bars")) return;

  const state = { metric: 0, run: pairs ? 1 : 0, sample: -1, show: "all", words: "", sort: null, range: null, cursor: 0 };
  const TIED = 1e-9;
  const valueOf = (run, i, metric = state.metric) => data.values[run][metric][i];
  const sign = () => (data.metrics[state.metric].higher ? 1 : -1);
  // What is sorted: the difference to the baseline, or the score of the only run. Null where a score is missing.
  const amount = (i) => {
    const own = valueOf(state.run, i);
    if (!pairs) return own;
    const base = valueOf(0, i);
    return own === null || base === null ? null : Math.abs(own - base) < TIED ? 0 : own - base;
  };
  const kindOf = (i) => {
    const value = amount(i);
    return value === null ? "none" : value === 0 ? "same" : value * sign() > 0 ? "better" : "worse";
  };
  const input = (i) => (data.inputs && data.inputs[i] !== null ? data.texts[data.inputs[i]] : "");
  const detail = (i) => data.details[String(i)] || null;

  let order = [];
  const sorted = () => {
    order = [];
    for (let i = 0; i < n; i++) if (amount(i) !== null) order.push(i);
    order.sort((x, y) => sign() * (amount(x) - amount(y)) || x - y);
  };

  // ---- bars ------------------------------------------------------------------------------------------------------
  const HEIGHT = 232, TOP = 14, BOTTOM = 26;
  let barScale = null;
  const drawBars = () => {
    const box = $("bars");
    const width = Math.max(320, box.clientWidth), left = 36, room = width - left;
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
        if (each > 44) parts.push(svg("text", { class: "tick", x: at, y: HEIGHT - 8, "text-anchor": "middle", text: cut(data.ids[i], Math.floor(each / 7)) }));
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
        parts.push(svg("text", { class: "tick", x: left + (below ? each : 0) + 4, y: y(amount(first)) + (below ? 0 : -6), text: `${cut(data.ids[first], 18)} ${(pairs ? signed : fixed)(amount(first))}` }));
        parts.push(svg("text", { class: "tick", x: width, y: Math.max(10, y(amount(last)) - 6), "text-anchor": "end", text: `${cut(data.ids[last], 18)} ${(pairs ? signed : fixed)(amount(last))}` }));
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
    box.setAttribute("aria-valuemax", String(Math.max(1, order.length)));
    box.setAttribute("aria-valuenow", String(state.cursor + 1));
    readout();
  };
  const minmax = (values) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    return values.length ? [low, high] : [0, 0];
  };
  const niceStep = (raw) => {
    const base = 10 ** Math.floor(Math.log10(raw));
    return base * ([1, 2, 5, 10].find((factor) => base * factor >= raw) || 10);
  };
  const cut = (text, most) => (text.length <= most ? text : text.slice(0, Math.max(1, most - 1)) + "\u2026");
  const readout = () => {
    const i = order[state.cursor], line = $("read");
    line.replaceChildren();
    if (i === undefined) return;
    line.append(el("b", { text: data.ids[i] }), " ");
    if (pairs) {
      const kind = kindOf(i);
      line.append(el("b", { class: kind === "better" ? "b" : kind === "worse" ? "a" : "dim", text: signed(amount(i)) }));
      line.append(el("span", { class: "dim", text: `  ${fixed(valueOf(0, i))} \u2192 ${fixed(valueOf(state.run, i))}  ` }));
    } else line.append(el("b", { class: "a", text: fixed(amount(i)) }), " ");
    line.append(input(i).split("\n")[0]);
    $("bars").setAttribute("aria-valuetext", line.textContent);
  };

  // ---- table -----------------------------------------------------------------------------------------------------
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
    if (data.unjudged) found.push(["Unjudged@10", "c5", (i) => data.unjudged[state.run][i], "n"]);
    return found;
  };
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
      head.append(el("th", { scope: "col", class: `${kind} ${side}`, "aria-sort": on ? (falls ? "descending" : "ascending") : null }, button));
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
      for (const [name, , get, side] of shown) {
        const value = get(i);
        if (name === "Sample") row.append(el("td", { class: "x" }, el("a", { href: link(i), text: value, onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(i, true); } })));
        else if (name === "Difference") row.append(el("td", { class: "n" }, value === null ? "" : spark(value), " " + signed(value)));
        else if (side) row.append(el("td", { class: "n", text: name === "Unjudged@10" && value !== null ? `${Math.round(value * 100)} %` : fixed(value) }));
        else row.append(el("td", { class: "x", text: value }));
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

  // ---- one sample ------------------------------------------------------------------------------------------------
  const glyph = (grade, relevant) => {
    const picture = svg("svg", { class: "gl", width: 11, height: 11, "aria-hidden": "true" });
    if (relevant) picture.append(svg("rect", { class: "glr", x: 1, y: 1, width: 9, height: 9 }));
    else if (grade !== null) picture.append(svg("rect", { class: "gln", x: 1.5, y: 1.5, width: 8, height: 8 }), svg("path", { class: "gln", d: "M1.5 9.5l8-8" }));
    else picture.append(svg("circle", { class: "glu", cx: 5.5, cy: 5.5, r: 4 }));
    const word = relevant ? `grade ${+grade.toPrecision(3)}` : grade !== null ? "judged not" : "unjudged";
    return [picture, el("span", { class: "w", text: word })];
  };
  const marked = (text, matched) => {
    const at = matched ? text.indexOf(matched) : -1;
    if (at < 0) return [document.createTextNode(text)];
    const from = Math.max(0, at - 60);
    return [document.createTextNode((from ? "\u2026" : "") + text.slice(from, at)), el("mark", { text: matched }), document.createTextNode(text.slice(at + matched.length))];
  };
  const SHOWN = 10;
  const ranked = (run, own, kind) => {
    const facts = own.metrics[state.metric], depth = facts && facts.k ? Math.min(facts.k, 20) : SHOWN;
    const relevant = new Set(facts ? facts.relevant : []);
    const list = own.ranks.filter((rank) => rank[0] <= depth);
    const listed = list.map((rank) => rank[0]);
    const all = facts && facts.adds ? Object.entries(facts.adds).map(([rank, add]) => [+rank, add]) : null;
    const rest = all ? all.filter(([rank]) => !listed.includes(rank)) : [];
    const total = all ? all.reduce((sum, [, add]) => sum + add, 0) : null;
    const rounded = all ? addUp([...all.map(([, add]) => add)], total) : [];
    const adds = new Map(all ? all.map(([rank], place) => [rank, rounded[place]]) : []);
    const body = el("tbody");
    for (const [rank, id, grade, , text, matched] of list) {
      const words = text === null ? "" : data.texts[text];
      const title = id === null ? words.split("\n")[0] || "(no id)" : id;
      const cell = el("td", {}, el("span", { class: "t1", text: title }));
      if (words) cell.append(el("span", { class: "t2" }, ...marked(words, matched)));
      body.append(el("tr", { class: relevant.has(rank) ? "rel" : null, onclick: (event) => event.currentTarget.classList.toggle("open") },
        el("td", { class: "k", text: rank }), el("td", { class: "j" }, ...glyph(grade, relevant.has(rank))), cell,
        el("td", { class: "s n", text: all ? (adds.has(rank) ? fixed(adds.get(rank)) : "0") : "" })));
    }
    if (!list.length) body.append(el("tr", {}, el("td", { colspan: 4, text: facts && facts.reason ? facts.reason : "nothing was retrieved" })));
    const foot = el("tfoot");
    if (rest.length) foot.append(el("tr", {}, el("td", { colspan: 3, text: `${rest.length} below rank ${depth}` }), el("td", { class: "n", text: fixed(rest.reduce((sum, [rank]) => sum + adds.get(rank), 0)) })));
    foot.append(el("tr", {}, el("td", { colspan: 3, text: data.metrics[state.metric].name }), el("td", { class: "n", text: fixed(valueOf(run, state.sample)) })));
    return el("table", { class: "rank" }, el("caption", { class: kind, text: data.runs[run] }),
      el("thead", {}, el("tr", {}, el("th", { class: "k", text: "#", scope: "col" }), el("th", { class: "j", text: "judgment", scope: "col" }), el("th", { text: "document and matched text", scope: "col" }), el("th", { class: "s n", text: all ? "adds" : "", scope: "col" }))), body, foot);
  };
  const gutter = (one, other) => {
    const facts = other.metrics[state.metric], most = facts && facts.k ? Math.min(facts.k, 20) : SHOWN;
    const within = (own) => own.ranks.filter((rank) => rank[0] <= most).length;
    const depth = Math.max(within(one), within(other));
    const relevant = new Set([...(one.metrics[state.metric] ? one.ranks.filter((rank) => one.metrics[state.metric].relevant.includes(rank[0])).map((rank) => rank[1]) : []),
      ...(facts ? other.ranks.filter((rank) => facts.relevant.includes(rank[0])).map((rank) => rank[1]) : [])]);
    const here = new Map(one.ranks.filter((rank) => rank[1] !== null).map((rank) => [rank[1], rank[0]]));
    const there = new Map(other.ranks.filter((rank) => rank[1] !== null).map((rank) => [rank[1], rank[0]]));
    const width = 136, head = 49, y = (rank) => head + (rank - 0.5) * 45, tall = head + depth * 45;
    const lines = [], labels = [];
    for (const [id, rank] of here) {
      const to = there.get(id);
      if (rank > depth && (to === undefined || to > depth)) continue;
      const kind = relevant.has(id) ? (to !== undefined && to < rank ? "ju" : to === rank ? "js" : "jd") : "";
      if (rank <= depth && to !== undefined && to <= depth)
        (kind ? lines.push.bind(lines) : lines.unshift.bind(lines))(svg("path", { class: `join ${kind}`, d: `M0 ${y(rank)}H38C68 ${y(rank)} 68 ${y(to)} 98 ${y(to)}H${width}` }));
      else if (rank <= depth) labels.push(svg("text", { class: kind === "jd" ? "a" : "tick", x: 8, y: y(rank) + 4, text: `\u2192 ${to === undefined ? "not listed" : to}` }));
      else labels.push(svg("text", { class: kind === "ju" ? "b" : "tick", x: width - 8, y: y(to) + 4, "text-anchor": "end", text: `${rank} \u2192` }));
    }
    for (const [id, rank] of there) if (rank <= depth && !here.has(id)) labels.push(svg("text", { class: relevant.has(id) ? "b" : "tick", x: width - 8, y: y(rank) + 4, "text-anchor": "end", text: "new \u2192" }));
    return svg("svg", { class: "gut", width: "100%", height: tall, viewBox: `0 0 ${width} ${tall}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines, ...labels);
  };
  const missingTable = (run, facts, kind) => {
    const box = el("div", {}, el("h3", {}, `Relevant, but not in ${data.runs[run]}${facts.k ? `'s top ${facts.k}` : ""}: ${many(facts.n_missing)}`));
    if (!facts.missing.length) return box;
    const body = el("tbody");
    for (const [id, grade, rank, ideal] of facts.missing.slice(0, 7))
      body.append(el("tr", {}, el("td", { text: +grade.toPrecision(3) }), el("td", { class: "x", text: id, title: id }), el("td", { class: `n ${kind}`, text: rank === null ? "not found" : rank }), el("td", { class: "n", text: ideal })));
    box.append(el("table", { class: "data mini" }, el("thead", {}, el("tr", {}, el("th", { text: "Grade", scope: "col" }), el("th", { text: "Item", scope: "col" }), el("th", { class: "n", text: "Rank", scope: "col" }), el("th", { class: "n", text: "Ideal rank", scope: "col" }))), body));
    if (facts.n_missing > 7) box.append(el("p", { class: "dim", text: `${many(facts.n_missing - 7)} more` }));
    return box;
  };
  const drawOne = () => {
    const i = state.sample, lists = $("lists"), sums = $("sums");
    lists.replaceChildren();
    sums.replaceChildren();
    if (i < 0) return;
    const question = input(i);
    $("one-h").textContent = question ? `${data.ids[i]}: ${question}` : data.ids[i];
    const sub = $("one-sub");
    sub.replaceChildren(`${data.metrics[state.metric].name} `);
    if (pairs) {
      const kind = kindOf(i);
      sub.append(el("span", { class: "a num", text: fixed(valueOf(0, i)) }), " \u2192 ", el("span", { class: "b num", text: fixed(valueOf(state.run, i)) }), " ", el("b", { class: kind === "better" ? "b" : kind === "worse" ? "a" : "dim", text: signed(amount(i)) }));
    } else sub.append(el("b", { class: "a num", text: fixed(valueOf(0, i)) }));
    if (data.tags && data.tags[i].length) sub.append(el("span", { class: "dim", text: `   ${data.tags[i].join(", ")}` }));
    const own = detail(i);
    const one = own && own[0], other = own && pairs ? own[state.run] : null;
    if (!one || (pairs && !other)) {
      lists.append(el("p", { class: "how", text: "The ranked lists of this sample are not in this file: it holds those that are worst or changed most. `rankgauge explain` shows any sample." }));
      return;
    }
    const grid = el("div", { class: pairs ? "pair" : "" }, ranked(0, one, "a"));
    if (pairs) grid.append(el("div", {}, gutter(one, other)), ranked(state.run, other, "b"));
    lists.append(grid);
    const lower = el("div", { class: "lower" });
    const arithmetic = el("div", {}, el("h3", { text: "Arithmetic" }));
    for (const [run, each, kind] of [[0, one, "a"], ...(pairs ? [[state.run, other, "b"]] : [])]) {
      const facts = each.metrics[state.metric];
      arithmetic.append(el("p", { class: "math" }, el("b", { class: kind, text: `${data.runs[run]}  ` }), facts && facts.arithmetic ? facts.arithmetic : "this score is no sum over ranks"));
    }
    lower.append(arithmetic);
    const last = pairs ? other : one, facts = last.metrics[state.metric];
    if (facts) lower.append(missingTable(pairs ? state.run : 0, facts, pairs ? "b" : "a"));
    sums.append(lower);
  };

  // ---- scatter ---------------------------------------------------------------------------------------------------
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
    const parts = [svg("line", { class: "axis", x1: px(low), y1: py(low), x2: px(high), y2: py(high) }),
      svg("line", { class: "axis", x1: left, x2: left + room, y1: py(low), y2: py(low) }), svg("line", { class: "axis", x1: left, x2: left, y1: py(low), y2: py(high) })];
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const value = low + share * (high - low), label = String(+value.toPrecision(3));
      parts.push(svg("text", { class: "tick", x: px(value), y: py(low) + 16, "text-anchor": "middle", text: label }));
      if (share) parts.push(svg("text", { class: "tick", x: left - 6, y: py(value) + 4, "text-anchor": "end", text: label }));
    }
    if (points.length <= 2000) {
      for (const [i, x, y] of points) {
        const kind = kindOf(i) === "better" ? "fb" : kindOf(i) === "worse" ? "fa" : "ft";
        parts.push(svg("circle", { class: `pt ${kind}${i === state.sample ? " on" : ""}`, cx: px(x), cy: py(y), r: 3.5, onclick: () => go(i, true) }));
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
      const text = cut(data.ids[i], 14), wide = 7 * text.length, x = px(valueOf(0, i)) + 8, y = py(valueOf(state.run, i)) - 6;
      const own = [x, y - 11, x + wide, y + 2];
      if (own[2] > left + room || own[1] < 0 || boxes.some((each) => own[0] < each[2] && own[2] > each[0] && own[1] < each[3] && own[3] > each[1])) continue;
      boxes.push(own);
      parts.push(svg("text", { class: kindOf(i) === "better" ? "b" : "a", x, y, text }));
      named += 1;
    }
    parts.push(svg("text", { class: "lab b", x: left + 8, y: 20, text: `${cut(data.runs[state.run], 20)} ${sign() > 0 ? "better" : "worse"}` }));
    parts.push(svg("text", { class: "lab a", x: left + room, y: py(low) - 8, "text-anchor": "end", text: `${cut(data.runs[0], 20)} ${sign() > 0 ? "better" : "worse"}` }));
    const name = data.metrics[state.metric].name;
    box.replaceChildren(svg("svg", { class: "fig", width: size, height: size - 4, viewBox: `0 0 ${size} ${size - 4}`, role: "img", "aria-label": `${name} of each sample in both runs` }, ...parts));
    $("above").textContent = data.runs[state.run];
  };

  // ---- choosing --------------------------------------------------------------------------------------------------
  const link = (i) => `#sample=${encodeURIComponent(data.ids[i])}&metric=${encodeURIComponent(data.metrics[state.metric].name)}${pairs && data.runs.length > 2 ? `&run=${encodeURIComponent(data.runs[state.run])}` : ""}`;
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
      $("samples-h").textContent = `${words}: ${data.runs[run]} is better on ${many(counts.better)} samples, worse on ${many(counts.worse)}, the same on ${many(counts.same)}`;
    } else $("samples-h").textContent = `${words} of ${many(order.length)} samples`;
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
  addEventListener("resize", () => drawBars());
  addEventListener("hashchange", fromLink);
  const asked = location.hash;
  choose(0);
  if (asked) {
    history.replaceState(null, "", asked);
    fromLink();
  }
  document.documentElement.dataset.ready = "yes";
})();
