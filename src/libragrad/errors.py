"""What can go wrong, as one small tree.

LibraGradError
├── InputError            the caller's input cannot be explained (shape, NaN, nothing to explain)
├── TargetError           the target does not fit the model's output
├── MethodError           there is no such method, or it does not apply to the model
├── OpaqueModelError      the model hides its operations (torch.jit)
├── PresetError           a preset has no such row or treatment
├── GeometryError         blocks or tokens cannot be found in a run, or do not fit what was named
├── PictureError          a picture cannot be read
├── DataError             a data set is not on disk as its layout says
├── ModelError            a model cannot be had: unknown, unreachable, or its weights do not fit
├── SaveError             a file cannot be written: its suffix, its folder, permission
├── RecipeError           an evaluation names what does not exist, or its file cannot be read
├── ResultsError          a folder of results cannot be written, or lacks what is asked of it
└── MissingExtraError     an optional package is not installed

LibraGradWarning          an operation keeps its own gradient because no rule is known for it
"""


class LibraGradError(Exception):
    """Base of every error that libragrad raises on purpose."""


class InputError(LibraGradError, ValueError):
    """The given input cannot be explained."""


class TargetError(LibraGradError, ValueError):
    """The given target does not fit the model's output."""


class MethodError(LibraGradError, ValueError):
    """There is no such method, or it does not apply to the model."""


class OpaqueModelError(LibraGradError, TypeError):
    """The model hides its operations, so no rule can be put on them."""


class PresetError(LibraGradError, ValueError):
    """A preset was asked for a row or a treatment that does not exist."""


class GeometryError(LibraGradError, ValueError):
    """Blocks, tokens or grid of a model cannot be found, or do not fit what the caller named."""


class PictureError(LibraGradError, ValueError):
    """A picture cannot be read: no picture, cut short, or too large to be safe."""


class DataError(LibraGradError, ValueError):
    """A data set, or one record of it, is not on disk as its layout says."""


class ModelError(LibraGradError, ValueError):
    """A model cannot be had: its name is unknown, the network away, or its weights do not fit."""


class SaveError(LibraGradError, OSError):
    """A file cannot be written: unknown suffix, missing folder, no permission."""


class RecipeError(LibraGradError, ValueError):
    """A recipe, or a name in it, does not exist; or its file does not say what a recipe says."""


class ResultsError(LibraGradError, OSError):
    """A folder of results cannot be written, is corrupt, or does not hold what is asked of it."""


class MissingExtraError(LibraGradError, ImportError):
    """An optional package is not installed; the message holds the command that installs it."""


class LibraGradWarning(UserWarning):
    """An operation without a rule kept its own gradient: the account may not balance."""
