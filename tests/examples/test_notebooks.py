"""The notebooks run from top to bottom, in silence and without a network, and are stored empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))

# Names of the last notebook go, its modules stay: one start of PyTorch serves all notebooks.
# tqdm, which open_clip imports, warns of widgets that only a person would look at.
ALONE = """
%reset -f
import os, socket, warnings
from libragrad.models.torchvision_cpu import declare_missing_operators
declare_missing_operators()
def refuse(*_, **__):
    raise AssertionError("a notebook asked for the network")
socket.socket.connect = refuse
os.chdir({folder!r})
warnings.filterwarnings("ignore", "IProgress not found")
del os, socket, warnings, refuse, declare_missing_operators
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel()
    yield manager
    manager.shutdown_kernel(now=True)


def name(path: Path) -> str:
    return path.stem


def test_there_are_six_stories():
    assert [path.stem for path in NOTEBOOKS] == [
        "audit_a_model",
        "clip_prompts",
        "compare_methods",
        "evaluate",
        "first_map",
        "zebra_and_elephant",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_runs(path, kernel, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    alone = nbformat.v4.new_code_cell(ALONE.format(folder=str(tmp_path)))
    notebook.cells.insert(0, alone)
    client = NotebookClient(notebook, km=kernel, timeout=300)
    try:
        client.execute()
    finally:
        if client.kc is not None:
            client.kc.stop_channels()
    said = [
        output.text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream" and output.name == "stderr"
    ]
    assert not said, "a cell warned"
    shown = [cell for cell in notebook.cells if cell.get("outputs")]
    assert shown, "the notebook shows nothing"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs, f"clear the outputs of {path.name}"
            assert cell.execution_count is None, f"clear the numbers of {path.name}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_a_short_story(path):
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].source.startswith("# ")
    assert len([cell for cell in cells if cell.cell_type == "code"]) <= 7
