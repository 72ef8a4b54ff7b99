"""A cell: one thing that is measured, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

__all__ = ["FIELDS", "MEASUREMENTS", "TARGETS", "Cell"]

MEASUREMENTS = {
    "deletion": "predictions and probabilities as tokens are deleted, most and least first",
    "completeness": "the sum of the map beside the explained scalar",
    "segmentation": "the upsampled map against the mask of the object",
}
"""What a cell can measure. Every number of `libragrad.metrics` comes out of one of these."""

TARGETS = {
    "label": "the class that the data set gives; for segmentation the class of the mask",
    "predicted": "the class with the largest logit",
}
"""Which class a cell explains."""


@dataclass(frozen=True, order=True)
class Cell:
    """Model × data set × method × preset × path × profile × metric × seed, and how they are run.

    Attributes:
        model: a name that the models are loaded by.
        dataset: a name that the data sets are read by.
        method: the aggregator.
        metric: what is measured, a key of `MEASUREMENTS`.
        preset: the backward pass.
        path: from where to where gradients are taken.
        profile: "library", or "paper" for the quirks of the paper's code.
        output: the explained scalar is this class's "logit", "probability" or "contrastive".
        target: which class is explained, a key of `TARGETS`.
        mask: what becomes of a deleted token.
        seed: of the sample and of random maps.
        samples: the size of the sample. A part of the sample is the same for every size.

    >>> Cell("builtin:mosaic", "builtin:mosaic", "fullgrad+", "deletion").preset
    'Standard'
    """

    model: str
    dataset: str
    method: str
    metric: str
    preset: str = "Standard"
    path: str = "point"
    profile: str = "library"
    output: str = "logit"
    target: str = "label"
    mask: str = "drop"
    seed: int = 43
    samples: int = 1000

    def identity(self) -> dict[str, str | int]:
        """All that decides the rows of one image: every field but the size of the sample."""
        values = asdict(self)
        del values["samples"]
        return values

    def of_any_size(self) -> Cell:
        """The cell that stands for samples of every size."""
        return replace(self, samples=0)

    def __str__(self) -> str:
        """Return what tells the cell from its neighbours."""
        return f"{self.metric} of {self.method} ({self.preset}, {self.path}) on {self.model}"


FIELDS = tuple(field.name for field in fields(Cell))
"""The names of a cell's fields, in order."""
