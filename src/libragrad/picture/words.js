"use strict";
for (const section of document.querySelectorAll("section")) {
  const reading = section.querySelector("output");
  for (const token of section.querySelectorAll("[data-value]"))
    for (const kind of ["pointerover", "pointerdown", "focus"])
      token.addEventListener(kind, () => {
        const value = token.dataset.value.replace("-", "−");
        reading.textContent = `${token.textContent.trim() || "space"}: ${value}`;
      });
}
