"""Give every parameter and norm statistic a seeded random value that keeps activations sane.

A freshly built model hides mistakes: its biases and running means are zero, its norm weights and
layer scales are one or nearly nothing, its position tables are zero. Here none of them stays
trivial, so a bias term that is forgotten, or a scale that is applied twice, shows in the
completeness error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.overrides import TorchFunctionMode

BIAS = 0.2
TABLE = 0.5


def randomise(model: nn.Module, seed: int = 0) -> None:
    """Draw every parameter and every norm statistic of `model` anew, in place.

    * weights of two and more dimensions: normal, variance 1 / fan-in, so that an activation of unit
      variance leaves with unit variance; embeddings and position tables: standard deviation ½;
    * biases and other vectors that start at zero: standard deviation 0.2;
    * norm weights, layer scales and other vectors that start elsewhere: their start, perturbed, so
      that constants with a meaning (a log decay, a log temperature) keep their order of magnitude;
      a layer scale that starts near nothing is brought to about one half, or its branch would go
      untested;
    * `running_mean`: standard deviation 0.2; `running_var`: uniform in [½, 3/2].
    """
    generator = torch.Generator().manual_seed(seed)
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.is_floating_point():
                table = id(parameter) in embeddings or _is_table(name, parameter)
                parameter.copy_(_draw(parameter, table, generator))
            elif parameter.is_complex():
                real = torch.view_as_real(parameter)
                real.copy_(_draw(real, False, generator))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(BIAS * _normal(buffer, generator))
            elif name.endswith("running_var"):
                buffer.copy_(
                    torch.rand(buffer.shape, generator=generator, dtype=torch.float64) + 0.5
                )


class Undrawn(TorchFunctionMode):
    """Build a model without the numbers that `randomise` will draw anew: it takes half the time.

    >>> with Undrawn():
    ...     layer = nn.Linear(2, 2)
    >>> layer.weight._version
    0
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        changed = args[0] if args else (kwargs or {}).get("tensor")
        name = getattr(func, "__name__", "")
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place and isinstance(changed, nn.Parameter) and changed.squeeze().dim() >= 2:
            return changed
        return func(*args, **(kwargs or {}))


def settle(model: nn.Module, run: Callable[[], object]) -> None:
    """Give every batch norm nearly the statistics of what it meets in `run`.

    With random ones an activation grows by a constant factor a block. Deep networks reach numbers
    whose rounding errors are as large as the outputs of others.
    """
    generator = torch.Generator().manual_seed(2)

    def measure(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        x = inputs[0].detach()
        dims = [0, *range(2, x.dim())]
        spread = torch.rand(x.shape[1], generator=generator) + 0.5
        with torch.no_grad():
            norm.get_buffer("running_mean").copy_(x.mean(dims))
            norm.get_buffer("running_var").copy_(x.var(dims, correction=0) * spread + 1e-3)

    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    hooks = [norm.register_forward_pre_hook(measure) for norm in norms if norm.track_running_stats]
    try:
        with torch.no_grad():
            run()
    finally:
        for hook in hooks:
            hook.remove()


def _draw(start: Tensor, table: bool, generator: torch.Generator) -> Tensor:
    if table:
        return _normal(start, generator, TABLE)
    if start.squeeze().dim() >= 2:
        return _normal(start, generator, (_outputs(start) / start.numel()) ** 0.5)
    noise = _normal(start, generator)
    start = torch.nan_to_num(start.double(), 0.0, 0.0, 0.0).clamp(-20, 20)
    size = start.abs().mean()
    if size == 0:
        return BIAS * noise
    if size < 0.1:
        return 0.5 + 0.1 * noise
    return start + 0.1 * size.clamp(max=1.0) * noise


def _outputs(weight: Tensor) -> int:
    """The number of output channels: the first dimension, past leading ones."""
    return next(size for size in weight.shape if size > 1)


def _is_table(name: str, parameter: Tensor) -> bool:
    """Tokens, positions and queries: learned tensors that are data and not maps."""
    leaf = name.rsplit(".", 1)[-1]
    words = ("token", "pos", "embed", "query", "queries", "latent", "cls", "mask", "bias")
    return parameter.dim() >= 2 and leaf != "weight" and any(word in leaf for word in words)


def _normal(like: Tensor, generator: torch.Generator, scale: float = 1.0) -> Tensor:
    # Single precision is drawn several times faster, and a billion weights take seconds.
    return torch.empty(like.shape).normal_(0.0, scale, generator=generator)
