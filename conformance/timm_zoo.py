"""timm: the two smallest variants of every model file, or every name there is.

The parameter counts and the input sizes come from a table that `python -m conformance.timm_zoo`
writes by building each model on the `meta` device, which holds no numbers: the big ones cost
nothing.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from conformance.case import Skipped, Subject
from conformance.randomise import Undrawn

TABLE = Path(__file__).parent / "data" / "timm.json"
CANDIDATES = (64, 96, 112, 128, 160, 192, 224, 256)
LARGE = 3_000_000
WIDE = 256


@dataclass(frozen=True)
class Entry:
    """One timm name: its model file, its parameter count, its own and its smallest input side."""

    module: str
    parameters: int
    own: int
    smallest: int
    resizable: bool


def names(everything: bool = False, table: dict[str, Entry] | None = None) -> list[str]:
    """The two smallest variants of every model file, or every name, the smallest first."""
    table = load() if table is None else table
    ordered = sorted(table, key=lambda name: (table[name].parameters, name))
    if everything:
        return ordered
    chosen: dict[str, list[str]] = defaultdict(list)
    for name in ordered:
        if len(chosen[table[name].module]) < 2:
            chosen[table[name].module].append(name)
    return [name for module in sorted(chosen) for name in chosen[module]]


def build(name: str, memory: float = float("inf")) -> Subject:
    """Build `name` with an image at its own size, or the smallest one where that costs much.

    A model whose float64 parameters need more than `memory` bytes is skipped.
    """
    entry = load()[name]
    need = entry.parameters * 8
    if need > memory:
        raise Skipped(f"{need / 2**30:.1f} GiB of float64 parameters, budget {memory / 2**30:.1f}")
    modest = entry.own <= WIDE and entry.parameters <= LARGE
    side = entry.own if modest else entry.smallest
    model = _create(name, side if entry.resizable and side != entry.own else None)
    return Subject(model, _image(model, side), note=f"input {side}")


def load() -> dict[str, Entry]:
    """Read the table of sizes."""
    rows: dict[str, dict[str, Any]] = json.loads(TABLE.read_text())
    return {name: Entry(**row) for name, row in rows.items()}


def measure(name: str) -> Entry:
    """Count the parameters of `name` and find the smallest input that it takes, on `meta`."""
    import timm
    from timm.models import _registry

    module = _registry._model_to_module[name]
    with torch.device("meta"):
        model = _create(name)
        own = _own_side(model)
        parameters = sum(p.numel() for p in model.parameters())
        fixed = not _runs(model, 2 * own) or not _runs(model, own // 2)
        smallest, resizable = own, False
        for side in (side for side in CANDIDATES if side < own):
            if _runs(model, side):
                smallest = side
                break
            if fixed and (resized := _try_create(name, side)) is not None and _runs(resized, side):
                smallest, resizable = side, True
                break
    del timm
    return Entry(module, parameters, own, smallest, resizable)


def _create(name: str, side: int | None = None) -> nn.Module:
    import timm

    options = {} if side is None else {"img_size": side}
    with warnings.catch_warnings(), Undrawn():
        warnings.simplefilter("ignore")
        model: nn.Module = timm.create_model(name, pretrained=False, **options)
    return model.eval()


def _try_create(name: str, side: int) -> nn.Module | None:
    try:
        return _create(name, side)
    except Exception:
        return None


def _own_side(model: nn.Module) -> int:
    size: tuple[int, int, int] = model.default_cfg["input_size"]  # type: ignore[assignment,index]
    return size[-1]


def _image(model: nn.Module, side: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(1, _channels(model), side, side, generator=generator)


def _channels(model: nn.Module) -> int:
    size: tuple[int, int, int] = model.default_cfg["input_size"]  # type: ignore[assignment,index]
    return size[0]


def _runs(model: nn.Module, side: int) -> bool:
    try:
        with torch.no_grad():
            model(torch.empty(1, _channels(model), side, side, device="meta"))
    except Exception:
        return False
    return True


def main() -> None:
    """Write the table of sizes, one progress line a name."""
    import timm

    rows: dict[str, dict[str, Any]] = {}
    for name in timm.list_models():
        try:
            rows[name] = asdict(measure(name))
        except Exception as error:
            print(f"{name}: not measured: {error!r}"[:200], file=sys.stderr, flush=True)
            continue
        print(name, *rows[name].values(), flush=True)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    TABLE.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    from libragrad.models.torchvision_cpu import declare_missing_operators

    declare_missing_operators()
    main()
