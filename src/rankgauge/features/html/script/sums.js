// What the ranks of one sample add up to, what moved, and what is missing.

// The score as blocks, one for each rank that adds to it.
const strip = (each) => {
  const range = data.metrics[state.metric].range, scores = each.map(([run]) => valueOf(run, state.sample) || 0);
  const full = range[1] !== null ? range[1] : Math.max(...scores);
  if (!(full > 0) || each.some(([, own]) => !own.isSum || own.ranks.some((here) => here.adds < 0))) return null;
  const box = el("div", { class: "strip" }), is = each[0][1].unit.includes("ideal") ? "the ideal order" : `a score of ${+full.toPrecision(3)}`;
  box.append(el("div", { class: "strip-how" }, el("span", { text: `Each block is a relevant result, numbered by its rank; the full width is ${is}` }), el("span", { class: "num", text: +full.toPrecision(3) })));
  for (const [run, own, kind] of each) {
    const bar = svg("svg", { width: "100%", height: 20, role: "img", "aria-label": `${runNames[run]}: ${fixed(valueOf(run, state.sample))}` }, svg("rect", { class: "rail", width: "100%", height: 20 }));
    let at = 0;
    for (const here of own.ranks) {
      const share = (100 * here.adds) / full;
      if (share <= 0) continue;
      bar.append(svg("rect", { class: kind === "a" ? "fa" : "fb", x: `${at.toFixed(3)}%`, width: `${share.toFixed(3)}%`, height: 20 }));
      if (at > 0) bar.append(svg("line", { class: "cutline", x1: `${at.toFixed(3)}%`, x2: `${at.toFixed(3)}%`, y1: 0, y2: 20 }));
      if (share > 2.5) bar.append(svg("text", { class: "in", x: `${(at + share / 2).toFixed(3)}%`, y: 14, "text-anchor": "middle", text: here.rank }));
      at += share;
    }
    box.append(el("div", { class: "strip-row" }, el("b", { class: kind, text: runNames[run] }), bar, el("b", { class: `${kind} num`, text: fixed(valueOf(run, state.sample)) })));
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
  const steps = [metricNames[state.metric]];
  if (own.divisor === 1 && !own.unit) steps.push(added);
  else steps.push(`${terms.length > 1 ? `(${added})` : added} / ${plainNumber(own.divisor)}${own.unit ? ` (${own.unit})` : ""}`);
  if (steps[1] !== plainNumber(score)) steps.push(plainNumber(score));
  return steps.join(" = ");
};
const small = (heading, heads, rows, foot) => {
  const line = (cells, tag) => el("tr", {}, ...cells.map(([text, kind]) => el(tag, { class: kind, text, title: kind === "x" || tag === "th" ? text : null, scope: tag === "th" ? "col" : null })));
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
  return small("What moved", [["Grade", ""], ["Document", ""], [runNames[0], "n a"], [runNames[state.run], "n b"], ["Effect", "n"]], rows,
    [[["Difference", ""], ["", "x"], [fixed(before), "n"], [fixed(after), "n"], [signed(difference), side(difference)]]]);
};
const titleOf = (here) => (here.text ? here.text.split("\n")[0] : here.id === null ? "(no id)" : here.id);
const missing = (run, own, kind, one) => {
  const all = own.gold.filter((item) => item.relevant).length, found = new Map(one ? one.gold.map((item) => [item.ideal, item]) : []);
  const heading = own.missing.length ? `Relevant, but not in ${runNames[run]}${own.k === null ? "" : `'s top ${own.k}`}: ${many(own.missing.length)} of ${many(all)}` : all ? `Everything relevant is in ${runNames[run]}${own.k === null ? "" : `'s top ${own.k}`}` : "Nothing is relevant";
  if (!own.missing.length) return el("div", {}, el("h3", { text: heading }));
  const at = (item) => (item && item.rank !== null ? String(item.rank) : item && item.dropped ? `${item.dropped.rank}, dropped by ${item.dropped.step}` : "not found");
  const listed = new Map([...(one ? one.ranks : []), ...own.ranks].filter((here) => here.text).map((here) => [here.key, here]));
  const title = (item) => (listed.has(item.code) ? titleOf(listed.get(item.code)) : item.name);
  const heads = [["Grade", ""], ["Document", ""], ...(one ? [[runNames[0], "n a"]] : []), [runNames[run], `n ${kind}`], ["Ideal rank", "n"]];
  const rows = own.missing.slice(0, MISSING).map((item) => [[gradeOf(item.grade), ""], [title(item), "x"], ...(one ? [[at(found.get(item.ideal)), "n a"]] : []), [at(item), `n ${kind}`], [item.ideal, "n"]]);
  if (own.missing.length > MISSING) rows.push([["", ""], [`${many(own.missing.length - MISSING)} more`, "x dim"], ...(one ? [["", ""]] : []), ["", ""], ["", ""]]);
  return small(heading, heads, rows, []);
};
