"""LibraGrad: why a transformer answered as it did, in explanations that add up.

Its names are those of `libragrad.surface`. They are imported when the first of them is asked for,
so that the command line can print its help without PyTorch.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

try:
    __version__ = version("libragrad")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0.1.0"

if TYPE_CHECKING:
    from libragrad.surface import *  # noqa: F403
    from libragrad.surface import __all__ as __all__
else:

    def __getattr__(name):
        surface = import_module("libragrad.surface")
        if name == "__all__":
            return [*surface.__all__, "__version__"]
        if name in surface.__all__:
            return getattr(surface, name)
        if name in globals():  # a subpackage that the surface has just imported
            return globals()[name]
        raise AttributeError(f"module 'libragrad' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__getattr__("__all__")})
