// An answer beside what is accepted, for metrics that judge no ranking.

const tokensOf = (text) => [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((match) => [match.index, match.index + match[0].length, match[0].toLowerCase()]);
// A text in which the words that the other one has, too, are marked.
const marked = (text, others) => {
  const known = new Set(others.flatMap(tokensOf).map(([, , word]) => word));
  return underlined(text, tokensOf(text).filter(([, , word]) => known.has(word)), 0, text.length);
};
const answerBox = (heading, kind, shown) => el("div", { class: "said" }, el("h3", { class: kind, text: heading }), ...shown);
const saying = (text, others, note) => el("p", { class: "full", dir: "auto" }, ...marked(text, others), ...note);
const answers = (each) => {
  const accepted = each.map(([, own]) => own.gold.map((item) => item.name)).find((names) => names.length) || [];
  const said = each.map(([run, own]) => (own.ranks.length && own.ranks[0].text ? own.ranks[0] : null));
  const boxes = each.map(([run, own, kind], at) => {
    const here = said[at];
    const shown = here ? saying(here.text, accepted, cutNote(here)) : el("p", { class: "how", text: own.ranks.length ? "Its text is not in this file." : reasonOf(run, state.sample) || "nothing was generated" });
    return answerBox(`${pairs ? `${runNames[run]}: ` : ""}generated, ${metricNames[state.metric]} ${fixed(valueOf(run, state.sample))}`, kind, [shown]);
  });
  const texts = said.filter(Boolean).map((here) => here.text);
  const right = accepted.length ? accepted.map((text) => saying(text, texts, [])) : [el("p", { class: "how", text: "nothing is accepted" })];
  return el("div", { class: "answers" }, ...boxes, answerBox(accepted.length > 1 ? `accepted: any of ${many(accepted.length)}` : "accepted", "", right));
};
