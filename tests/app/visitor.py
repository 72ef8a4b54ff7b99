"""What somebody does on the page and sees there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from libragrad.models.mosaic import mosaic_images

PATCHES = 16


def mosaic_file(index: int, kind: str = "PNG", **options: Any) -> bytes:
    """A built-in picture as the bytes of a file."""
    file = BytesIO()
    Image.fromarray(mosaic_images().images[index]).save(file, kind, **options)
    return file.getvalue()


class Visitor:
    """One browser window."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(40_000)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("#upload input[type=file]", state="attached")

    def upload(self, content: bytes, name: str = "mosaic.png") -> None:
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self.page.locator("#upload input[type=file]").set_input_files(files=[file])

    def paste(self, name: str, content: str) -> None:
        """Paste a file whose content is that JavaScript."""
        self.page.evaluate(
            f"""() => {{
              const data = new DataTransfer();
              data.items.add(new File([{content}], "{name}"));
              document.dispatchEvent(new ClipboardEvent("paste", {{ clipboardData: data }}));
            }}"""
        )

    def explained(self, name: str, maps: int = 1) -> None:
        """Wait until the maps of that picture are there, with their curves."""
        self.page.locator("#maps .seen p", has_text=name).wait_for()
        self.until(f"document.querySelectorAll('#maps .grid svg').length == {maps}")

    def until(self, condition: str) -> None:
        self.page.wait_for_function(condition)

    def alert(self, text: str) -> str:
        alert = self.page.locator("#notice [role=alert]", has_text=text)
        alert.wait_for()
        return str(alert.inner_text())

    def calm(self) -> None:
        """Wait until nothing is announced."""
        self.page.locator("#notice p").wait_for(state="detached")

    def map(self, number: int = 0, which: str = "after") -> np.ndarray:
        figure = self.page.locator("#maps .grid figure").nth(number)
        return np.array(json.loads(figure.get_attribute(f"data-{which}")))

    def stage(self, number: int = 0) -> Any:
        return self.page.locator("#maps .grid .stage").nth(number)

    def place(self, patch: int) -> dict[str, float]:
        """The middle of a patch on a map, in pixels of the screen."""
        box = self.stage().bounding_box()
        row, column = divmod(patch, PATCHES)
        return {
            "x": box["width"] * (column + 0.5) / PATCHES,
            "y": box["height"] * (row + 0.5) / PATCHES,
        }

    def delete(self, patches: Sequence[int]) -> None:
        for patch in patches:
            self.stage().click(position=self.place(patch))

    def deleted(self, count: int) -> None:
        """Wait until the prediction speaks of so many deleted patches."""
        text = f"{count} of 256 patches deleted" if count else "Click patches to delete them"
        self.page.locator("#prediction p", has_text=text).wait_for()

    def bars(self) -> dict[str, str]:
        """The prediction: classes and what is said of them."""
        rows = self.page.locator("#prediction li").all()
        return {
            row.locator("span").nth(0).inner_text(): row.locator("span").nth(1).inner_text()
            for row in rows
        }

    def choose_method(self, title: str) -> None:
        box = self.page.locator("#methods input")
        box.fill(title)
        self.page.get_by_role("option").first.wait_for()
        box.press("Enter")
        box.blur()

    def save(self, kind: str) -> bytes:
        with self.page.expect_download() as waiting:
            self.page.locator(f"#save-{kind}").click()
        content: bytes = waiting.value.path().read_bytes()
        return content

    def programs(self) -> tuple[str, str]:
        """The command line and the Python that are shown."""
        self.page.locator("#again button").first.click()
        self.until("document.querySelectorAll('#again textarea').length == 2")
        command, python = self.page.locator("#again textarea").all()
        return command.input_value(), python.input_value()
