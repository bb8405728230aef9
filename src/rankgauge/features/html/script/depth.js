// Means by depth, read where one points or walks to.

const curves = [...document.querySelectorAll(".curve")].map((box) => ({ box, points: JSON.parse(box.dataset.points) }));
let depthAt = 0;
const readCurves = (at) => {
  depthAt = at;
  for (const { box, points } of curves) {
    const point = points[Math.min(at, points.length - 1)], line = box.querySelector("line.at");
    box.querySelector(".k").textContent = point[0];
    const values = [...box.querySelectorAll("h3 .num")];
    values.forEach((value, run) => { value.textContent = point[2 + run]; });
    line.setAttribute("x1", point[1]);
    line.setAttribute("x2", point[1]);
    slide(box.querySelector(".walk"), points.length, at, `at ${point[0]}: ${values.map((value) => `${runNames[+value.dataset.of]} ${value.textContent}`).join(", ")}`);
  }
};
const rest = curves.length ? curves[0].points.filter(([depth]) => depth <= 10).length - 1 : 0;
for (const { box, points } of curves) {
  const picture = box.querySelector("svg"), stop = box.querySelector(".walk");
  for (const [name, value] of [["role", "slider"], ["tabindex", "0"], ["aria-valuemin", "1"]]) stop.setAttribute(name, value);
  picture.addEventListener("pointermove", (event) => {
    const inside = picture.getBoundingClientRect(), x = ((event.clientX - inside.left) / inside.width) * picture.viewBox.baseVal.width;
    readCurves(points.reduce((best, point, at) => (Math.abs(point[1] - x) < Math.abs(points[best][1] - x) ? at : best), 0));
  });
  picture.addEventListener("pointerleave", () => { if (document.activeElement !== stop) readCurves(rest); });
  walk(stop, SLIDER, () => depthAt, () => points.length - 1, readCurves);
  stop.addEventListener("blur", () => readCurves(rest));
}
readCurves(rest);
// The chosen run is blue here, too: it changes its colour with the first one.
const colourOf = (run) => (run === 0 ? "a" : run === state.run ? "b" : "bcdef"[((run === 1 ? state.run : run) - 1) % 5]);
const colourCurves = () => {
  for (const part of document.querySelectorAll("[data-of]")) {
    const kind = colourOf(+part.dataset.of);
    part.setAttribute("class", part.getAttribute("class").replace(/\b(ln)?[a-f]$/, (old) => (old.startsWith("ln") ? `ln${kind}` : kind)));
  }
};
