// The data: columns as packing.py and lists.py write them.

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
const shared = new Map(); // columns that several refer to
const once = (number) => (number === null ? null : shared.has(number) ? shared.get(number) : shared.set(number, numbers(number)).get(number));
data.reasons = data.reasons.map((own) => own && { texts: own.texts, which: own.which.map(once) });
data.codes = data.codes.map((run) => run.map(once));
data.whole = lazy(numbers.bind(null, data.whole));
data.blocks = lazy(((held) => () => {
  const written = texts(held.texts);
  return new Map(held.places.map(([place, key], at) => [`${place} ${key}`, written[at]]));
})(data.blocks));
document.documentElement.classList.add("js"); // shows what is dead without it
const runNames = data.runs.map(apart), metricNames = data.metrics.map((metric) => apart(metric.name));
const nameOf = (i) => apart(data.ids[i]);
// By sample, and by the place of a gold item in it: the rank of a result that the policy dropped, and the step that did.
const droppedOf = (own) => {
  const found = new Map();
  if (own === null) return found;
  const gold = numbers(own.gold), rank = numbers(own.rank), step = numbers(own.step);
  numbers(own.sample).forEach((i, at) => {
    if (!found.has(i)) found.set(i, new Map());
    found.get(i).set(gold[at], { rank: rank[at], step: own.steps[step[at]] });
  });
  return found;
};
data.sets = data.sets.map((set) => lazy(() => ({
  judged: set.judged, names: texts(set.names),
  first: starts(numbers(set.named)),
  gold: { first: starts(numbers(set.gold.count)), grade: floats(set.gold.grade), item: set.gold.item === undefined ? null : numbers(set.gold.item), text: set.gold.text === undefined ? null : numbers(set.gold.text) },
  runs: set.runs.map((run) => run && {
    listed: run.listed === null ? null : numbers(run.listed), first: starts(numbers(run.count)), item: numbers(run.item), depth: numbers(run.depth),
    text: run.text === null ? null : numbers(run.text), from: run.from === null ? null : numbers(run.from), length: run.length === null ? null : numbers(run.length), beside: run.beside === null ? null : numbers(run.beside),
    rows: starts(numbers(run.rows)), rank: numbers(run.rank), gold: numbers(run.gold), dropped: droppedOf(run.dropped),
  }),
})));
data.facts = data.facts.map((run) => run.map((own) => own && lazy(() => ({
  ...own, k: own.ks ? numbers(own.k) : own.k, least: own.least === null ? Infinity : own.least,
  gain: floats(own.gain), discount: floats(own.discount), divisor: floats(own.divisor),
}))));
