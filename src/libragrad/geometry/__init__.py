"""Blocks, tokens, grid and prefix of a model: found in a run, not asked of the user."""

from libragrad.geometry.discover import discover
from libragrad.geometry.geometry import Block, Geometry, Point, Readout
from libragrad.geometry.layout import Layout, layout_of
from libragrad.geometry.resample import resize_map, spread

__all__ = [
    "Block",
    "Geometry",
    "Layout",
    "Point",
    "Readout",
    "discover",
    "layout_of",
    "resize_map",
    "spread",
]
