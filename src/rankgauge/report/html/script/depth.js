// Means by depth, read where one points.

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
