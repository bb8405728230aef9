// One sample, put together.

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
