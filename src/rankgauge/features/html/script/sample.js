// One sample, put together.

// What the marks beside ranks mean, for ids that are judged and for texts that are compared.
const legend = (own) => {
  const marks = own.byText ? [[{ relevant: true, grade: 1 }, "holds what is wanted"], [{ grade: null }, "compared, and does not"]]
    : [[{ relevant: true, grade: 1 }, "relevant, with its grade"], [{ grade: 0 }, "not relevant"], [{ grade: null }, "unjudged"]];
  const parts = own.isAnswer ? [el("span", {}, "Underlined: words that the generated and an accepted answer share")] : marks.map(([here, words]) => el("span", {}, glyph(here, own.byText)[0], words));
  if (pairs && !own.isAnswer) parts.push(el("span", {}, "Lines join the same item: ", el("b", { class: "b", text: "relevant and higher" }), ", ", el("b", { class: "a", text: "relevant and lower" }), ", grey: not relevant"));
  $("key").replaceChildren(...parts);
};
const drawOne = () => {
  const i = state.sample, lists = $("lists"), sums = $("sums");
  lists.replaceChildren();
  sums.replaceChildren();
  joined = null;
  if (i < 0) return;
  const question = input(i), one = detail(0, i), other = pairs ? detail(state.run, i) : null, last = pairs ? other : one;
  $("one-h").replaceChildren(el("span", { dir: "auto", text: data.ids[i] }), ...(question ? [": ", el("span", { dir: "auto", text: question })] : []));
  const sub = $("one-sub");
  sub.replaceChildren(`${metricNames[state.metric]} `);
  if (pairs) {
    const kind = kindOf(i);
    sub.append(el("span", { class: "a num", text: fixed(valueOf(0, i)) }), " \u2192 ", el("span", { class: "b num", text: fixed(valueOf(state.run, i)) }), " ", el("b", { class: kind === "better" ? "b" : kind === "worse" ? "a" : "dim", text: signed(amount(i)) }));
  } else sub.append(el("b", { class: "a num", text: fixed(valueOf(0, i)) }));
  const facts = [];
  if (last && last.gold.length && !last.isAnswer) facts.push(`${many(last.gold.filter((item) => item.relevant).length)} relevant`);
  const whole = data.inputs && data.inputs[i] ? data.whole()[data.inputs[i] - 1] : 0;
  if (whole) facts.push(`of the ${many(whole)} characters of its text, this file holds ${many([...question].length)}`);
  for (const run of shownRuns()) if (statusOf(run, i) !== "scored") facts.push(`${statusOf(run, i)}${pairs ? ` in ${runNames[run]}` : ""}: ${reasonOf(run, i)}`);
  if (data.unjudged && last && !last.byText) {
    const told = [[0, one], ...(pairs ? [[state.run, other]] : [])].filter(([, own]) => own && own.listed).map(([run, own]) => {
      const top = own.ranks.filter((here) => here.rank <= SHOWN && here.rank <= own.listed);
      return `${top.filter((here) => here.grade === null).length} of ${top.length} with ${runNames[run]}`;
    });
    if (told.length) facts.push(`unjudged in the top ${SHOWN}: ${told.join(", ")}`);
  }
  if (data.tags && data.tags[i].length) facts.push(`tags: ${data.tags[i].map(apart).join(", ")}`);
  if (facts.length) sub.append(el("span", { class: "dim", text: `   ${facts.join("; ")}` }));
  if (!one && !other) {
    $("key").replaceChildren();
    const why = data.metrics[state.metric].ranks ? "The ranked lists of this sample are not in this file. `rankgauge explain` shows any sample." : "This score is one of the output as a whole, whatever its ranks hold.";
    lists.append(el("p", { class: "how", text: why }));
    return;
  }
  if (data.texts().length && last && last.listed && !last.ranks.some((here) => here.text)) lists.append(el("p", { class: "how", text: "Texts of this sample are not in this file." }));
  const each = [[0, one, "a"], ...(pairs ? [[state.run, other, "b"]] : [])].filter(([, own]) => own);
  legend(last || one);
  if (each[0][1].isAnswer) {
    lists.append(answers(each));
    return;
  }
  const absent = (run, kind) => table(runNames[run], kind, "", [el("tr", {}, el("td", { colspan: 4, text: "the data of this run cannot be read again" }))], []);
  const left = one ? ranked(0, one, "a") : absent(0, "a");
  const right = pairs ? (other ? ranked(state.run, other, "b") : absent(state.run, "b")) : ideal(one);
  const box = el("div", { class: "between" });
  lists.append(el("div", { class: "pair" }, left, box, right));
  if (one && last) joined = { box, left, right, lines: pairs ? joinsOf(one, other) : joinsToIdeal(one) };
  drawJoins();
  const blocks = strip(each);
  if (blocks) sums.append(blocks);
  const math = el("div", { class: "maths" }, el("h3", { text: "Arithmetic" }));
  for (const [run, own, kind] of each) math.append(el("p", { class: "math" }, el("b", { class: kind, text: `${runNames[run]}  ` }), arithmetic(run, own)));
  sums.append(math);
  const changes = pairs && one && other ? moved(one, other) : null;
  sums.append(el("div", { class: "lower" }, ...(changes ? [changes] : []), ...(last && (pairs || last.missing.some((item) => item.dropped) || last.gold.filter((item) => item.relevant).length > depthOf(last)) ? [missing(pairs ? state.run : 0, last, pairs ? "b" : "a", pairs ? one : null)] : [])));
};
