"""Pictures of the page, as a laptop and a phone show it.

    python -m docs.screenshots

writes them to `docs/images/`. Chromium and Playwright take them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from libragrad.app import serve
from libragrad.models.loading import load

IMAGES = Path(__file__).parent / "images"
SIZES = {"laptop": (1280, 800), "phone": (390, 844)}
METHODS: dict[str, list[str]] = {"laptop": ["Input×Grad"], "phone": []}
"""Those that are chosen beside the default."""


def visit(page: Any, address: str, methods: list[str]) -> None:
    """Explain two classes, delete what matters most to one, and uncover half of before."""
    page.goto(address)
    page.locator("[data-example='1']").click()
    shown(page, 1)
    page.locator("#targets label").nth(1).click()
    shown(page, 2)
    for number, title in enumerate(methods):
        box = page.locator("#methods input")
        box.fill(title)
        page.get_by_role("option").first.wait_for()
        box.press("Enter")
        box.blur()
        shown(page, 2 * (number + 2))
    stage = page.locator("#maps .grid .stage").first
    for patch in highest(page):
        area = stage.bounding_box()
        row, column = divmod(patch, 16)
        place = {"x": (column + 0.5) * area["width"] / 16, "y": (row + 0.5) * area["height"] / 16}
        stage.click(position=place)
    page.locator("#prediction p", has_text="6 of 256").wait_for()
    page.locator("#plain input[type=range]").fill("50")
    page.mouse.move(0, 0)


def shown(page: Any, maps: int) -> None:
    """Wait for the curves of so many maps."""
    page.wait_for_function(f"document.querySelectorAll('#maps .grid svg').length == {maps}")


def highest(page: Any) -> list[int]:
    """The patches with the largest values on the first map."""
    found: list[int] = page.evaluate(
        """() => {
          const figure = document.querySelector("#maps .grid figure");
          const values = JSON.parse(figure.dataset.after).flat();
          return values.map((_, i) => i).sort((a, b) => values[b] - values[a]).slice(0, 6);
        }"""
    )
    return found


def main() -> None:
    from playwright.sync_api import sync_playwright

    served = serve(load("builtin:mosaic"), wait=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            visit(page, str(served.local_url), METHODS[name])
            page.screenshot(path=IMAGES / f"page-{name}.png", full_page=True)
        browser.close()
    served.close()


if __name__ == "__main__":
    main()
