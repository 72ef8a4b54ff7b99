"""What a model itself calls its classes; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torch import nn


def labels_of(model: nn.Module, width: int) -> tuple[str, ...] | None:
    """Return the names of the model's `width` outputs, or None where it does not say them.

    Looked for in the model, then in the modules it is made of: an attribute `labels`, the
    `id2label` of a transformers config, timm's pretrained configuration (its own names, else
    ImageNet's by the number of classes), and ImageNet's in torchvision's models of 1000 classes.
    Names of another number of classes are not the model's.

    >>> from libragrad.models import mosaic
    >>> labels_of(nn.Sequential(mosaic.MosaicViT()), 10)[-1]
    'ankle boot'
    >>> labels_of(nn.Linear(4, 10), 10) is None
    True
    """
    for module in model.modules():
        for labels in _said_by(module, width):
            if len(labels) == width:
                return tuple(labels)
    return None


def _said_by(module: nn.Module, width: int) -> Iterator[Sequence[str]]:
    own = getattr(module, "labels", None)
    if isinstance(own, (list, tuple)) and all(isinstance(name, str) for name in own):
        yield own
    id2label = getattr(getattr(module, "config", None), "id2label", None)
    if isinstance(id2label, Mapping) and id2label:
        yield [str(id2label[index]) for index in sorted(id2label)]
    pretrained = getattr(module, "pretrained_cfg", None)
    if isinstance(pretrained, Mapping):
        names, said = (
            pretrained.get("label_names") or (),
            pretrained.get("label_descriptions") or {},
        )
        yield [str(said.get(name, name)) for name in names]
        yield _imagenet(width)
    if type(module).__module__.startswith("torchvision.models.") and width == 1000:
        from torchvision.models import ResNet50_Weights

        yield ResNet50_Weights.IMAGENET1K_V2.meta["categories"]


def _imagenet(width: int) -> Sequence[str]:
    """ImageNet-1k, -12k, -21k or -22k: timm tells them by their number of classes."""
    from timm.data import ImageNetInfo, infer_imagenet_subset

    subset = infer_imagenet_subset({"num_classes": width})
    return [] if subset is None else list(ImageNetInfo(subset).label_descriptions())
