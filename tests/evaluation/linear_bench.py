"""A bench whose numbers are known: a linear model on seeded pictures of sixteen tokens.

The logits are the sums of what each token says for each class, so deleting a token takes
exactly its part away, and Input×Grad is complete.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from libragrad.evaluation import Cell, Deletion, Row

TOKENS, CLASSES = 16, 4


@dataclass(frozen=True)
class Picture:
    id: str
    says: np.ndarray  # what each token says for each class (tokens, classes)
    label: int


@dataclass(frozen=True)
class LinearBench:
    """`corrupt` pictures cannot be read; `hopeless` methods fail; `loss` models cannot be had.

    The first process to measure the picture `deadly` dies of it and leaves the file `scar`.
    """

    size: int = 30
    versions: Mapping[str, str] = field(
        default_factory=lambda: {"libragrad": "1", "torch": "2", "weights": "abc"}
    )
    corrupt: tuple[str, ...] = ()
    hopeless: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    deadly: str | None = None
    scar: Path | None = None
    log: Path | None = None

    def records(self, dataset: str, samples: int, seed: int) -> Sequence[str]:
        order = np.random.default_rng(seed).permutation(self.size)
        return [f"{dataset}-{number:03d}" for number in order[:samples]]

    def manifest(self, model: str, dataset: str) -> Mapping[str, str]:
        return self.versions

    def worker(self, model: str, device: str, batch_size: int) -> LinearWorker:
        if model in self.lost:
            raise OSError(f"no weights for {model}")
        return LinearWorker(self, model)


@dataclass(frozen=True)
class LinearWorker:
    bench: LinearBench
    model: str

    def load(self, dataset: str, record: str) -> Picture:
        if record in self.bench.corrupt:
            raise ValueError(f"{record}.png is cut short")
        rng = _rng(self.model, record)
        says = rng.normal(size=(TOKENS, CLASSES))
        return Picture(record, says, int(rng.integers(CLASSES)))

    def measure(self, cells: Sequence[Cell], pictures: Sequence[Picture]) -> Iterator[Row]:
        for cell in cells:
            if cell.method in self.bench.hopeless:
                raise RuntimeError(f"{cell.method} does not apply to {self.model}")
        for picture in pictures:
            self._die_once(picture)
            self._note(picture, len(cells))
            for cell in cells:
                yield measure(cell, picture)

    def _die_once(self, picture: Picture) -> None:
        scar = self.bench.scar
        if picture.id == self.bench.deadly and (scar is None or not scar.exists()):
            if scar is not None:
                scar.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def _note(self, picture: Picture, cells: int) -> None:
        if self.bench.log is not None:
            with self.bench.log.open("a") as log:
                log.write(f"{self.model} {picture.id} {cells}\n")


def measure(cell: Cell, picture: Picture) -> Row:
    logits = picture.says.sum(axis=0)
    predicted = int(logits.argmax())
    target = predicted if cell.target == "predicted" else picture.label
    tokens = attribution(cell, picture, target)
    known: dict[str, Any] = {"label": picture.label, "predicted": predicted}
    if cell.metric == "completeness":
        total = float(tokens.sum())
        return Row(cell, picture.id, **known, y=float(logits[target]), total=total, unattributed=0)
    if cell.metric == "segmentation":
        return Row(
            cell, picture.id, **known, average_precision=0.5, pointing_game=1.0, mass_accuracy=0.25
        )
    removed = (0.0, 0.25, 0.5, 0.75)
    ranking = np.argsort(-tokens, kind="stable")
    return Row(
        cell,
        picture.id,
        **known,
        masking="drop",
        removed=removed,
        most=curve(picture, predicted, [ranking[int(r * TOKENS) :] for r in removed]),
        least=curve(picture, predicted, [ranking[: TOKENS - int(r * TOKENS)] for r in removed]),
    )


def attribution(cell: Cell, picture: Picture, target: int) -> np.ndarray:
    if cell.method == "random":
        return _rng("random", str(cell.seed), picture.id).random(TOKENS)
    exact = picture.says[:, target]
    # A plain gradient is a bad witness here too: it sees a third of what a token says.
    return exact if cell.preset == "Libra" else np.where(np.arange(TOKENS) % 3, 0.1, exact)


def curve(picture: Picture, predicted: int, kept: Sequence[np.ndarray]) -> Deletion:
    logits = np.stack([picture.says[np.sort(k)].sum(axis=0) for k in kept])
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return Deletion(
        prediction=tuple(int(k) for k in logits.argmax(axis=1)),
        label_probability=tuple(p[:, picture.label].tolist()),
        predicted_probability=tuple(p[:, predicted].tolist()),
    )


def _rng(*names: str) -> np.random.Generator:
    digest = hashlib.sha256("\n".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
