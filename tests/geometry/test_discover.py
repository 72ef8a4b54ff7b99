"""Discovery beside the model libraries: other layouts, overrides, errors, and no trace left."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import timm
import torch
from torch import nn

import libragrad
from libragrad.engine.inputs import prepare
from libragrad.errors import GeometryError
from libragrad.geometry import Layout, Point, Readout, discover
from libragrad.geometry.probe import Probe
from libragrad.geometry.quiet import quiet
from tests.geometry import models
from tests.geometry.expected import CLS, MEAN, Expected, chart, found, tokens

PICTURE = torch.randn(2, 3, 32, 48, generator=torch.Generator().manual_seed(0))


def test_cls_is_found_wherever_it_stands():
    for place, at in (("front", 0), ("middle", 12), ("end", 24)):
        geometry = discover(models.Joined(place).eval(), PICTURE)
        layout = geometry.start_layout
        assert (layout.grid, layout.prefix, geometry.cls) == ((4, 6), 1, 0)
        assert geometry.reads is Readout.CLS
        h = torch.arange(25.0).reshape(1, 25, 1)
        others = [i for i in range(25) if i != at]
        assert layout.tokens(h).flatten().tolist() == [at, *others]


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_sequence_may_come_before_the_batch(norm_first):
    model = models.Joined("none", batch_first=False, norm_first=norm_first).eval()
    layout = Layout((4, 6), 0, channel=2, batch=1)
    last = "encoder.layers.2"
    assert found(discover(model, PICTURE)) == Expected(
        "encoder.layers.0", layout, 3, "encoder.layers.0", last, layout, MEAN
    )


def test_blocks_written_out_are_found_by_what_they_feed():
    geometry = discover(models.WrittenOut().eval(), PICTURE)
    layout = tokens(4, 6, prefix=1)
    assert found(geometry) == Expected(
        "blocks.0.norm1", layout, 3, "blocks.0.norm1", "blocks.2.norm1", layout, CLS, 0
    )


def test_embeddings_may_be_the_input():
    geometry = discover(models.encoder().eval(), torch.randn(2, 9, models.WIDTH))
    assert geometry.image is None
    assert geometry.start_layout == tokens(1, 9)
    assert (len(geometry.blocks), geometry.reads) == (3, Readout.OTHER)


def test_a_convolutional_network_in_a_few_lines():
    layers = [models.Residual(nn.Conv2d(8, 8, 3, 1, 1)) for _ in range(2)]
    model = nn.Sequential(nn.Conv2d(3, 8, 2, 2), *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    geometry = discover(model, PICTURE)
    assert found(geometry) == Expected("1", chart(16, 24), 2, "1", "2", chart(16, 24), MEAN)


def test_tokens_in_an_order_of_their_own():
    """Hiera keeps its tokens unit by unit; pooling must find the same places again."""
    model = timm.create_model("hiera_tiny_224", stages=(1, 1, 1, 1), num_classes=5).eval()
    picture = torch.randn(1, 3, 224, 224)
    geometry = discover(model, picture)
    grids = [block.layout.grid for block in geometry.blocks]
    assert grids == [(56, 56), (56, 56), (28, 28), (14, 14)]  # a block pools inside
    layout = geometry.start_layout
    inputs = prepare(picture)
    with quiet(model):
        probe = Probe(model, inputs, inputs.leaves[0], geometry.start)
        still = probe(picture)
        for row, column in ((0, 0), (3, 50), (41, 7), (55, 55)):
            other = picture.clone()
            other[..., 4 * row + 1 : 4 * row + 3, 4 * column + 1 : 4 * column + 3] += 1
            moved = layout.tokens(probe(other) - still).norm(dim=-1).reshape(56, 56)
            rows, columns = moved.nonzero().T
            assert row in rows
            assert column in columns
            assert (rows - row).abs().max() <= 1  # the patches overlap
            assert (columns - column).abs().max() <= 1


def test_windows_side_by_side():
    """MobileViT-V2 attends among the pixels that have the same place in their 2 × 2 window."""
    model = timm.create_model("mobilevitv2_050", num_classes=5).eval()
    geometry = discover(model, torch.randn(1, 3, 128, 128))
    layouts = {str(block.point): block.layout for block in geometry.blocks}
    windows = layouts["stages.2.1.transformer.1"]
    cells = [(row, column) for row in range(16) for column in range(16)]
    assert (windows.grid, windows.channel) == ((16, 16), 1)
    assert windows.order == tuple(
        (row % 2 * 2 + column % 2) * 64 + row // 2 * 8 + column // 2 for row, column in cells
    )
    assert geometry.reads is Readout.MEAN


@pytest.mark.slow
def test_blocks_of_windows():
    """Nest keeps its tokens block by block, (B, blocks, tokens, C)."""
    model = timm.create_model("nest_tiny", num_classes=5).eval()
    geometry = discover(model, torch.randn(1, 3, 224, 224))
    grids = [block.layout.grid for block in geometry.blocks]
    assert grids == [(56, 56)] * 2 + [(28, 28)] * 2 + [(14, 14)] * 8
    order = geometry.blocks[2].layout.order
    assert order is not None
    assert order[:15] == (*range(14), 196)  # the second block of four begins at column 14
    assert geometry.blocks[-1].layout.order is None


def test_changes_in_place_are_told():
    assert discover(models.patched(models.Adding(), models.Adding()).eval(), PICTURE).in_place
    kept = [models.Residual(nn.Linear(models.WIDTH, models.WIDTH)) for _ in range(2)]
    assert not discover(models.patched(*kept).eval(), PICTURE).in_place


def test_one_module_may_be_many_blocks():
    block = models.Residual(nn.Linear(models.WIDTH, models.WIDTH))
    geometry = discover(models.patched(block, block, block).eval(), PICTURE)
    assert [b.point for b in geometry.blocks] == [Point("3"), Point("3", 1), Point("3", 2)]


# Overrides.


def vit(depth: int = 3) -> nn.Module:
    options = {"depth": depth, "embed_dim": 32, "num_heads": 2, "img_size": 64}
    return timm.create_model("vit_tiny_patch16_224", **options).eval()


def test_what_is_named_is_taken():
    model, picture = vit(), torch.randn(1, 3, 64, 64)
    listed = discover(model, picture, blocks=["blocks.1", "blocks.2"])
    assert [str(block.point) for block in listed.blocks] == ["blocks.1", "blocks.2"]
    assert str(listed.start) == "blocks.1"
    held = discover(model, picture, blocks="blocks", start="blocks.0", cls=3)
    assert len(held.blocks) == 3
    assert held.cls == 3
    inner = discover(model, picture, blocks=["blocks.0.attn", "blocks.1.attn"], start="blocks.0")
    assert inner.start_layout == tokens(4, prefix=1)
    assert discover(model, picture, grid=(4, 4), prefix=1) == discover(model, picture)
    assert discover(model, picture, grid=(2, 8)).start_layout == tokens(2, 8, prefix=1)
    assert str(discover(model, picture, start="blocks").start) == "blocks"
    assert discover(model, picture, start="patch_embed").start_layout == chart(64)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"blocks": "block"}, r"no module 'block', named in blocks=; near it: blocks"),
        ({"blocks": ["blocks.0", "head_drop.x"]}, r"no module 'head_drop.x'"),
        ({"start": "blocks.7"}, r"no module 'blocks.7', named in start=; near it: blocks\."),
        ({"grid": (4, 5)}, r"what enters blocks.0 has 17 tokens, which are not 4 × 5"),
        ({"grid": (4, 4), "prefix": 2}, r"are not 4 × 4 and prefix=2 more"),
        ({"cls": 17}, r"^cls=17 is none of the 17 tokens of the last block$"),
        ({"prefix": 3}, r"could not be found over an image of 64 × 64 pixels.*grid="),
    ],
)
def test_names_that_do_not_fit(given, message):
    model, picture = vit(), torch.randn(1, 3, 64, 64)
    with pytest.raises(GeometryError, match=message):
        discover(model, picture, **given)


def test_what_cannot_be_found_is_said():
    flat = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    with pytest.raises(GeometryError, match=r"no blocks were found in Sequential.*blocks='path"):
        discover(flat, torch.randn(2, 4))
    with pytest.raises(GeometryError, match="no blocks were found in Functional"):
        discover(models.Functional().eval(), PICTURE)
    layers = [models.Residual(nn.Linear(models.WIDTH, models.WIDTH)) for _ in range(3)]
    dropping = models.patched(*layers[:2], models.Dropping(), layers[2])
    with pytest.raises(GeometryError, match=r"what enters 6 has the shape \(1, 17, 32\).*blocks="):
        discover(dropping, PICTURE)
    assert len(discover(dropping, PICTURE, blocks=["3", "4"]).blocks) == 2
    silent = nn.Sequential(nn.Linear(4, 2))
    silent.forward = lambda x: torch.zeros(1, 2)  # type: ignore[method-assign]
    with pytest.raises(GeometryError, match="not seen to depend on any of its inputs"):
        discover(silent, torch.randn(1, 4))


def test_a_block_that_did_not_run_is_named():
    model = vit()
    model.spare = nn.Linear(2, 2)
    with pytest.raises(GeometryError, match="names spare, which did not run on a tensor"):
        discover(model, torch.randn(1, 3, 64, 64), blocks=["blocks.0", "spare"])


# No trace.


def test_the_model_is_as_it_was():
    model = timm.create_model("resnet18", num_classes=5).train()
    before = {name: x.clone() for name, x in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    picture = torch.randn(2, 3, 64, 64)
    kept = picture.clone()
    random = torch.get_rng_state()
    discover(model, picture)
    assert [module.training for module in model.modules()] == modes
    assert all(torch.equal(x, before[name]) for name, x in model.state_dict().items())
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())
    assert all(p.requires_grad and p.grad is None for p in model.parameters())
    assert torch.equal(picture, kept)
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.is_grad_enabled()


def test_no_hook_is_left_after_an_error():
    model = vit()
    with pytest.raises(AssertionError):
        discover(model, torch.randn(1, 3, 48, 48))
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())
    assert torch.is_grad_enabled()


def test_other_threads_are_not_heard():
    model, picture = vit(), torch.randn(1, 3, 64, 64)
    stop = threading.Event()

    def keep_running() -> None:
        while not stop.is_set():
            with torch.no_grad():
                model(picture)

    other = threading.Thread(target=keep_running)
    other.start()
    try:
        geometries = [discover(model, picture) for _ in range(5)]
    finally:
        stop.set()
        other.join()
    assert all(geometry == discover(model, picture) for geometry in geometries)


def test_within_other_contexts():
    model, picture = vit(), torch.randn(1, 3, 64, 64)
    expected = discover(model, picture)
    with libragrad.balanced():
        assert discover(model, picture) == expected
    with torch.no_grad():
        assert discover(model, picture) == expected
    with torch.inference_mode():
        assert discover(model, picture) == expected
        assert discover(model, picture.clone()) == expected
    half = model.to(torch.bfloat16)
    assert discover(half, picture.to(torch.bfloat16)) == expected


def test_it_prints_as_a_table():
    text = str(discover(vit(), torch.randn(1, 3, 64, 64)))
    assert text.splitlines() == [
        "input      64 × 64 pixels",
        "h₀         blocks.0             1 + 4 × 4 (channels on axis 2)",
        "block 0…2  blocks.0 … blocks.2  1 + 4 × 4 (channels on axis 2)",
        "head       reads cls            CLS: 0",
    ]


def test_threads_leave_the_compiler_as_it_was() -> None:
    """PyTorch keeps one choice for the process: overlapping runs must not keep it for good."""
    compiler = importlib.import_module("torch._dynamo.eval_frame")
    before = compiler._stance
    together = Barrier(4)
    model, x = vit(), torch.randn(1, 3, 64, 64)

    def work() -> None:
        for _ in range(4):
            together.wait()
            discover(model, x)

    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(work) for _ in range(4)]:
            job.result()
    assert compiler._stance == before
