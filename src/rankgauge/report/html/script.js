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

  // ---- data: as `packing.py` and `lists.py` write it ---------------------------------------------------------------
  const unpack = async (text) => {
    const letters = atob(text), packed = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) packed[at] = letters.charCodeAt(at);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const end = 4 + new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
    const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
    let at = end;
    const places = header.columns.map(([kind, length]) => {
      const begin = at;
      at += kind === "text" ? length : length * kinds[kind].BYTES_PER_ELEMENT;
      return begin;
    });
    const texts = (number) => {
      const [, length] = header.columns[number];
      return length ? new TextDecoder().decode(bytes.subarray(places[number], places[number] + length)).split("\0") : [];
    };
    const numbers = (number) => {
      const [kind, length] = header.columns[number], size = kinds[kind].BYTES_PER_ELEMENT;
      const own = new Uint8Array(length * size), begin = places[number];
      for (let byte = 0; byte < size; byte++) for (let i = 0; i < length; i++) own[i * size + byte] = bytes[begin + byte * length + i];
      return new kinds[kind](own.buffer);
    };
    const floats = ([number, table]) => {
      const codes = numbers(number);
      if (table === undefined) return codes;
      const known = numbers(table);
      return Float64Array.from(codes, (code) => known[code]);
    };
    return { header, texts, numbers, floats };
  };
  const { header: data, texts, numbers, floats } = await unpack($("data").textContent);
  const lazy = (make) => {
    let made = null;
    return () => (made === null ? (made = make()) : made);
  };
  const starts = (counts) => {
    const found = new Uint32Array(counts.length + 1);
    for (let i = 0; i < counts.length; i++) found[i + 1] = found[i] + counts[i];
    return found;
  };
  data.ids = texts(data.ids);
  data.values = data.values.map((run) => run.map(floats));
  data.texts = lazy(texts.bind(null, data.texts));
  data.inputs = data.inputs === null ? null : numbers(data.inputs);
  data.tags = data.tags === null ? null : texts(data.tags).map((own) => (own ? own.split("\n") : []));
  data.unjudged = data.unjudged === null ? null : data.unjudged.map(floats);
  data.reasons = data.reasons.map((own) => own && { texts: own.texts, which: numbers(own.which) });
  data.sets = data.sets.map((set) => lazy(() => ({
    names: texts(set.names),
    first: starts(numbers(set.named)),
    gold: { first: starts(numbers(set.gold.count)), grade: floats(set.gold.grade), item: set.gold.item === undefined ? null : numbers(set.gold.item), text: set.gold.text === undefined ? null : numbers(set.gold.text) },
    runs: set.runs.map((run) => run && {
      listed: run.listed === null ? null : numbers(run.listed), first: starts(numbers(run.count)), item: numbers(run.item), depth: numbers(run.depth),
      text: run.text === null ? null : numbers(run.text), from: run.from === null ? null : numbers(run.from), length: run.length === null ? null : numbers(run.length),
      rows: starts(numbers(run.rows)), rank: numbers(run.rank), gold: numbers(run.gold),
    }),
  })));
  data.facts = data.facts.map((run) => run.map((own) => own && lazy(() => ({
    ...own, k: own.ks ? numbers(own.k) : own.k, least: own.least === null ? Infinity : own.least,
    gain: floats(own.gain), discount: floats(own.discount), divisor: floats(own.divisor),
  }))));
  const n = data.ids.length, pairs = data.runs.length > 1;
  if (!data.metrics.length || !n || !$("bars")) return;

  const state = { metric: 0, run: pairs ? 1 : 0, sample: -1, show: "all", words: "", sort: null, range: null, cursor: 0 };
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
  const textAt = (place) => (place ? data.texts()[place - 1] : "");
  const input = (i) => (data.inputs ? textAt(data.inputs[i]) : "");

  // One sample of one run under the chosen metric: what its ranks hold and add, and what is missing. Null where the
  // file does not have it.
  const detail = (run, i) => {
    const facts = data.facts[run][state.metric] && data.facts[run][state.metric]();
    if (!facts) return null;
    const set = data.sets[facts.set](), own = set.runs[run];
    if (!own || (own.listed && !own.listed[i])) return null;
    const gold = [];
    for (let at = set.gold.first[i]; at < set.gold.first[i + 1]; at++) {
      const name = set.gold.item ? set.names[set.first[i] + set.gold.item[at]] : textAt(set.gold.text[at]) || "(its text is not in this file)";
      gold.push({ name, code: set.gold.item ? set.gold.item[at] : -1, grade: set.gold.grade[at], relevant: set.gold.grade[at] >= facts.least, ideal: gold.length + 1, rank: null });
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
      const id = code < 0 ? "" : set.names[set.first[i] + code];
      const text = place !== null && own.text ? textAt(own.text[place]) : "";
      const mark = text && own.length[place] ? [own.from[place], own.from[place] + own.length[place]] : null;
      return { rank, key: code, id: id || null, text, mark, ...here, relevant: here.relevant && counts, adds: isSum && divisor ? (here.gain * here.discount) / divisor : 0 };
    };
    for (let place = own.first[i]; place < own.first[i + 1]; place++) ranks.push(rankOf(place - own.first[i] + 1, place));
    for (const rank of [...held.keys()].sort((x, y) => x - y)) if (rank > ranks.length) ranks.push(rankOf(rank, null));
    const missing = gold.filter((item) => item.relevant && (item.rank === null || (k !== null && item.rank > k)));
    return { ranks, gold, missing, k, isSum, divisor, unit: facts.unit, depth: own.depth[i], listed: own.first[i + 1] - own.first[i] };
  };

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
    if (data.unjudged) found.push(["Unjudged@10", "c5", (i) => { const share = data.unjudged[state.run][i]; return Number.isNaN(share) ? null : share; }, "n"]);
    return found;
  };
  const outOfTen = (run, i) => (Number.isNaN(data.unjudged[run][i]) ? DASH : String(+(data.unjudged[run][i] * 10).toFixed(1)));
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
      for (const [name, kind, get, side] of shown) {
        const value = get(i);
        if (name === "Sample") row.append(el("td", { class: "x c0" }, el("a", { href: link(i), text: value, onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(i, true); } })));
        else if (name === "Difference") row.append(el("td", { class: "n" }, value === null ? "" : spark(value), " " + signed(value)));
        else if (side) row.append(el("td", { class: `n ${kind}`, text: name !== "Unjudged@10" ? fixed(value) : value === null ? DASH : pairs ? `${outOfTen(0, i)} \u2192 ${outOfTen(state.run, i)}` : outOfTen(0, i) }));
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

  // ---- one sample ------------------------------------------------------------------------------------------------
  const SHOWN = 10, LISTED = 20, MOVED = 6, MISSING = 7;
  const gradeOf = (grade) => String(+grade.toPrecision(3)).replace("-", MINUS);
  const glyph = (here) => {
    const picture = svg("svg", { class: "gl", width: 11, height: 11, "aria-hidden": "true" });
    if (here.relevant) picture.append(svg("rect", { class: "glr", x: 1, y: 1, width: 9, height: 9 }));
    else if (here.grade !== null) picture.append(svg("rect", { class: "gln", x: 1.5, y: 1.5, width: 8, height: 8 }), svg("path", { class: "gln", d: "M1.5 9.5l8-8" }));
    else picture.append(svg("circle", { class: "glu", cx: 5.5, cy: 5.5, r: 4 }));
    const word = here.relevant ? `grade ${gradeOf(here.grade)}` : here.grade !== null ? "judged not" : "unjudged";
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
  // A title, and below it the id with a part of the text near what matched; a click shows all of the text.
  const itemCell = (here) => {
    if (!here.text) return el("td", {}, el("span", { class: "t1", title: here.id, text: here.id === null ? "(no id)" : here.id }));
    const text = here.text, ranges = here.mark ? [here.mark] : wordsIn(text);
    const line = text.indexOf("\n") < 0 ? text.length : text.indexOf("\n");
    const later = ranges.find(([from]) => from >= Math.min(line, 50)), near = later ? text.lastIndexOf(" ", Math.max(0, later[0] - 20)) + 1 : 0;
    const begin = line < text.length ? Math.max(line + 1, near) : later ? near : text.indexOf(" ", Math.min(line, 50)) + 1 || text.length;
    const rest = begin < text.length ? [begin > line + 1 || (line === text.length && begin) ? "\u2026 " : "", ...underlined(text, ranges, begin, Math.min(text.length, begin + 160))] : [];
    const name = here.id === null ? [] : [here.id, ...(rest.length ? [" \u00b7 "] : [])];
    const button = el("button", { type: "button", class: "t1", "aria-expanded": "false" }, ...underlined(text, ranges, 0, Math.min(line, 200)));
    const full = el("span", { class: "full", hidden: "" }, ...(here.id === null ? [] : [`${here.id}\n`]), ...underlined(text, ranges, 0, text.length));
    const cell = el("td", {}, button, el("span", { class: "t2" }, ...name, ...rest), full);
    button.addEventListener("click", () => {
      full.hidden = !full.hidden;
      button.setAttribute("aria-expanded", String(!full.hidden));
      drawJoins();
    });
    return cell;
  };
  const depthOf = (own) => (own.k === null ? SHOWN : Math.min(own.k, LISTED));
  const table = (name, kind, last, rows, foot) => el("table", { class: "rank" }, el("caption", { class: kind, text: name }),
    el("thead", {}, el("tr", {}, el("th", { class: "k", text: "#", scope: "col" }), el("th", { class: "j", text: "judgment", scope: "col" }), el("th", { text: data.texts().length ? "document and matched text" : "document", scope: "col" }), el("th", { class: "s n", text: last, scope: "col" }))),
    el("tbody", {}, ...rows), el("tfoot", {}, ...foot));
  const ranked = (run, own, kind) => {
    const depth = depthOf(own), score = valueOf(run, state.sample);
    const within = own.ranks.filter((here) => own.k === null || here.rank <= own.k);
    const shown = within.filter((here) => here.rank <= Math.min(depth, own.listed || depth)), rest = within.filter((here) => !shown.includes(here) && here.adds);
    const rounded = own.isSum && score !== null ? addUp([...shown, ...rest].map((here) => here.adds), score) : null;
    const rows = shown.map((here, place) => el("tr", { class: here.relevant ? "rel" : null, "data-rank": here.rank },
      el("td", { class: "k", text: here.rank }), el("td", { class: "j" }, ...glyph(here)), itemCell(here),
      el("td", { class: "s n", text: rounded === null ? "" : here.adds ? fixed(rounded[place]) : "0" })));
    if (!rows.length) {
      const why = data.reasons[run], number = why ? why.which[state.sample] : 0;
      rows.push(el("tr", {}, el("td", { colspan: 4, text: number ? why.texts[number - 1] : "nothing was retrieved" })));
    }
    const foot = [];
    if (rest.length && rounded !== null) foot.push(el("tr", { class: "more" }, el("td", { colspan: 3, text: `${many(rest.length)} below rank ${depth}` }), el("td", { class: "n", text: fixed(rounded.slice(shown.length).reduce((sum, each) => sum + each, 0)) })));
    foot.push(el("tr", {}, el("td", { colspan: 3, text: data.metrics[state.metric].name }), el("td", { class: "n", text: fixed(score) })));
    return table(data.runs[run], kind, rounded === null ? "" : "adds", rows, foot);
  };
  const ideal = (own) => {
    const best = own.gold.filter((item) => item.relevant), depth = depthOf(own);
    const rows = best.slice(0, depth).map((item) => {
      const listed = own.ranks.find((here) => here.key === item.code && here.text);
      const is = { relevant: true, grade: item.grade, id: item.name, text: listed ? listed.text : "", mark: null };
      return el("tr", { class: item.rank !== null && (own.k === null || item.rank <= own.k) ? "rel" : null, "data-rank": item.ideal },
        el("td", { class: "k", text: item.ideal }), el("td", { class: "j" }, ...glyph(is)), itemCell(is), el("td", { class: "s n", text: item.rank === null ? "none" : `rank ${item.rank}` }));
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

  // The score as blocks, one for each rank that adds to it.
  const strip = (each) => {
    const range = data.metrics[state.metric].range, scores = each.map(([run]) => valueOf(run, state.sample) || 0);
    const full = range[1] !== null ? range[1] : Math.max(...scores);
    if (!(full > 0) || each.some(([, own]) => !own.isSum || own.ranks.some((here) => here.adds < 0))) return null;
    const box = el("div", { class: "strip" }), is = each[0][1].unit.includes("ideal") ? "the ideal order" : `a score of ${+full.toPrecision(3)}`;
    box.append(el("div", { class: "strip-how" }, el("span", { text: `Each block is a relevant result, numbered by its rank; the full width is ${is}` }), el("span", { class: "num", text: +full.toPrecision(3) })));
    for (const [run, own, kind] of each) {
      const bar = svg("svg", { width: "100%", height: 20, role: "img", "aria-label": `${data.runs[run]}: ${fixed(valueOf(run, state.sample))}` }, svg("rect", { class: "rail", width: "100%", height: 20 }));
      let at = 0;
      for (const here of own.ranks) {
        const share = (100 * here.adds) / full;
        if (share <= 0) continue;
        bar.append(svg("rect", { class: kind === "a" ? "fa" : "fb", x: `${at.toFixed(3)}%`, width: `${share.toFixed(3)}%`, height: 20 }));
        if (at > 0) bar.append(svg("line", { class: "cutline", x1: `${at.toFixed(3)}%`, x2: `${at.toFixed(3)}%`, y1: 0, y2: 20 }));
        if (share > 2.5) bar.append(svg("text", { class: "in", x: `${(at + share / 2).toFixed(3)}%`, y: 14, "text-anchor": "middle", text: here.rank }));
        at += share;
      }
      box.append(el("div", { class: "strip-row" }, el("b", { class: kind, text: data.runs[run] }), bar, el("b", { class: `${kind} num`, text: fixed(valueOf(run, state.sample)) })));
    }
    return box;
  };
  // The same line that `rankgauge explain` prints.
  const plainNumber = (value) => (value && Math.abs(value) < 1e-3 ? String(+value.toPrecision(4)) : value.toFixed(4).replace(/\.?0+$/, ""));
  const arithmetic = (run, own) => {
    const score = valueOf(run, state.sample), terms = own.ranks.filter((here) => here.gain);
    if (!own.isSum || score === null) return "this score is no sum over ranks";
    const reciprocal = !own.unit && terms.every((here) => Math.abs(here.discount * here.rank - 1) < 1e-6);
    const term = ({ gain, discount, rank }) => (Math.abs(discount - 1) < 1e-9 ? plainNumber(gain) : reciprocal ? `${plainNumber(gain)}/${rank}` : Math.abs(gain - 1) < 1e-9 ? plainNumber(discount) : `${plainNumber(gain)}*${plainNumber(discount)}`);
    const written = terms.slice(0, 12).map(term), rest = terms.slice(12);
    if (rest.length) written.push(`${plainNumber(rest.reduce((sum, here) => sum + here.gain * here.discount, 0))} (${many(rest.length)} more)`);
    const added = written.join(" + ") || "0";
    const steps = [data.metrics[state.metric].name];
    if (own.divisor === 1 && !own.unit) steps.push(added);
    else steps.push(`${terms.length > 1 ? `(${added})` : added} / ${plainNumber(own.divisor)}${own.unit ? ` (${own.unit})` : ""}`);
    if (steps[1] !== plainNumber(score)) steps.push(plainNumber(score));
    return steps.join(" = ");
  };
  const small = (heading, heads, rows, foot) => {
    const line = (cells, tag) => el("tr", {}, ...cells.map(([text, kind]) => el(tag, { class: kind, text, title: kind === "x" ? text : null, scope: tag === "th" ? "col" : null })));
    return el("div", {}, el("h3", { text: heading }), el("table", { class: "data mini" }, el("thead", {}, line(heads, "th")), el("tbody", {}, ...rows.map((row) => line(row, "td"))), foot.length ? el("tfoot", {}, ...foot.map((row) => line(row, "td"))) : ""));
  };
  const rankText = (here, own) => (here ? String(here.rank) : own.depth > own.listed ? `> ${own.listed}` : DASH);
  const moved = (one, other) => {
    const before = valueOf(0, state.sample), after = valueOf(state.run, state.sample);
    if (!one.isSum || !other.isSum || before === null || after === null) return null;
    const left = new Map(one.ranks.map((here) => [here.key, here])), right = new Map(other.ranks.map((here) => [here.key, here]));
    const changes = [];
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      const from = left.get(key), to = right.get(key), effect = (to ? to.adds : 0) - (from ? from.adds : 0);
      if (Math.abs(effect) > TIED) changes.push({ from, to, effect });
    }
    if (!changes.length) return null;
    changes.sort((x, y) => Math.abs(y.effect) - Math.abs(x.effect));
    const rounded = addUp(changes.map((change) => change.effect), Number(after.toFixed(3)) - Number(before.toFixed(3)));
    const side = (value) => (value * sign() > 0 ? "n b" : value ? "n a" : "n");
    const rows = changes.slice(0, MOVED).map(({ from, to }, place) => {
      const here = to || from;
      return [[here.grade === null ? "" : gradeOf(here.grade), ""], [titleOf(to && to.text ? to : from && from.text ? from : here), "x"], [rankText(from, one), "n a"], [rankText(to, other), "n b"], [signed(rounded[place]), side(rounded[place])]];
    });
    const rest = rounded.slice(MOVED), sum = rest.reduce((total, each) => total + each, 0);
    if (rest.length) rows.push([["", ""], [`${many(rest.length)} more`, "x dim"], ["", ""], ["", ""], [signed(sum), side(sum)]]);
    const difference = Number((Number(after.toFixed(3)) - Number(before.toFixed(3))).toFixed(3));
    return small("What moved", [["Grade", ""], ["Document", ""], [data.runs[0], "n a"], [data.runs[state.run], "n b"], ["Effect", "n"]], rows,
      [[["Difference", ""], ["", "x"], [fixed(before), "n"], [fixed(after), "n"], [signed(difference), side(difference)]]]);
  };
  const titleOf = (here) => (here.text ? here.text.split("\n")[0] : here.id === null ? "(no id)" : here.id);
  const missing = (run, own, kind, one) => {
    const all = own.gold.filter((item) => item.relevant).length, found = new Map(one ? one.gold.map((item) => [item.ideal, item]) : []);
    const heading = own.missing.length ? `Relevant, but not in ${data.runs[run]}${own.k === null ? "" : `'s top ${own.k}`}: ${many(own.missing.length)} of ${many(all)}` : all ? `Everything relevant is in ${data.runs[run]}${own.k === null ? "" : `'s top ${own.k}`}` : "Nothing is relevant";
    if (!own.missing.length) return el("div", {}, el("h3", { text: heading }));
    const at = (item) => (item && item.rank !== null ? String(item.rank) : "not found");
    const listed = new Map([...(one ? one.ranks : []), ...own.ranks].filter((here) => here.text).map((here) => [here.key, here]));
    const title = (item) => (listed.has(item.code) ? titleOf(listed.get(item.code)) : item.name);
    const heads = [["Grade", ""], ["Document", ""], ...(one ? [[data.runs[0], "n a"]] : []), [data.runs[run], `n ${kind}`], ["Ideal rank", "n"]];
    const rows = own.missing.slice(0, MISSING).map((item) => [[gradeOf(item.grade), ""], [title(item), "x"], ...(one ? [[at(found.get(item.ideal)), "n a"]] : []), [at(item), `n ${kind}`], [item.ideal, "n"]]);
    if (own.missing.length > MISSING) rows.push([["", ""], [`${many(own.missing.length - MISSING)} more`, "x dim"], ...(one ? [["", ""]] : []), ["", ""], ["", ""]]);
    return small(heading, heads, rows, []);
  };
  const drawOne = () => {
    const i = state.sample, lists = $("lists"), sums = $("sums");
    lists.replaceChildren();
    sums.replaceChildren();
    joined = null;
    if (i < 0) return;
    const question = input(i), one = detail(0, i), other = pairs ? detail(state.run, i) : null, last = pairs ? other : one;
    $("one-h").textContent = question ? `${data.ids[i]}: ${question}` : data.ids[i];
    const sub = $("one-sub");
    sub.replaceChildren(`${data.metrics[state.metric].name} `);
    if (pairs) {
      const kind = kindOf(i);
      sub.append(el("span", { class: "a num", text: fixed(valueOf(0, i)) }), " \u2192 ", el("span", { class: "b num", text: fixed(valueOf(state.run, i)) }), " ", el("b", { class: kind === "better" ? "b" : kind === "worse" ? "a" : "dim", text: signed(amount(i)) }));
    } else sub.append(el("b", { class: "a num", text: fixed(valueOf(0, i)) }));
    const facts = [];
    if (last && last.gold.length) facts.push(`${many(last.gold.filter((item) => item.relevant).length)} relevant`);
    if (data.unjudged && last) {
      const told = [[0, one], ...(pairs ? [[state.run, other]] : [])].filter(([, own]) => own && own.listed).map(([run, own]) => {
        const top = own.ranks.filter((here) => here.rank <= SHOWN && here.rank <= own.listed);
        return `${top.filter((here) => here.grade === null).length} of ${top.length} with ${data.runs[run]}`;
      });
      if (told.length) facts.push(`unjudged in the top ${SHOWN}: ${told.join(", ")}`);
    }
    if (data.tags && data.tags[i].length) facts.push(`tags: ${data.tags[i].join(", ")}`);
    if (facts.length) sub.append(el("span", { class: "dim", text: `   ${facts.join("; ")}` }));
    if (!one && !other) {
      lists.append(el("p", { class: "how", text: "The ranked lists of this sample are not in this file. `rankgauge explain` shows any sample." }));
      return;
    }
    if (data.texts().length && last && last.listed && !last.ranks.some((here) => here.text)) lists.append(el("p", { class: "how", text: "Texts of this sample are not in this file." }));
    const absent = (run, kind) => table(data.runs[run], kind, "", [el("tr", {}, el("td", { colspan: 4, text: "the data of this run cannot be read again" }))], []);
    const left = one ? ranked(0, one, "a") : absent(0, "a");
    const right = pairs ? (other ? ranked(state.run, other, "b") : absent(state.run, "b")) : ideal(one);
    const box = el("div", { class: "between" });
    lists.append(el("div", { class: "pair" }, left, box, right));
    if (one && last) joined = { box, left, right, lines: pairs ? joinsOf(one, other) : joinsToIdeal(one) };
    drawJoins();
    const each = [[0, one, "a"], ...(pairs ? [[state.run, other, "b"]] : [])].filter(([, own]) => own);
    const blocks = strip(each);
    if (blocks) sums.append(blocks);
    const math = el("div", { class: "maths" }, el("h3", { text: "Arithmetic" }));
    for (const [run, own, kind] of each) math.append(el("p", { class: "math" }, el("b", { class: kind, text: `${data.runs[run]}  ` }), arithmetic(run, own)));
    sums.append(math);
    const changes = pairs && one && other ? moved(one, other) : null;
    sums.append(el("div", { class: "lower" }, ...(changes ? [changes] : []), ...(last && (pairs || last.gold.filter((item) => item.relevant).length > depthOf(last)) ? [missing(pairs ? state.run : 0, last, pairs ? "b" : "a", pairs ? one : null)] : [])));
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
    parts.push(svg("text", { class: "lab a", x: left + room, y: py(low) + 34, "text-anchor": "end", text: `${cut(name, 20)} with ${cut(data.runs[0], 20)}` }));
    parts.push(svg("text", { class: "lab b", x: 0, y: -8, text: `${cut(name, 20)} with ${cut(data.runs[state.run], 20)}` }));
    box.replaceChildren(svg("svg", { class: "fig", width: size, height: size + 16, viewBox: `0 -20 ${size} ${size + 36}`, role: "img", "aria-label": `${name} of each sample in both runs` }, ...parts));
    $("above").textContent = data.runs[state.run];
  };

  // ---- depth -----------------------------------------------------------------------------------------------------
  const curves = [...document.querySelectorAll(".curve")].map((box) => ({ box, points: JSON.parse(box.dataset.points) }));
  const readCurves = (at) => {
    for (const { box, points } of curves) {
      const point = points[Math.min(at, points.length - 1)], line = box.querySelector("line.at");
      box.querySelector(".k").textContent = point[0];
      box.querySelectorAll("h3 .num").forEach((value, run) => { value.textContent = point[2 + run]; });
      line.setAttribute("x1", point[1]);
      line.setAttribute("x2", point[1]);
    }
  };
  for (const { box, points } of curves) {
    const picture = box.querySelector("svg"), rest = points.filter(([depth]) => depth <= 10).length - 1;
    picture.addEventListener("pointermove", (event) => {
      const inside = picture.getBoundingClientRect(), x = ((event.clientX - inside.left) / inside.width) * picture.viewBox.baseVal.width;
      readCurves(points.reduce((best, point, at) => (Math.abs(point[1] - x) < Math.abs(points[best][1] - x) ? at : best), 0));
    });
    picture.addEventListener("pointerleave", () => readCurves(rest));
  }

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
  addEventListener("resize", () => { drawBars(); drawJoins(); });
  addEventListener("beforeprint", () => { $("scroll").scrollTop = 0; drawTable(); });
  addEventListener("hashchange", fromLink);
  const asked = location.hash;
  choose(0);
  if (asked) {
    history.replaceState(null, "", asked);
    fromLink();
  }
  document.documentElement.dataset.ready = "yes";
})();
