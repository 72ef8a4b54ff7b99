"""What can go wrong, as one small tree.

LibraGradError
├── InputError            the caller's input cannot be explained (shape, NaN, nothing to explain)
├── TargetError           the target does not fit the model's output
├── OpaqueModelError      the model hides its operations (torch.jit)
└── PresetError           a preset has no such row or treatment

LibraGradWarning          an operation keeps its own gradient because no rule is known for it
"""


class LibraGradError(Exception):
    """Base of every error that libragrad raises on purpose."""


class InputError(LibraGradError, ValueError):
    """The given input cannot be explained."""


class TargetError(LibraGradError, ValueError):
    """The given target does not fit the model's output."""


class OpaqueModelError(LibraGradError, TypeError):
    """The model hides its operations, so no rule can be put on them."""


class PresetError(LibraGradError, ValueError):
    """A preset was asked for a row or a treatment that does not exist."""


class LibraGradWarning(UserWarning):
    """An operation without a rule kept its own gradient: the account may not balance."""
