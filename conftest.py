"""What must hold before any test or doctest imports a model library."""

from libragrad.models.torchvision_cpu import declare_missing_operators

declare_missing_operators()
