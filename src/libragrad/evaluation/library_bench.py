"""The bench of the library itself: its data sets and models, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from libragrad import __version__
from libragrad.data import Dataset, load_dataset
from libragrad.errors import DataError, MissingExtraError
from libragrad.evaluation.bench import Worker
from libragrad.evaluation.library_worker import LibraryWorker
from libragrad.models.loading import SOURCES, load

__all__ = ["LibraryBench"]

_DISTRIBUTIONS = {"open_clip": "open_clip_torch"}


@dataclass(frozen=True)
class LibraryBench:
    """Data sets and models by the names that the library has for them.

    Attributes:
        data: where a data set lies, by its name. A table of file and label (a TSV) may stand for
            any data set.
        weights: a file of weights for a model, by the model's name; others are the published ones.
        allow_pickle: whether such a file may be a checkpoint that can run code.
    """

    data: Mapping[str, Path] = field(default_factory=dict)
    weights: Mapping[str, Path] = field(default_factory=dict)
    allow_pickle: bool = False

    def records(self, dataset: str, samples: int, seed: int) -> Sequence[str]:
        """The ids of a seeded sample, or of the whole data set where it is smaller."""
        return [record.id for record in self.dataset(dataset).shuffled(seed)[:samples]]

    def dataset(self, name: str) -> Dataset:
        """The data set of that name."""
        path = self.data.get(name)
        if path is not None and (path.suffix == ".tsv" or (path / "labels.tsv").is_file()):
            return load_dataset("tsv", path)
        found = load_dataset(name, path)
        if not len(found):
            raise DataError(f"data set {name} at {path} is empty")
        return found

    def manifest(self, model: str, dataset: str) -> Mapping[str, str]:
        """The versions that decide a result, and which weights."""
        prefix, colon, _ = model.partition(":")
        package = SOURCES[prefix if colon else "timm"].package
        versions = {"libragrad": __version__, "torch": torch.__version__}
        if package not in versions:
            try:
                versions[package] = version(_DISTRIBUTIONS.get(package, package))
            except PackageNotFoundError as absent:
                raise MissingExtraError(
                    f"{model} is a model of {package}, which is not installed; "
                    "run: pip install 'libragrad[models]'"
                ) from absent
        return {**versions, "weights": self._weights(model)}

    def worker(self, model: str, device: str, batch_size: int) -> Worker:
        """A worker with that model loaded."""
        loaded = load(model, self.weights.get(model), allow_pickle=self.allow_pickle)
        return LibraryWorker(loaded, self.dataset, device, batch_size)

    def _weights(self, model: str) -> str:
        """A checksum of weights that may change while their name stays."""
        if model in self.weights:
            return sha256(self.weights[model].read_bytes()).hexdigest()
        return load(model).digest if model.startswith("builtin:") else "pretrained"
