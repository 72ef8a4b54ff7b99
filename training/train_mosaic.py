"""Train the mosaic model on Fashion-MNIST: about three quarters of an hour on one core.

    apt-get install dataset-fashion-mnist
    python training/train_mosaic.py

Two rounds of stages, each with its own learning-rate schedule. First the model sees one cell at a
time, then whole mosaics, each with half of the patches left out at random, and last whole mosaics.
Leaving tokens out costs nothing but the positions, makes a step several times cheaper, and
accustoms the model to pictures with deleted patches, which is how attributions are tested.

In the second round every patch is also asked what its own cell holds (Jiang et al., All Tokens
Matter, NeurIPS 2021, arXiv:2104.10858), the steps are small and many, and the matrix products run
in bfloat16.

Every number comes from `--seed`; on one thread of the same machine and PyTorch, the same seed
gives the same weights. The held-out mosaics play no part, not even to choose a step.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from make_mosaics import CLASSES, FASHION, Parts, read_fashion, training_batch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from libragrad.models import mosaic, safetensors
from libragrad.models.mosaic.data import preprocess, render
from libragrad.models.mosaic.vit import MosaicViT

SHIPPED = Path(__file__).parents[1] / "src/libragrad/models/mosaic/weights.safetensors"


@dataclass(frozen=True)
class Stage:
    """`steps` steps on `count` mosaics each with `share` of the patches; `alone`: cell by cell.

    `patches` is the weight of the loss of the patches' own answers.
    """

    name: str
    steps: int
    count: int
    share: float
    alone: bool
    patches: float = 0.0


ROUNDS = (
    (
        Stage("cells", steps=2600, count=32, share=0.5, alone=True),
        Stage("half mosaics", steps=1800, count=48, share=0.5, alone=False),
        Stage("whole mosaics", steps=280, count=48, share=1.0, alone=False),
    ),
    (
        Stage("half mosaics", steps=6500, count=16, share=0.5, alone=False, patches=1.0),
        Stage("whole mosaics", steps=600, count=16, share=1.0, alone=False, patches=1.0),
    ),
)


def visible(rng: np.random.Generator, stage: Stage, grid: int) -> Tensor:
    """Which tokens each training sequence keeps, [count, sequences a mosaic, tokens]; 0 is CLS."""
    patches = np.arange(grid * grid).reshape(2, grid // 2, 2, grid // 2)
    cells = patches.transpose(0, 2, 1, 3).reshape(4, -1)
    groups = cells if stage.alone else cells.reshape(1, -1)
    kept = round(stage.share * groups.shape[1])
    order = rng.random((stage.count, *groups.shape)).argsort(axis=-1)[..., :kept]
    chosen = np.take_along_axis(groups[None], order, axis=-1)
    return F.pad(torch.from_numpy(1 + chosen), (1, 0))


def presence(parts: Parts, alone: bool) -> Tensor:
    """Which classes each training sequence holds, [sequences, classes], as 0 or 1."""
    here = parts.cells.reshape(-1, 4, 1) == np.arange(CLASSES)
    held = here.reshape(-1, CLASSES) if alone else here.any(axis=1)
    return torch.from_numpy(held).float()


def patch_truth(parts: Parts, keep: Tensor, grid: int) -> Tensor:
    """What the cell of each kept patch holds, [sequences, kept, classes], as 0 or 1."""
    row, column = (keep[..., 1:] - 1) // grid, (keep[..., 1:] - 1) % grid
    cell = row // (grid // 2) * 2 + column // (grid // 2)
    cells = torch.from_numpy(parts.cells.reshape(-1, 1, 4)).long().expand(-1, keep.shape[1], -1)
    held = cells.gather(2, cell)
    return (held[..., None] == torch.arange(CLASSES)).float().flatten(0, 1)


def forward(model: MosaicViT, parts: Parts, keep: Tensor) -> Tensor:
    """Logits [sequences, classes] of the mosaics' kept tokens."""
    return model.classify(kept_tokens(model, parts, keep))


def kept_tokens(model: MosaicViT, parts: Parts, keep: Tensor) -> Tensor:
    """The first block's input [sequences, kept, width]."""
    h = model.tokens(preprocess(render(parts.grey, parts.tint, parts.background)))
    mosaic = torch.arange(len(h))[:, None, None]
    return h[mosaic, keep].flatten(0, 1)


def answers(model: MosaicViT, parts: Parts, keep: Tensor) -> Tensor:
    """The head's logits at every kept token [sequences, kept, classes]; those of CLS come first."""
    with torch.autocast("cpu", torch.bfloat16), AttentionInFloat():
        h = kept_tokens(model, parts, keep)
        for block in model.blocks:
            h = block(h)
    logits: Tensor = model.head(model.norm(h.float()))
    return logits


class AttentionInFloat(TorchFunctionMode):
    """Within it fused attention runs in float32: in bfloat16 its backward is slow on processors."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is not F.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        with torch.autocast("cpu", enabled=False):
            return func(*(x.float() for x in args), **(kwargs or {}))


def losses(
    model: MosaicViT, parts: Parts, keep: Tensor, stage: Stage
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, and the logits and the truth of CLS."""
    truth = presence(parts, stage.alone)
    if not stage.patches:
        logits = forward(model, parts, keep)
        return F.binary_cross_entropy_with_logits(logits, truth), logits, truth
    every = answers(model, parts, keep)
    logits, own = every[:, 0], every[:, 1:]
    loss = F.binary_cross_entropy_with_logits(logits, truth)
    patches = F.binary_cross_entropy_with_logits(own, patch_truth(parts, keep, model.grid))
    return loss + stage.patches * patches, logits, truth


def learning_rate(done: float, peak: float, warm: float = 0.04) -> float:
    """A linear rise to `peak`, then half a cosine down to zero; `done` runs from 0 to 1."""
    if done < warm:
        return peak * done / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (done - warm) / (1 - warm)))


def steps_of(stages: tuple[Stage, ...]) -> Iterator[tuple[int, Stage]]:
    """Each step's number with its stage."""
    yield from enumerate(stage for stage in stages for _ in range(stage.steps))


def train(
    seed: int,
    images: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    rounds: tuple[tuple[Stage, ...], ...] = ROUNDS,
) -> MosaicViT:
    """The trained model; prints how far it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = MosaicViT().train()
    first = 0
    for stages in rounds:
        train_round(model, seed, first, images, labels, stages)
        first += sum(stage.steps for stage in stages)
    return model.eval()


def train_round(
    model: MosaicViT,
    seed: int,
    first: int,
    images: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    stages: tuple[Stage, ...],
    peak: float = 1e-3,
    report: int = 100,
) -> None:
    """Train `model` in place; `first` steps were made before this round.

    Prints the loss and the share of right presences every `report` steps.
    """
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.05, betas=(0.9, 0.98))
    total, began = sum(stage.steps for stage in stages), time.monotonic()
    seen: list[tuple[float, float]] = []
    for step, stage in steps_of(stages):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step / total, peak)
        parts = training_batch((seed, first + step), images, labels, stage.count, empty=0.1)
        keep = visible(np.random.default_rng((seed, first + step, 1)), stage, model.grid)
        loss, logits, truth = losses(model, parts, keep, stage)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        seen.append((loss.item(), ((logits > 0) == (truth > 0)).float().mean().item()))
        if (step + 1) % report == 0 or step + 1 == total:
            mean_loss, right = np.mean(seen, axis=0)
            minutes = (time.monotonic() - began) / 60
            print(
                f"{minutes:5.1f} min  step {step + 1}/{total}  {stage.name}: "
                f"loss {mean_loss:.4f}, presences right {right:.4f}",
                flush=True,
            )
            seen.clear()


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=FASHION, help="folder of Fashion-MNIST")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="other numbers give other weights")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    model = train(args.seed, *read_fashion(args.data, "train"))
    safetensors.write(args.out, model.state_dict())
    print(f"{args.out}, {args.out.stat().st_size / 1e6:.2f} MB\n")
    print(mosaic.measure(mosaic.load(args.out), mosaic.mosaic_images()))


if __name__ == "__main__":
    main()
