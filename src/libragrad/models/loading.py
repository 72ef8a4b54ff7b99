"""Any model by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from libragrad.errors import ModelError
from libragrad.models import (
    from_builtin,
    from_open_clip,
    from_timm,
    from_torchvision,
    from_transformers,
)
from libragrad.models.loaded import LoadedModel

DEFAULT = "vit_base_patch16_224.augreg2_in21k_ft_in1k"
"""The model for photographs."""


@dataclass(frozen=True)
class Source:
    """Where models come from: the prefix of their names, and the package that has them.

    `names` are those with published weights, without the prefix; `builds` further ones, for which
    a file of weights may be given. None: what there is cannot be listed.
    """

    prefix: str
    package: str
    summary: str
    load: Callable[[str, Path | None, bool], LoadedModel]
    names: Callable[[], Iterable[str]]
    builds: Callable[[], Iterable[str]] | None


_ROWS = (
    Source(
        "builtin",
        "libragrad",
        "comes with the package",
        from_builtin.load,
        from_builtin.names,
        tuple,
    ),
    Source(
        "timm",
        "timm",
        "picture models of timm; the prefix may be left out",
        from_timm.load,
        from_timm.names,
        from_timm.architectures,
    ),
    Source(
        "tv",
        "torchvision",
        "picture models of torchvision",
        from_torchvision.load,
        from_torchvision.names,
        tuple,
    ),
    Source(
        "openclip",
        "open_clip",
        "picture-and-text models of open_clip; NAME or NAME:WEIGHTS",
        from_open_clip.load,
        from_open_clip.names,
        from_open_clip.architectures,
    ),
    Source(
        "hf",
        "transformers",
        "any model of transformers on the hub, or a folder that save_pretrained wrote",
        from_transformers.load,
        from_transformers.names,
        None,
    ),
)

SOURCES: Mapping[str, Source] = MappingProxyType({row.prefix: row for row in _ROWS})
"""Every source of models by its prefix. Read-only."""


def load(
    name: str, weights: str | Path | None = None, *, allow_pickle: bool = False
) -> LoadedModel:
    """The model of that name, in evaluation mode, with its preprocessing and labels.

    `name` is one of timm (`timm:` may be left out), or has a prefix: `hf:`, `openclip:`, `tv:`,
    `builtin:`. `weights` is a file, safetensors or a PyTorch checkpoint, that fits the model
    exactly. `allow_pickle` also loads checkpoints that can run code.

    >>> mosaic = load("builtin:mosaic")
    >>> mosaic.labels[:2], mosaic.manifest.weights
    (('T-shirt', 'trouser'), 'built in')
    >>> load("builtin:mosaics")
    Traceback (most recent call last):
        ...
    libragrad.errors.ModelError: no model 'builtin:mosaics'; did you mean 'builtin:mosaic'?
    """
    source, own = _find(name)
    if find_spec(source.package) is None:
        raise ModelError(
            f"{name} is a model of {source.package}, which is not installed: "
            "pip install 'libragrad[models]'"
        )
    if source.builds is not None:
        known = [*source.names(), *source.builds()]
        if own not in known:
            raise ModelError(f"no model {name!r}; {_hint(name, own, source, known)}")
    return source.load(own, None if weights is None else Path(weights), allow_pickle)


def available() -> Iterator[str]:
    """The names that can be loaded without a file, by the sources whose packages are installed.

    Those of `hf:` are not among them: the hub has too many.

    >>> next(available())
    'builtin:mosaic'
    """
    for source in SOURCES.values():
        if find_spec(source.package) is not None:
            for name in source.names():
                yield name if source.prefix == "timm" else f"{source.prefix}:{name}"


def _find(name: str) -> tuple[Source, str]:
    prefix, colon, rest = name.partition(":")
    if not colon:
        return SOURCES["timm"], name
    if prefix in SOURCES and rest:
        return SOURCES[prefix], rest
    if prefix in SOURCES:
        raise ModelError(f"{name!r} names no model: write one after the colon")
    near = get_close_matches(prefix, SOURCES, n=1)
    hint = f"did you mean '{near[0]}:{rest}'?" if near else f"there are {', '.join(SOURCES)}"
    raise ModelError(f"no model {name!r}, as no names begin with '{prefix}:'; {hint}")


def _hint(name: str, own: str, source: Source, known: list[str]) -> str:
    prefix = name.removesuffix(own)
    choices = [prefix + choice for choice in known]
    if not prefix:
        choices += [f"builtin:{choice}" for choice in SOURCES["builtin"].names()]
    near = get_close_matches(name, choices, n=3)
    if not near:
        return f"`libragrad models` lists those of {source.package}"
    return f"did you mean {' or '.join(map(repr, near))}?"
