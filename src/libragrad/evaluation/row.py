"""A row: what one image contributes to one cell."""

from __future__ import annotations

from dataclasses import dataclass

from libragrad.evaluation.cell import Cell

__all__ = ["Deletion", "Row"]


@dataclass(frozen=True)
class Deletion:
    """One deletion curve of one image: a value at each point, the unmasked image first.

    From these, accuracy and AOPC follow for both references.

    Attributes:
        prediction: the predicted class.
        label_probability: the probability of the image's label; none where it has no label.
        predicted_probability: the probability of the class that the unmasked image was given.
    """

    prediction: tuple[int, ...]
    label_probability: tuple[float, ...] | None
    predicted_probability: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """One image of one cell. What the cell does not measure is `None`.

    Attributes:
        cell: which cell.
        image: the record's id.
        error: why there is no result; then everything below is `None`.
        label: the class that the data set gives.
        predicted: the class that the model gives.
        masking: which masking was used in fact, where the wished one is impossible.
        removed: the share of tokens that is deleted at each point of the curves.
        most: the curve with the most influential tokens deleted first.
        least: the curve with the least influential tokens deleted first.
        y: the explained scalar.
        total: the sum of the map over all tokens, prefix included.
        unattributed: what belongs to no token.
        average_precision: of the map as a segmentation.
        pointing_game: whether the map's maximum lies on the object.
        mass_accuracy: the share of positive attribution on the object.
    """

    cell: Cell
    image: str
    error: str | None = None
    label: int | None = None
    predicted: int | None = None
    masking: str | None = None
    removed: tuple[float, ...] | None = None
    most: Deletion | None = None
    least: Deletion | None = None
    y: float | None = None
    total: float | None = None
    unattributed: float | None = None
    average_precision: float | None = None
    pointing_game: float | None = None
    mass_accuracy: float | None = None
