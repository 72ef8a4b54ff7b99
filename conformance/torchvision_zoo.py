"""torchvision: every classifier."""

from __future__ import annotations

import torch

from conformance.case import Skipped, Subject

SIDES = {"inception_v3": 299}


def names() -> list[str]:
    """Every classifier that torchvision lists."""
    import torchvision

    listed: list[str] = torchvision.models.list_models(module=torchvision.models)
    return listed


def build(name: str, memory: float = float("inf")) -> Subject:
    """Build `name` with one image at 224 (Inception-v3: 299), or 112 where it costs much."""
    import torchvision

    need = 8 * _count(torchvision, name)
    if need > memory:
        raise Skipped(f"{need / 2**30:.1f} GiB of float64 parameters, budget {memory / 2**30:.1f}")
    model = _create(torchvision, name)
    convolutional = not name.startswith(("vit", "maxvit", "swin", "vgg", "alexnet", "inception"))
    side = SIDES.get(name, 112 if convolutional and need > 8 * 30_000_000 else 224)
    return Subject(model.eval(), _image(side), note=f"input {side}")


def _create(torchvision: object, name: str) -> torch.nn.Module:
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    model: torch.nn.Module = torchvision.models.get_model(  # type: ignore[attr-defined]
        name, weights=None, **options
    )
    return model


def _count(torchvision: object, name: str) -> int:
    """The number of parameters, counted without their memory where that is possible."""
    try:
        with torch.device("meta"):
            model = _create(torchvision, name)
    except NotImplementedError:  # RegNet reads its own numbers while it is built
        model = _create(torchvision, name)
    return sum(p.numel() for p in model.parameters())


def _image(side: int) -> torch.Tensor:
    return torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(1))
