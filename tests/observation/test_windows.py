"""Biases inside windows, halves and turned batches are given to the tokens that they belong to."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from libragrad import LIBRA, balanced, explain
from tests.geometry.models import Joined
from tests.methods.tiny import agrees, built, pictures, timm_model

WINDOW = 4


def swin() -> Any:
    """8 × 8 tokens in windows of 4 × 4, shifted by 2 in the second block; then 4 × 4."""
    return timm_model(
        "swin_tiny_patch4_window7_224",
        img_size=32,
        embed_dim=16,
        depths=(2, 2),
        num_heads=(2, 2),
        window_size=WINDOW,
    )


def unwound(windows: Tensor, grid: int, shift: int) -> Tensor:
    """From (B · windows, 16) to (B, grid, grid): put each window back, then turn the roll back."""
    per_side = grid // WINDOW
    maps = torch.zeros(len(windows) // per_side**2, grid, grid, dtype=windows.dtype)
    for number, window in enumerate(windows):
        picture, place = divmod(number, per_side**2)
        top, left = (WINDOW * i for i in divmod(place, per_side))
        for i in range(WINDOW):
            for j in range(WINDOW):
                row, column = (top + i + shift) % grid, (left + j + shift) % grid
                maps[picture, row, column] += window[i * WINDOW + j]
    return maps


def finer(coarse: Tensor, size: int) -> Tensor:
    """Each cell's amount in equal parts on the cells that it covers."""
    times = size // coarse.shape[-1]
    spread = coarse.repeat_interleave(times, 1).repeat_interleave(times, 2)
    return spread / times**2


def four_to_a_cell(merged: Tensor) -> Tensor:
    """Quarters of the channels of (B, 4, 4, 4 C) are the tokens of a cell, column by column."""
    maps = torch.zeros(len(merged), 8, 8, dtype=merged.dtype)
    for k, part in enumerate(merged.chunk(4, dim=-1)):
        column, row = divmod(k, 2)
        maps[:, row::2, column::2] = part.sum(-1)
    return maps


def by_hooks(model: Any, x: Tensor) -> tuple[Tensor, dict[str, tuple[Tensor, Tensor]]]:
    """Return Input×Grad of h₀, and b and ∂y/∂z of every linear layer and norm after it."""
    kept: dict[str, tuple[Tensor, Tensor]] = {}
    start: list[Tensor] = []

    def begins(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        start.append(inputs[0].detach().requires_grad_())
        return (start[0],)

    model.patch_embed.norm.register_forward_pre_hook(begins)
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.LayerNorm)) and module.bias is not None:

            def keeps(module: Any, inputs: Any, z: Tensor, name: str = name) -> None:
                z.register_hook(lambda g: kept.update({name: (module.bias.detach(), g)}))

            module.register_forward_hook(keeps)
    with balanced(LIBRA):
        z = model(x)
    z[:, 1].sum().backward()
    assert start[0].grad is not None
    return (start[0] * start[0].grad).sum(-1).detach(), kept


def test_fullgrad_of_a_swin_by_the_inverse_of_its_windows() -> None:
    """Every linear layer and norm by a hook of its own; each map brought back by hand."""
    model, x = swin(), pictures()
    e = explain(model, x, 1, method="fullgrad")
    wanted, kept = by_hooks(model, x)
    rest, shifts = torch.zeros(2, dtype=torch.float64), set()
    for name, (b, g) in kept.items():
        amounts = (b * g).sum(-1)
        if name == "head.fc":
            rest += amounts
        elif "downsample" in name:
            wanted = wanted + four_to_a_cell(b * g)
        elif ".attn." in name:
            block = model.get_submodule(name.split(".attn")[0])
            grid, shift = block.input_resolution[0], block.shift_size[0]
            wanted = wanted + finer(unwound(amounts.flatten(1), grid, shift), 8)
            shifts.add(shift)
        else:
            side = round((amounts.numel() / 2) ** 0.5)
            wanted = wanted + finer(amounts.reshape(2, side, side), 8)
    assert shifts == {0, 2}
    assert agrees(e.map, wanted)
    assert agrees(e.unattributed, rest)


@pytest.mark.parametrize("place", ["front", "middle", "end", "mean"])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_pytorchs_encoder_in_a_batch_is_the_same_picture_by_picture(
    place: str, batch_first: bool, norm_first: bool
) -> None:
    model = built(Joined(place, batch_first=batch_first, norm_first=norm_first))
    x = pictures(3, 24, 32)
    methods = ["fullgrad", "fullgrad+", "gradcam", "genatt", "rollout", "attcat"]
    whole = explain(model, x, 1, methods=methods)
    sums = whole["fullgrad"].map.flatten(1).sum(1) + whole["fullgrad"].unattributed
    assert agrees(sums, whole["fullgrad"].output)
    for i in range(3):
        alone = explain(model, x[i : i + 1], 1, methods=methods)
        for a, b in zip(whole, alone, strict=True):
            assert agrees(a.tokens[i : i + 1], b.tokens), a.name


def test_maps_move_with_the_place_of_cls() -> None:
    """The same model with CLS at the front, in the middle and at the end: the same map."""
    maps = []
    for place in ("front", "middle", "end"):
        model = built(Joined(place))
        found = explain(model, pictures(2, 24, 32), 1, methods=["fullgrad", "genatt", "tokentm"])
        maps.append([e.tokens for e in found])
    for other in maps[1:]:
        for a, b in zip(maps[0], other, strict=True):
            assert agrees(a, b)
