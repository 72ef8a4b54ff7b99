"""Layouts by shape alone: where a tensor has a place, where it has none, and in which order."""

from __future__ import annotations

import pytest
import torch

from libragrad.geometry.layout import Layout, layout_of
from libragrad.geometry.order import coarsened

SQUARE = (224, 224)
VIT = Layout((14, 14), prefix=1, channel=2)
MAP = Layout((14, 14), prefix=0, channel=1)


@pytest.mark.parametrize(
    ("shape", "image", "known", "expected"),
    [
        ((2, 197, 192), SQUARE, None, VIT),
        ((2, 196, 192), SQUARE, None, Layout((14, 14), 0, 2)),
        ((2, 201, 192), SQUARE, None, Layout((14, 14), 5, 2)),
        ((2, 141, 192), (160, 224), None, Layout((10, 14), 1, 2)),
        ((2, 14, 14, 384), SQUARE, None, Layout((14, 14), 0, 3)),
        ((2, 384, 14, 14), SQUARE, None, MAP),
        ((2, 96, 40, 64), (160, 256), None, Layout((40, 64), 0, 1)),
        ((2, 8, 8, 13), (250, 250), None, Layout((8, 8), 0, 3)),
        # Inside a block: as the block, without CLS, coarser, transposed.
        ((2, 197, 576), SQUARE, VIT, VIT),
        ((2, 196, 192), SQUARE, VIT, Layout((14, 14), 0, 2)),
        ((2, 197, 192), SQUARE, Layout((14, 14), 0, 2), VIT),
        ((2, 192, 14, 14), SQUARE, VIT, Layout((14, 14), 0, 1)),
        ((2, 49, 64), SQUARE, Layout((14, 14), 0, 2), Layout((7, 7), 0, 2)),
        ((2, 384, 196), SQUARE, Layout((14, 14), 0, 2), Layout((14, 14), 0, 1)),
        ((2, 64, 28, 28), SQUARE, MAP, Layout((28, 28), 0, 1)),
        # Square by accident: the count that is known wins.
        ((2, 196, 576), SQUARE, Layout((14, 14), 0, 2), Layout((14, 14), 0, 2)),
        ((1, 576, 196), SQUARE, Layout((14, 14), 0, 2), Layout((14, 14), 0, 1)),
        # Text, also with the sequence first.
        ((3, 9, 32), None, Layout((1, 9), 0, 2), Layout((1, 9), 0, 2)),
        ((9, 3, 32), None, Layout((1, 9), 0, 2, batch=1), Layout((1, 9), 0, 2, batch=1)),
    ],
)
def test_what_has_a_place(shape, image, known, expected):
    batch = shape[expected.batch]
    assert layout_of(shape, image, known, batch=batch) == expected


@pytest.mark.parametrize(
    ("shape", "known"),
    [
        ((2, 1000), None),
        ((2, 192), VIT),
        ((2, 1, 192), VIT),
        ((2, 512, 1, 1), MAP),
        ((2, 12, 197, 64), VIT),  # heads
        ((2, 12, 64, 64), Layout((8, 8), 0, 2)),  # heads × tokens × width, no map of 64 × 64
        ((128, 49, 96), None),  # windows in the batch
        ((8, 7, 7, 96), Layout((14, 14), 0, 3)),
        ((2, 4, 49, 96), None),
        ((2, 192, 392), Layout((14, 14), 0, 2)),  # a hidden layer over the tokens
        ((2, 8, 32), Layout((1, 9), 0, 2)),
    ],
)
def test_what_has_none(shape, known):
    assert layout_of(shape, SQUARE, known, batch=2) is None


def test_the_prefix_may_be_given():
    assert layout_of((1, 50, 8), SQUARE, prefix=1) == Layout((7, 7), 1, 2)
    assert layout_of((1, 50, 8), SQUARE, prefix=2) is None


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (Layout((2, 3), 0, 1), (4, 8, 2, 3)),
        (Layout((2, 3), 0, 3), (4, 2, 3, 8)),
        (Layout((2, 3), 1, 2), (4, 7, 8)),
        (Layout((2, 3), 1, 1), (4, 8, 7)),
        (Layout((2, 3), 0, 2, batch=1), (6, 4, 8)),
        (Layout((2, 3), 0, -1), (4, 2, 3, 8)),
    ],
)
def test_tokens_are_batch_then_positions_then_channels(layout, shape):
    x = torch.arange(torch.Size(shape).numel()).reshape(shape)
    tokens = layout.tokens(x)
    assert tokens.shape == (4, layout.count, 8)
    assert sorted(tokens.flatten().tolist()) == x.flatten().tolist()
    last = layout.count - 1
    at = {0: (0, 0, 0, 0), last: (0, 0, 1, 2)}
    for token in at:
        index = [0] * x.ndim
        if x.ndim == 4:
            axes = [axis for axis in (1, 2, 3) if axis != layout.channel % 4]
            index[axes[0]], index[axes[1]] = at[token][2:]
        else:
            axis = next(a for a in range(3) if a not in (layout.batch, layout.channel))
            index[axis] = token
        assert tokens[0, token, 0] == x[tuple(index)]


def test_an_order_of_its_own_is_undone():
    layout = Layout((2, 2), 1, 2, order=(2, 0, 1, 3, 4))
    x = torch.tensor([[[1.0], [2.0], [-1.0], [3.0], [4.0]]])
    assert layout.tokens(x).flatten().tolist() == [-1.0, 1.0, 2.0, 3.0, 4.0]
    alone = layout_of((1, 4, 8), (8, 8), layout)
    assert alone == Layout((2, 2), 0, 2)


def test_pooling_along_an_order():
    units = (0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15)  # 2 × 2 units, one by one
    assert coarsened(units, (4, 4), 4) == ((2, 2), None)
    strided = tuple(
        (4 * (r % 2) * 2 + 4 * (c % 2)) + 2 * (r // 2) + c // 2 for r in range(4) for c in range(4)
    )
    assert coarsened(strided, (4, 4), 4) == ((2, 2), None)
    assert coarsened(units, (4, 4), 3) is None
    assert coarsened(tuple(range(16)), (4, 4), 8) == ((4, 2), None)
