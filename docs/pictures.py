"""The picture at the top of README.md, made by the code that stands below it.

python -m docs.pictures
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PICTURE = "mosaic.png"


def main() -> None:
    """Run the first example of README.md and keep the picture that it saves."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if first is None:
        raise ValueError("README.md has no Python example")
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", first[1]], cwd=folder, check=True)
        shutil.copy(Path(folder) / PICTURE, ROOT / "docs" / "images" / PICTURE)


if __name__ == "__main__":
    main()
