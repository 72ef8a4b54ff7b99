// Point at a patch to read it, click it to delete it. Every stage shows the same deleted patches.
let deleted = new Set();
let place = [0, 0];

const root = () => element.querySelector(".maps");
const shape = () => [Number(root().dataset.rows), Number(root().dataset.columns)];
const number = (value) => value.toPrecision(3).replace("-", "−");
const clamp = (value, most) => Math.max(0, Math.min(most, value));

function box(kind, row, column) {
  const [rows, columns] = shape();
  const part = Object.assign(document.createElement("div"), { className: kind });
  part.style.cssText = `left:${100 * column / columns}%;top:${100 * row / rows}%;` +
    `width:${100 / columns}%;height:${100 / rows}%`;
  return part;
}

function mark() {
  if (!root()) return;
  const columns = shape()[1];
  for (const stage of element.querySelectorAll(".stage")) {
    stage.querySelectorAll(".gone").forEach((old) => old.remove());
    for (const p of deleted) stage.append(box("gone", Math.floor(p / columns), p % columns));
  }
}

function read(stage, row, column) {
  const [rows, columns] = shape();
  place = [clamp(row, rows - 1), clamp(column, columns - 1)];
  element.querySelectorAll(".cursor").forEach((old) => old.remove());
  stage.append(box("cursor", ...place));
  for (const figure of element.querySelectorAll("figure")) {
    const [r, c] = place;
    let words = `row ${r + 1}, column ${c + 1}`;
    if (figure.dataset.after) words += `: ${number(JSON.parse(figure.dataset.after)[r][c])}`;
    if (figure.dataset.before) words += `, plain ${number(JSON.parse(figure.dataset.before)[r][c])}`;
    figure.querySelector("output").textContent = words;
  }
}

function point(event) {
  const stage = event.target.closest(".stage");
  if (!stage) return null;
  const [rows, columns] = shape(), area = stage.getBoundingClientRect();
  read(stage, Math.floor((event.clientY - area.top) / area.height * rows),
    Math.floor((event.clientX - area.left) / area.width * columns));
  return stage;
}

function tell() {
  mark();
  trigger("input", { patches: [...deleted] });
}

function toggle() {
  const patch = place[0] * shape()[1] + place[1];
  if (!deleted.delete(patch)) deleted.add(patch);
  tell();
}

element.addEventListener("pointermove", point);
element.addEventListener("click", (event) => { if (point(event)) toggle(); });
element.addEventListener("keydown", (event) => {
  const stage = event.target.closest(".stage");
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!stage || !(step || event.key === "Enter" || event.key === " ")) return;
  event.preventDefault();
  if (step) read(stage, place[0] + step[0], place[1] + step[1]);
  else toggle();
});
window.addEventListener("lg-restore", () => { deleted.clear(); tell(); });
watch("value", () => {
  if (!root()) return;
  deleted = new Set(root().dataset.deleted.split(" ").filter(Boolean).map(Number));
  mark();
});
