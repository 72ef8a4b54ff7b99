"""Normalisations: LayerNorm, GroupNorm, InstanceNorm, RMSNorm and BatchNorm.

y = (x − μ(x)) / σ(x) ⊙ γ + β. Proposition: FullGrad of LayerNorm tends to β as ε → 0, because σ
scales with x. Libra-LayerNorm: σ is constant and the mean keeps its gradient,

    ∂x = (g ⊙ γ − mean(g ⊙ γ)) / [σ]const,

after which y is affine in x with the bias β. BatchNorm in eval mode is affine as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from libragrad.operators import constant, swap_backward
from libragrad.presets import CONSTANT
from libragrad.rules.affine import weighted
from libragrad.rules.call import Call, Outcome


class _Centred(torch.autograd.Function):
    """y = f(x) with ∂x = (g γ − mean over dims) · rstd. Saves rstd and γ; never x."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        f: Callable[[Tensor], tuple[Tensor, Tensor]],
        gamma: Tensor | None,
        grouped: tuple[int, ...] | None,
        dims: tuple[int, ...],
    ) -> Tensor:
        """Run f, which answers (y, rstd). `grouped` is the shape in which `dims` are averaged."""
        y, rstd = f(x)
        ctx.save_for_backward(rstd, gamma)
        ctx.grouped, ctx.dims = grouped, dims
        return constant(y)  # of an InstanceNorm it is a view, which a model could not change

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Center and scale the gradient."""
        rstd, gamma = ctx.saved_tensors
        dtype, shape = g.dtype, g.shape
        # `+` would promote silently; a fresh tensor of at least rstd's precision is centred in it.
        h = g * gamma if gamma is not None else g.clone()
        if h.dtype != rstd.dtype:
            h = h.to(rstd.dtype)
        if ctx.grouped is not None:
            h = h.reshape(ctx.grouped)
        if ctx.dims:
            h -= h.mean(ctx.dims, keepdim=True)
        h *= rstd
        return h.reshape(shape).to(dtype), None, None, None, None


def layer_norm(call: Call) -> Outcome:
    """σ constant over the last dimensions."""
    given = call.named("input", "normalized_shape", "weight", "bias", "eps")
    x, shape = given["input"], given["normalized_shape"]
    gamma, beta, eps = given.get("weight"), given.get("bias"), given.get("eps", 1e-5)
    shape = [shape] if isinstance(shape, int) else list(shape)
    if call.preset.normalisation is not CONSTANT:
        return weighted(call.run(), beta)
    if _adaptive(gamma, beta):
        return _adapted(call, lambda: F.layer_norm(x, shape, eps=eps), given)
    dims = tuple(range(-len(shape), 0))

    def f(h: Tensor) -> tuple[Tensor, Tensor]:
        if _is_plain(h, gamma, beta):
            y, _, rstd = torch.native_layer_norm(h, shape, gamma, beta, eps)
            return y, rstd
        return call.run_with({id(x): h}), _rstd(h, dims, eps)

    return weighted(_Centred.apply(x, f, gamma, None, dims), beta)


def rms_norm(call: Call) -> Outcome:
    """The root of the mean square is constant; there is no mean to centre."""
    given = call.named("input", "normalized_shape", "weight", "eps")
    x, gamma, eps = given["input"], given.get("weight"), given.get("eps")
    shape = list(given["normalized_shape"])
    if call.preset.normalisation is not CONSTANT:
        return weighted(call.run(), None)
    if _adaptive(gamma):
        return _adapted(call, lambda: F.rms_norm(x, shape, eps=eps), given)
    dims = tuple(range(-len(shape), 0))
    eps = torch.finfo(x.dtype).eps if eps is None else eps

    def f(h: Tensor) -> tuple[Tensor, Tensor]:
        mean_square = _wide(h).square().mean(dims, keepdim=True)
        return call.run_with({id(x): h}), (mean_square + eps).rsqrt()

    return weighted(_Centred.apply(x, f, gamma, None, ()), None)


def group_norm(call: Call) -> Outcome:
    """σ constant over each group of channels."""
    given = call.named("input", "num_groups", "weight", "bias", "eps")
    x, groups = given["input"], given["num_groups"]
    gamma, beta = _channels(given.get("weight"), x), _channels(given.get("bias"), x)
    eps = given.get("eps", 1e-5)
    if call.preset.normalisation is not CONSTANT:
        return weighted(call.run(), beta)
    if _adaptive(gamma, beta):
        return _adapted(call, lambda: F.group_norm(x, groups, eps=eps), given, _channels)
    return _grouped(call, x, groups, gamma, beta, eps)


def instance_norm(call: Call) -> Outcome:
    """A group of one channel; with running statistics, affine."""
    names = ("input", "weight", "bias", "running_mean", "running_var", "use_input_stats")
    given = call.named(*names, "momentum", "eps", "cudnn_enabled")
    x = given["input"]
    gamma, beta = _channels(given.get("weight"), x), _channels(given.get("bias"), x)
    if not given.get("use_input_stats", True):
        return _running(call, given, gamma, beta)
    eps = given.get("eps", 1e-5)
    if call.preset.normalisation is not CONSTANT:
        return weighted(call.run(), beta)
    if _adaptive(gamma, beta):
        return _adapted(call, lambda: F.instance_norm(x, eps=eps), given, _channels)
    return _grouped(call, x, x.shape[1], gamma, beta, eps)


def batch_norm(call: Call) -> Outcome:
    """Eval: affine, with b = β − μγ/σ. Training: σ over the batch is constant."""
    names = ("input", "weight", "bias", "running_mean", "running_var", "training")
    given = call.named(*names, "momentum", "eps", "cudnn_enabled")
    x = given["input"]
    gamma, beta = _channels(given.get("weight"), x), _channels(given.get("bias"), x)
    if not given.get("training", False):
        return _running(call, given, gamma, beta)
    eps = given.get("eps", 1e-5)
    if call.preset.normalisation is not CONSTANT:
        return weighted(call.run(), beta)
    if _adaptive(gamma, beta):
        plain = partial(F.batch_norm, x, None, None, training=True, eps=eps)
        return _adapted(call, plain, given, _channels)
    dims = (0, *range(2, x.dim()))

    def f(h: Tensor) -> tuple[Tensor, Tensor]:
        return call.run_with({id(x): h}), _rstd(h, dims, eps)

    return weighted(_Centred.apply(x, f, gamma, None, dims), beta)


def _adapted(
    call: Call,
    plain: Callable[[], Tensor],
    given: dict[str, Any],
    place: Callable[[Tensor | None, Tensor], Tensor | None] = lambda p, x: p,
) -> Outcome:
    """γ or β depend on the input too: a normalised value, times γ, plus β."""
    with call.mode():
        y = plain()
        gamma, beta = place(given.get("weight"), y), place(given.get("bias"), y)
        y = y if gamma is None else y * gamma
        y = y if beta is None else y + beta
    return Outcome(swap_backward(call.pruned(), y))


def _running(
    call: Call, given: dict[str, Any], gamma: Tensor | None, beta: Tensor | None
) -> Outcome:
    """Affine: x ⊙ γ/σ + (β − μγ/σ), saving one number a channel."""
    x, eps = given["input"], given.get("eps", 1e-5)
    if _adaptive(gamma, beta):
        statistics = given["running_mean"], given["running_var"]
        return _adapted(call, lambda: F.batch_norm(x, *statistics, eps=eps), given, _channels)
    slope = (_channels(given["running_var"], x) + eps).rsqrt()
    slope = slope if gamma is None else slope * gamma
    mean = _channels(given["running_mean"], x)

    def f(h: Tensor) -> tuple[Tensor, Tensor]:
        return call.run_with({id(x): h}), slope

    def b() -> Tensor:
        shift = mean * slope
        y: Tensor = -shift if beta is None else beta - shift
        return y

    return Outcome(_Centred.apply(x, f, None, None, ()), bias=b)


def _grouped(
    call: Call, x: Tensor, groups: int, gamma: Tensor | None, beta: Tensor | None, eps: float
) -> Outcome:
    grouped = (x.shape[0], groups, -1)

    def f(h: Tensor) -> tuple[Tensor, Tensor]:
        return call.run_with({id(x): h}), _rstd(h.reshape(grouped), (-1,), eps)

    return weighted(_Centred.apply(x, f, gamma, grouped, (-1,)), beta)


def _rstd(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return (_wide(x).var(dims, correction=0, keepdim=True) + eps).rsqrt()


def _wide(x: Tensor) -> Tensor:
    """Return x in float32 at least: statistics are never taken in half precision."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def _channels(p: Tensor | None, x: Tensor) -> Tensor | None:
    return None if p is None else p.reshape(-1, *[1] * (x.dim() - 2))


def _adaptive(*parameters: Tensor | None) -> bool:
    return any(p is not None and p.requires_grad for p in parameters)


def _is_plain(x: Tensor, *parameters: Tensor | None) -> bool:
    """No autocast and one dtype: the kernel that PyTorch itself would call also returns rstd."""
    if torch.is_autocast_enabled(x.device.type):
        return False
    return all(p is None or p.dtype == x.dtype for p in parameters)
