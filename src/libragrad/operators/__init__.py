"""Operators: they change a gradient, never a value. All gradient surgery is made of these."""

from libragrad.operators.constant import constant
from libragrad.operators.scale import scale
from libragrad.operators.swap_backward import swap_backward, swap_backward_by_duality

__all__ = ["constant", "scale", "swap_backward", "swap_backward_by_duality"]
