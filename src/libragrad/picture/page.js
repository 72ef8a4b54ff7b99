"use strict";
// One figure for each map. Its values are the rows of a JSON list beside it.
const main = document.querySelector("main");
const opacity = document.querySelector("#opacity");
const signed = document.querySelector("#signed");

function number(value) {
  return value.toPrecision(4).replace("-", "−");
}

function share() {
  main.style.setProperty("--opacity", opacity.value / 100);
}

function view() {
  for (const part of document.querySelectorAll("[data-view]"))
    part.hidden = (part.dataset.view === "signed") !== signed.checked;
}

function table(values) {
  const drawn = document.createElement("table");
  const head = drawn.createTHead().insertRow();
  for (let c = 0; c <= values[0].length; c++)
    head.append(Object.assign(document.createElement("th"), {
      scope: c ? "col" : "", textContent: c || "" }));
  values.forEach((row, r) => {
    const line = drawn.insertRow();
    line.append(Object.assign(document.createElement("th"), { scope: "row", textContent: r + 1 }));
    for (const value of row) line.insertCell().textContent = number(value);
  });
  return drawn;
}

function readable(figure) {
  const values = JSON.parse(figure.querySelector("script").textContent);
  const stage = figure.querySelector(".stage");
  const cursor = figure.querySelector(".cursor");
  const reading = figure.querySelector("output");
  const rows = values.length, columns = values[0].length;
  let row = 0, column = 0;

  function read(r, c) {
    row = Math.max(0, Math.min(rows - 1, r));
    column = Math.max(0, Math.min(columns - 1, c));
    cursor.hidden = false;
    cursor.style.left = 100 * column / columns + "%";
    cursor.style.top = 100 * row / rows + "%";
    cursor.style.width = 100 / columns + "%";
    cursor.style.height = 100 / rows + "%";
    reading.textContent = `row ${row + 1}, column ${column + 1}: ${number(values[row][column])}`;
  }

  function point(event) {
    const box = stage.getBoundingClientRect();
    read(Math.floor((event.clientY - box.top) / box.height * rows),
      Math.floor((event.clientX - box.left) / box.width * columns));
  }

  stage.addEventListener("pointermove", point);
  stage.addEventListener("pointerdown", point);
  stage.addEventListener("focus", () => read(row, column));
  stage.addEventListener("keydown", (event) => {
    const step = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -columns], End: [0, columns], PageUp: [-rows, 0], PageDown: [rows, 0],
    }[event.key];
    if (!step) return;
    event.preventDefault();
    read(row + step[0], column + step[1]);
  });
  figure.querySelector("details").addEventListener("toggle", (event) => {
    const place = event.target.querySelector(".scroll");
    if (event.target.open && !place.firstChild) place.append(table(values));
  });
}

opacity.addEventListener("input", share);
signed.addEventListener("change", view);
document.querySelectorAll("figure.map").forEach(readable);
share();
view();
