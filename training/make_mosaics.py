"""Make mosaics: four Fashion-MNIST garments in one picture, each in its own colour.

    apt-get install dataset-fashion-mnist
    python training/make_mosaics.py

writes the held-out mosaics that the package carries, from the test images alone; no test image
is used twice. `draw` is also what `train_mosaic.py` trains on, from the training images.
"""

from __future__ import annotations

import argparse
import gzip
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FASHION = Path("/usr/share/datasets/fashion-mnist")
SHIPPED = Path(__file__).parents[1] / "src/libragrad/models/mosaic/mosaics.npz"
CELL, GARMENT, EMPTY, CLASSES = 32, 28, -1, 10


@dataclass(frozen=True)
class Parts:
    """What a mosaic is made of; `libragrad.models.mosaic.data.render` makes the picture."""

    grey: NDArray[np.uint8]  # [M, 64, 64] garments, zero where there is none
    tint: NDArray[np.uint8]  # [M, 2, 2, 3] the colour of each garment
    background: NDArray[np.uint8]  # [M, 3]
    cells: NDArray[np.int8]  # [M, 2, 2] class in each cell, -1 for an empty one


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An IDX file's array: two zero bytes, a type (8: uint8), a rank, the sizes, the data."""
    raw = gzip.decompress(path.read_bytes())
    if raw[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path} is not an IDX file of unsigned bytes: download it again.")
    rank = raw[3]
    shape = np.frombuffer(raw, ">u4", rank, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


def read_fashion(folder: Path, split: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images [N, 28, 28] and labels [N] of `split`, "train" or "t10k"."""
    if not folder.is_dir():
        raise FileNotFoundError(
            f"No Fashion-MNIST in {folder}: run `apt-get install dataset-fashion-mnist`, "
            "or name its folder with --data."
        )
    images = read_idx(folder / f"{split}-images-idx3-ubyte.gz")
    return images, read_idx(folder / f"{split}-labels-idx1-ubyte.gz")


def draw(rng: np.random.Generator, garments: NDArray[np.uint8], cells: NDArray[np.int8]) -> Parts:
    """Put `garments` [M, 4, 28, 28] into their cells: shifted, mirrored, coloured at random.

    Where `cells` [M, 2, 2] says empty, the garment is left out.
    """
    count = len(garments)
    room = CELL - GARMENT
    shifts = rng.integers(0, room + 1, (count, 4, 2))
    mirrored = rng.random((count, 4)) < 0.5
    grey = np.zeros((count, 2 * CELL, 2 * CELL), np.uint8)
    held = cells.reshape(count, 4) != EMPTY
    for m, c in zip(*held.nonzero(), strict=True):
        top, left = shifts[m, c] + (CELL * (c // 2), CELL * (c % 2))
        garment = garments[m, c]
        grey[m, top : top + GARMENT, left : left + GARMENT] = (
            garment[:, ::-1] if mirrored[m, c] else garment
        )
    tint = hues(rng.random((count, 2, 2)), saturation=rng.uniform(0.15, 0.65, (count, 2, 2)))
    dark = hues(rng.random(count), saturation=np.full(count, 0.6))
    background = (dark * rng.uniform(0.08, 0.22, (count, 1))).astype(np.uint8)
    return Parts(grey, tint.astype(np.uint8), background, cells)


def hues(hue: NDArray[np.float64], saturation: NDArray[np.float64]) -> NDArray[np.float64]:
    """The brightest colour [..., 3] in 0..255 of a hue in [0, 1) and a saturation in [0, 1]."""
    wheel = np.abs((hue[..., None] * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1
    colour: NDArray[np.float64] = 255 * (1 - saturation[..., None] * (1 - wheel.clip(0, 1)))
    return colour


def training_batch(
    seed: tuple[int, ...],
    images: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    count: int,
    empty: float,
) -> Parts:
    """`count` mosaics of garments drawn independently; a cell stays empty with chance `empty`.

    The same seed gives the same batch.
    """
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(images), (count, 4))
    cells = labels[picks].astype(np.int8)
    cells[rng.random((count, 4)) < empty] = EMPTY
    return draw(rng, images[picks], cells.reshape(count, 2, 2))


def held_out(seed: int, images: NDArray[np.uint8], labels: NDArray[np.uint8], count: int) -> Parts:
    """`count` mosaics of four distinct classes each, that use no image twice."""
    rng = np.random.default_rng(seed)
    queues = [list(rng.permutation(np.flatnonzero(labels == c))) for c in range(CLASSES)]
    cells = np.stack([rng.permutation(CLASSES)[:4] for _ in range(count)]).astype(np.int8)
    picks = np.array([[queues[c].pop() for c in row] for row in cells])
    return draw(rng, images[picks], cells.reshape(count, 2, 2))


def main() -> None:
    """Write the held-out mosaics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=FASHION, help="folder of Fashion-MNIST")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    parts = held_out(args.seed, *read_fashion(args.data, "t10k"), args.count)
    np.savez_compressed(args.out, **asdict(parts))
    print(f"{args.count} mosaics in {args.out}, {args.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
