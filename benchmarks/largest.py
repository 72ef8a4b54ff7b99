"""The largest tensor that any operation made, in the forward and in the backward."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """Watch every operation below autograd; views count by their number of entries too.

    >>> import torch
    >>> with LargestTensor() as seen:
    ...     _ = torch.ones(3, 1) @ torch.ones(1, 5)
    >>> seen.numel, seen.operation
    (15, 'aten.mm.default')
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.numel = 0
        self.operation = ""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operation and look at what it returns."""
        output = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(output):
            if isinstance(leaf, Tensor) and leaf.numel() > self.numel:
                self.numel, self.operation = leaf.numel(), str(func)
        return output
