"""`builtin:mosaic`: a small vision transformer and held-out pictures with known truth.

Each picture holds four garments of four classes, one a cell; asked for one of the classes, a good
attribution map lies on its cell. Everything is in the package: no network, no model hub.

>>> model, data = load(), mosaic_images()
>>> logits = model(preprocess(data.images[13]))[0]
>>> sorted(LABELS[c] for c in logits.topk(4).indices) == sorted(data.names(13))
True
>>> int(data.cell_mask(13, data.cells[13, 1, 1]).nonzero()[0].min())  # its first row of pixels
32
"""

from libragrad.models.mosaic.accuracy import Accuracy, measure
from libragrad.models.mosaic.data import CELL, EMPTY, MosaicData, mosaic_images, preprocess, render
from libragrad.models.mosaic.vit import LABELS, MosaicViT
from libragrad.models.mosaic.weights import load

__all__ = [
    "CELL",
    "EMPTY",
    "LABELS",
    "Accuracy",
    "MosaicData",
    "MosaicViT",
    "load",
    "measure",
    "mosaic_images",
    "preprocess",
    "render",
]
