// Views that are one stop of the Tab key: arrow keys walk over their places.

const SLIDER = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
const LETTERS = { j: 1, k: -1 };
const LIST = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
// `at` gives the place that is left, `last` the last one there is; `move` takes the new one, the event and the old one.
const walk = (box, moves, at, last, move, more = {}) => box.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves && last() >= 0) {
    const from = at();
    move(Math.max(0, Math.min(last(), from + moves[event.key])), event, from);
  } else if (!(event.key in more) || more[event.key](event) === false) return;
  event.preventDefault();
});
const slide = (box, count, at, text) => {
  box.setAttribute("aria-valuemax", String(Math.max(1, count)));
  box.setAttribute("aria-valuenow", String(at + 1));
  box.setAttribute("aria-valuetext", text);
};
