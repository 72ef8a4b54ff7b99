"""Whereabouts: which row and which token each entry of a tensor inside a block belongs to.

A bias that enters in the middle of a block, inside windows, heads or a batch turned on its side,
must still be given to its token. So the first pass over a batch of some shape carries, beside each
tensor, a tensor of codes

    code = row · (N + 1) + token + 1,        token = −1 where entries of several tokens were mixed,

which goes through the model's own rearrangements. Where all channels agree it is an expanded view:
it takes no memory and no time worth speaking of.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from libragrad.geometry.layout import Layout
from libragrad.rules.call import Call, tensors_in

_WHERE = "_libragrad_where"

_REARRANGEMENTS = frozenset(
    """
    view view_as reshape reshape_as flatten unflatten ravel contiguous clone
    transpose t T mT permute movedim moveaxis swapaxes swapdims
    squeeze unsqueeze expand expand_as repeat repeat_interleave tile
    getitem select index_select narrow gather take_along_dim index
    unbind split split_with_sizes chunk tensor_split
    flip fliplr flipud roll rot90
    """.split()
)
_JOINS = frozenset("cat concat concatenate stack pad constant_pad_nd".split())


def originate(x: Tensor, layout: Layout) -> None:
    """Mark the tokens that enter a block with their own codes."""
    shape = list(x.shape)
    shape[layout.channel] = 1
    places = torch.arange(math.prod(shape), device=x.device)
    raw = places.view(shape)
    order = layout.tokens(raw)[..., 0]
    rows, tokens = order.shape
    codes = torch.arange(1, tokens + 1, device=x.device) + (tokens + 1) * torch.arange(
        rows, device=x.device
    ).unsqueeze(1)
    where = torch.empty_like(places)
    where[order.reshape(-1)] = codes.reshape(-1)
    setattr(x, _WHERE, where.view(shape).expand(x.shape))


def whereabouts(x: Tensor) -> Tensor | None:
    """Return the codes of x, if they are known."""
    found: Tensor | None = getattr(x, _WHERE, None)
    return found


def chosen(call: Call) -> bool:
    """Say whether a tensor of indices rearranges, which may be others for the next input.

    >>> from libragrad.presets import LIBRA
    >>> h = torch.zeros(1, 3, 2)
    >>> def by(index: object) -> Call:
    ...     return Call("getitem", torch.Tensor.__getitem__, (h, index), {}, LIBRA, [h])
    >>> chosen(by(0)), chosen(by((slice(None), torch.tensor([2, 0]))))
    (False, True)
    """
    return call.name in _REARRANGEMENTS and any(
        not x.is_floating_point() for x in tensors_in((call.args, call.kwargs))
    )


def follow(call: Call, result: Any, tokens: int) -> None:
    """Give the result of an operation the codes that its arguments imply."""
    if call.name in _REARRANGEMENTS or call.name in _JOINS:
        _rearranged(call, result)
    elif isinstance(result, Tensor):
        for x in tensors_in((call.args, call.kwargs)):
            where = whereabouts(x)
            implied = None if where is None else _implied(where, result, tokens)
            if implied is not None:
                setattr(result, _WHERE, implied)
                return


def _rearranged(call: Call, result: Any) -> None:
    known = {}
    for x in tensors_in((call.args, call.kwargs)):
        where = whereabouts(x)
        if where is not None:
            known[id(x)] = where
        elif call.name in _JOINS:
            return  # a constant was joined: the rows of its entries are not known
    if not known:
        return
    with torch._C.DisableTorchFunction(), torch.no_grad():
        try:
            moved = call.run_with(known)
        except RuntimeError:  # a view that expanded codes do not allow
            moved = call.run_with({key: where.contiguous() for key, where in known.items()})
        for x, where in zip(tensors_in(result), tensors_in(moved), strict=True):
            setattr(x, _WHERE, _thin(where))


def _thin(where: Tensor) -> Tensor:
    """Make codes that were copied out (`contiguous`) an expanded view again, where they agree."""
    if where.dim() == 0 or where.shape[-1] == 1 or where.stride(-1) == 0:
        return where
    first = where[..., :1]
    return first.clone().expand(where.shape) if bool((where == first).all()) else where


def _implied(where: Tensor, result: Tensor, tokens: int) -> Tensor | None:
    """Element-wise: the same codes. A map of the channels: the codes of the rows it maps."""
    if where.shape == result.shape:
        return where
    if where.dim() == result.dim() and where.shape[:-1] == result.shape[:-1]:
        first = where[..., :1]
        agreed = where.shape[-1] == 1 or where.stride(-1) == 0
        return (first if agreed else _mixed(first, tokens)).expand(result.shape)
    if where.dim() == result.dim() == 4 and where.shape[2:] == result.shape[2:]:
        return where[:, :1].expand(result.shape)  # a convolution that keeps the grid
    if where.dim() > 1 and result.shape[:1] == where.shape[:1]:
        first = where.flatten(1)[:, 0].reshape(-1, *[1] * (result.dim() - 1))
        return _mixed(first, tokens).expand(result.shape)
    return None


def _mixed(where: Tensor, tokens: int) -> Tensor:
    """Return the codes of the rows alone."""
    return where - where % (tokens + 1)
