"""How a tensor lies over the image: which axis holds channels, which tokens are patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from torch import Tensor

from libragrad.geometry.order import coarsened, without_prefix

MOST_PREFIX_TOKENS = 8
"""More tokens than these beside the grid are not taken for CLS and registers by shape alone."""


@dataclass(frozen=True)
class Layout:
    """How a tensor lies over the image: (B, N, C), (B, H, W, C), (B, C, H, W) or (B, C, N).

    >>> import torch
    >>> Layout((2, 3), prefix=0, channel=1).tokens(torch.zeros(5, 8, 2, 3)).shape
    torch.Size([5, 6, 8])
    >>> last = Layout((1, 2), prefix=1, channel=2, order=(2, 0, 1))  # CLS stands at the end
    >>> last.tokens(torch.tensor([[[10.0], [20.0], [-1.0]]])).flatten().tolist()
    [-1.0, 10.0, 20.0]
    """

    grid: tuple[int, int]
    """Rows and columns of patches; (1, N) for text."""
    prefix: int
    """Tokens beside the grid: CLS, registers, distillation."""
    channel: int
    """The axis of the channels; the others, after the batch, are positions."""
    batch: int = 0
    """The axis of the batch."""
    order: tuple[int, ...] | None = None
    """Where canonical token i stands among the positions; None: in their own order."""

    @property
    def count(self) -> int:
        """The number of tokens, N = prefix + H·W."""
        return self.prefix + prod(self.grid)

    def tokens(self, x: Tensor) -> Tensor:
        """Return x as (B, N, C): prefix tokens first, then the grid row by row."""
        batch, channel = self.batch % x.ndim, self.channel % x.ndim
        positions = [axis for axis in range(x.ndim) if axis not in (batch, channel)]
        tokens = x.permute(batch, *positions, channel)
        if len(positions) != 1:
            tokens = tokens.flatten(1, -2)
        return tokens if self.order is None else tokens[:, list(self.order)]

    def __str__(self) -> str:
        """Return grid and prefix, and the axes where they are not the usual ones."""
        prefix = f"{self.prefix} + " if self.prefix else ""
        notes = [f"channels on axis {self.channel}"]
        notes += [f"batch on axis {self.batch}"] if self.batch else []
        notes += ["reordered"] if self.order is not None else []
        return f"{prefix}{self.grid[0]} × {self.grid[1]} ({', '.join(notes)})"


def layout_of(
    shape: Sequence[int],
    image_shape: Sequence[int] | None,
    known: Layout | None = None,
    prefix: int | None = None,
    *,
    batch: int | None = None,
) -> Layout | None:
    """Return how a tensor of this shape lies over an image, or None if it has no place there.

    `image_shape` ends with the image's height and width (None for text). `known` is the layout of
    the block around; its grid is tried first, then coarser ones (and finer ones, where it is a map
    and no sequence). `batch` is the size of the batch: windows that were moved into the batch have
    no place. Nor has a pooled vector, as (B, C), (B, 1, C) or (B, C, 1, 1).

    >>> layout_of((2, 197, 192), (224, 224))
    Layout(grid=(14, 14), prefix=1, channel=2, batch=0, order=None)
    >>> layout_of((2, 96, 56, 56), (224, 224))
    Layout(grid=(56, 56), prefix=0, channel=1, batch=0, order=None)
    >>> layout_of((2, 1000), (224, 224)), layout_of((128, 49, 96), (224, 224), batch=2)
    (None, None)
    """
    at = known.batch if known is not None else 0
    if len(shape) not in (3, 4) or (batch is not None and shape[at] != batch):
        return None
    usual = [axis for axis in (len(shape) - 1, 1) if axis != at]
    if known is not None and known.channel in usual:
        usual.sort(key=lambda axis: axis != known.channel)
    found: list[tuple[int, Layout]] = []
    for channel in usual:
        if shape[1] == 1 and channel == 1 and len(shape) == 3:
            continue  # (B, 1, C): a pooled vector, also where it has as many channels as tokens
        positions = [n for axis, n in enumerate(shape) if axis not in (at, channel)]
        if len(positions) == 1:
            fit = _as_known(positions[0], known, prefix)
            usual_axis = channel == len(shape) - 1 and shape[channel] > 1
            if fit is None and usual_axis and image_shape is not None:
                fit = _sequence(positions[0], image_shape, known, prefix)
        else:
            fit = _map((positions[0], positions[1]), image_shape, known)
        if fit is not None:
            found.append((fit[0], replace(fit[1], channel=channel, batch=at)))
    return min(found, key=lambda fit: fit[0])[1] if found else None


def layout_beside(
    shape: Sequence[int], image_shape: Sequence[int] | None, known: Layout
) -> Layout | None:
    """Return how a tensor of one example lies, elsewhere in a run that has `known`.

    As `layout_of`, but the batch may have changed places, and a map may have shrunk to a point.

    >>> layout_beside((9, 1, 8), None, Layout((1, 9), 0, 2)).batch
    1
    """
    for at in (known.batch, 1 - known.batch)[: 2 if len(shape) == 3 else 1]:
        layout = layout_of(shape, image_shape, replace(known, batch=at), batch=1)
        if layout is not None:
            return layout
    if len(shape) == 4 and known.channel in (1, 3) and prod(shape) == shape[known.channel]:
        return Layout((1, 1), 0, known.channel)
    return None


def _as_known(n: int, known: Layout | None, prefix: int | None) -> tuple[int, Layout] | None:
    """Take n tokens for those that are known, with prefix tokens or without."""
    if known is not None and n == known.count and prefix in (None, known.prefix):
        return 0, known
    if known is not None and n == prod(known.grid) and not prefix:
        return 1, replace(known, prefix=0, order=without_prefix(known.order, known.prefix))
    return None


def _sequence(
    n: int, image: Sequence[int], known: Layout | None, prefix: int | None
) -> tuple[int, Layout] | None:
    """Find grid and prefix of n tokens; the larger the number before, the less sure it is."""
    options = list(range(MOST_PREFIX_TOKENS + 1)) if prefix is None else [prefix]
    if known is not None and known.order is not None:
        pooled = None if known.prefix else coarsened(known.order, known.grid, n)
        return None if pooled is None else (3, replace(known, grid=pooled[0], order=pooled[1]))
    if known is not None:
        more = n - prod(known.grid)
        if more > 0 and more in options:
            return 2, replace(known, prefix=more)
        options = [p for p in dict.fromkeys((known.prefix, 0)) if p in options]
    for p in options:
        grids = [g for g in factors(n - p) if plausible(g, image)]
        if grids:
            return 4, Layout(min(grids, key=lambda g: _mismatch(g, image)), p, channel=-1)
    return None


def _map(
    grid: tuple[int, int], image: Sequence[int] | None, known: Layout | None
) -> tuple[int, Layout] | None:
    """Accept rows × columns if an image of this shape can have them."""
    layout = Layout(grid, 0, channel=-1)
    if known is not None and grid == known.grid:
        return (1 if known.prefix else 0), layout
    windows = known is not None and (known.order is not None or 1 in grid)
    if known is not None and windows and prod(grid) == known.count:
        return 0, known
    if image is None or not plausible(grid, image):
        return None
    # Heads × tokens × width looks like a finer map than the sequence it is made of.
    sequence = known is not None and (known.prefix > 0 or known.channel == 2)
    if sequence and known is not None and grid[0] * grid[1] > prod(known.grid):
        return None
    return 4, layout


def factors(n: int) -> list[tuple[int, int]]:
    """Return all (rows, columns) with rows · columns = n.

    >>> factors(6)
    [(1, 6), (2, 3), (3, 2), (6, 1)]
    """
    return [(h, n // h) for h in range(1, n + 1) if n % h == 0]


def plausible(grid: tuple[int, int], image: Sequence[int]) -> bool:
    """Say whether one stride, rounded up or down, gives this grid: s ∈ (H/(h+1), H/(h−1)).

    >>> plausible((14, 14), (224, 224)), plausible((7, 28), (224, 224)), plausible((1, 1), (8, 8))
    (True, False, False)
    """
    if prod(grid) < 2:
        return False
    spans = [
        (size / (n + 1), size / (n - 1) if n > 1 else float("inf"))
        for size, n in zip(image[-2:], grid, strict=True)
    ]
    return max(low for low, _ in spans) < min(high for _, high in spans)


def _mismatch(grid: tuple[int, int], image: Sequence[int]) -> float:
    """How far the cells are from square."""
    height, width = image[-2] / grid[0], image[-1] / grid[1]
    return max(height, width) / min(height, width)
