"""The constant operator: prune a path of the backward pass."""

from torch import Tensor


def constant(x: Tensor) -> Tensor:
    """Return x as a constant: [x]const has the value of x and no gradient.

    >>> import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x * constant(x), x)  # d/dx (x · 3), not d/dx x²
    (tensor(3.),)
    """
    return x.detach()
