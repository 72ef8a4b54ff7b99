"""Paths: where gradients are taken. The point itself, a line from a baseline, a cloud of noise."""

from libragrad.paths.integrated import Integrated
from libragrad.paths.path import Path
from libragrad.paths.point import Point
from libragrad.paths.smooth import Smooth

__all__ = ["Integrated", "Path", "Point", "Smooth"]
