"""The floating tensors that a model returns, found in any nesting, each with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

Outputs = dict[str, Tensor]


def flatten(output: Any) -> Outputs:
    """Return the tensors of `output` by path, through mappings, sequences and dataclasses.

    Anything else, such as a key-value cache, is no output to be explained and is passed over.

    >>> list(flatten({"logits": torch.zeros(1), "states": (torch.ones(2), None)}))
    ['logits', 'states.0']
    """
    return dict(_walk("", output))


def dependent(output: Any) -> list[str]:
    """The paths of the real floating tensors in `output` that carry a gradient."""
    tensors = flatten(output)
    return [path for path, z in tensors.items() if z.is_floating_point() and z.requires_grad]


def projection(paths: list[str], seed: int = 0) -> Callable[[Any], Tensor]:
    """A target y = Σ w ⊙ out over the tensors at `paths`, with w = |normal| ⊙ sign(out), seeded.

    Random weights listen to every entry of every output; a class logit would listen to one. Their
    signs are those of the outputs, so no two terms cancel: y is as large as the outputs are, and an
    error relative to y is not made large, or small, by the chance of the draw. Entries that are not
    finite (a masked logit) get weight zero.

    >>> y = projection(["a"])({"a": torch.tensor([3.0, -4.0, torch.inf])})
    >>> y == projection(["a"])({"a": torch.tensor([-3.0, 4.0, 0.0])}), bool(y > 0)
    (tensor(True), True)
    """

    def target(output: Any) -> Tensor:
        tensors = flatten(output)
        generator = torch.Generator().manual_seed(seed)
        parts = [_weighed(tensors[path], generator) for path in paths]
        if not parts:
            raise ValueError("no output depends on the input: there is nothing to explain")
        return torch.stack(parts).sum()

    return target


def _weighed(z: Tensor, generator: torch.Generator) -> Tensor:
    w = torch.randn(z.shape, generator=generator, dtype=torch.float64).abs()
    finite = z.detach().isfinite()
    w = torch.where(finite, w * z.detach().sign(), 0.0)
    return (w * z.double().masked_fill(~finite, 0.0)).sum()


def differing(first: Outputs, second: Outputs) -> list[str]:
    """The paths where two outputs are not identical bit by bit (NaN equals NaN)."""
    if first.keys() != second.keys():
        return sorted(first.keys() ^ second.keys())
    return [path for path in first if not _identical(first[path], second[path])]


def _identical(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = a.detach(), b.detach()
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return (
        torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
        if a.is_floating_point()
        else a.equal(b)
    )


def _walk(path: str, output: Any) -> Iterator[tuple[str, Tensor]]:
    if isinstance(output, Tensor):
        yield path, output
    elif isinstance(output, Mapping):
        for key, value in output.items():
            yield from _walk(f"{path}.{key}".lstrip("."), value)
    elif isinstance(output, list | tuple):
        for index, value in enumerate(output):
            yield from _walk(f"{path}.{index}".lstrip("."), value)
    elif is_dataclass(output) and not isinstance(output, type):
        for field in fields(output):
            yield from _walk(f"{path}.{field.name}".lstrip("."), getattr(output, field.name))
