"""Tokens that do not stand in the order of the image: permutations, and pooling along them."""

from __future__ import annotations

from collections.abc import Iterable


def without_prefix(order: tuple[int, ...] | None, prefix: int) -> tuple[int, ...] | None:
    """Return the order of the patches alone, as if the prefix tokens had been taken out.

    >>> without_prefix((1, 2, 0), prefix=1)  # patches at 2 and 0, CLS between them at 1
    (1, 0)
    """
    if order is None:
        return None
    rank = {place: i for i, place in enumerate(sorted(order[prefix:]))}
    return plain(rank[place] for place in order[prefix:])


def plain(order: Iterable[int]) -> tuple[int, ...] | None:
    """Return the order, or None if it is that of the positions themselves.

    >>> plain([0, 1, 2]), plain([1, 0])
    (None, (1, 0))
    """
    order = tuple(order)
    return None if order == tuple(range(len(order))) else order


def coarsened(
    order: tuple[int, ...], grid: tuple[int, int], n: int
) -> tuple[tuple[int, int], tuple[int, ...] | None] | None:
    """Return grid and order of the n tokens that pooling leaves, or None if none fits.

    A model that keeps its tokens in an order of its own pools those that stand side by side, or
    those that stand n apart. The right one of the two pools rectangles of the grid.

    >>> coarsened((0, 1, 4, 5, 2, 3, 6, 7), (2, 4), n=2)  # tokens 0…3 are the left half
    ((1, 2), None)
    """
    total = grid[0] * grid[1]
    if n < 1 or total % n or n == total:
        return None
    ratio = total // n
    cell_of = {place: divmod(i, grid[1]) for i, place in enumerate(order)}
    for groups in (
        [[cell_of[k * ratio + i] for i in range(ratio)] for k in range(n)],
        [[cell_of[k + i * n] for i in range(ratio)] for k in range(n)],
    ):
        rectangle = _rectangle(groups[0])
        if rectangle is None or grid[0] % rectangle[0] or grid[1] % rectangle[1]:
            continue
        if all(_rectangle(cells) == rectangle for cells in groups):
            coarse = grid[0] // rectangle[0], grid[1] // rectangle[1]
            corner = [min(cells) for cells in groups]
            index = {(r // rectangle[0], c // rectangle[1]): k for k, (r, c) in enumerate(corner)}
            if len(index) == n:
                return coarse, plain(index[divmod(i, coarse[1])] for i in range(n))
    return None


def _rectangle(cells: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return height and width if the cells fill a rectangle that is aligned to its own size."""
    rows, columns = zip(*cells, strict=True)
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    if height * width != len(cells) or min(rows) % height or min(columns) % width:
        return None
    return height, width
