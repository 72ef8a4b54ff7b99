"""The mode: sees every torch operation of any model and gives it the backward of a preset."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor as _is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode

from libragrad.engine.listener import Listener
from libragrad.engine.naming import Spelling, spelling_of
from libragrad.engine.opening import opened
from libragrad.engine.tracing import counted, traced
from libragrad.errors import LibraGradWarning
from libragrad.presets import COUNTED, Preset
from libragrad.rules.call import Call, Given, Outcome, Rule, name_of_rule, run_as_given, tensors_in
from libragrad.rules.status import MARK, Status, common, is_learnt, learnt, mark
from libragrad.rules.table import RULES

_SILENT = frozenset(
    """
    shape size dim ndim ndimension dtype device layout numel nelement stride storage_offset
    is_contiguous is_floating_point is_complex is_sparse is_cuda is_cpu is_mkldnn is_quantized
    is_leaf requires_grad grad_fn grad element_size data_ptr untyped_storage storage item tolist
    numpy len is_nested is_meta is_mps is_xpu names itemsize nbytes is_inference register_hook
    retain_grad output_nr is_shared _version get_device is_conj is_neg is_same_size
    detach detach_ data _assert
    """.split()
)
"""Questions about a tensor, and the model's own stops: they pass at once."""

_OPENED = frozenset({"batch_norm", "instance_norm", "grad", "backward"})
"""Python functions that are opened although their name has a rule (or must run under the mode)."""


_FOLDED = frozenset("linear matmul lstm gru rnn_tanh rnn_relu".split())
"""Operations whose last bits depend on whether a parameter wants a gradient."""


class Entry:
    """What to do with one spelling of an operation; found once, then looked up."""

    __slots__ = ("body", "flag", "folds", "in_place", "name", "rule", "rule_name", "silent")

    def __init__(self, func: Callable[..., Any]) -> None:
        """Find the rule of `func`, or its opened body."""
        spelling: Spelling = spelling_of(func)
        self.name, self.in_place = spelling
        self.rule: Rule | None = RULES.get(self.name)
        self.rule_name = None if self.rule is None else name_of_rule(self.rule)
        self.flag = _position_of_inplace(func)
        self.folds = self.name in _FOLDED and not self.in_place
        wants_body = self.name in _OPENED or self.rule is None or self.flag is not None
        self.body = opened(func) if wants_body else None
        sets = getattr(func, "__name__", "") == "__set__"  # p.grad = None, p.data = …
        self.silent = sets or (self.name in _SILENT and self.body is None)

    def opens(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Decide whether this call runs its body: F.relu(x, inplace=True) must become relu_(x)."""
        if self.body is None or self.rule is None or self.flag is None:
            return self.body is not None
        return bool(kwargs.get("inplace") or (len(args) > self.flag and args[self.flag]))


class BalancedMode(TorchFunctionMode):
    """Puts a preset on every operation. The public face of it is `libragrad.balanced`."""

    def __init__(self, preset: Preset, listener: Listener | None = None) -> None:
        """Remember the preset and who listens."""
        super().__init__()
        self.preset = preset
        self.listener = listener
        self.paused = 0
        self._entries: dict[Any, Entry] = {}
        self._warned: set[str] = set()
        self._born = _sequence_number()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run one operation: PyTorch's value, the preset's backward."""
        entry = self._entries.get(func)
        if entry is None:
            entry = self._entries[func] = Entry(func)
        kwargs = kwargs or {}
        if entry.silent or self.paused:
            return func(*args, **kwargs)
        if entry.body is not None and entry.opens(args, kwargs):
            with self:
                return entry.body(*args, **kwargs)
        if not torch.is_grad_enabled():
            return func(*args, **kwargs)
        live: list[Tensor] = []
        given = (args, kwargs) if entry.folds else None
        args = tuple([self._sort(x, live) for x in args])
        kwargs = {key: self._sort(x, live) for key, x in kwargs.items()} if kwargs else kwargs
        if not live:
            return self._on_constants(func, entry, args, kwargs, given)
        return self._on_values(func, entry, args, kwargs, live, given)

    def _sort(self, x: Any, live: list[Tensor]) -> Any:
        """Make parameters constant, wherever they are in an argument, and collect what is live."""
        if isinstance(x, Tensor):
            if not x.requires_grad:
                return x
            if x.grad_fn is None and isinstance(x, nn.Parameter):
                return learnt(x.detach())
            if not hasattr(x, MARK) and self._first_seen(x):
                return learnt(x.detach())
            live.append(x)
            return x
        if type(x) is tuple or type(x) is list:
            return type(x)([self._sort(item, live) for item in x])
        return x

    def _on_constants(
        self,
        func: Callable[..., Any],
        entry: Entry,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        given: Given | None,
    ) -> Any:
        if given is None or any(map(_is_functorch_wrapped_tensor, tensors_in(given))):
            value = func(*args, **kwargs)
        else:
            value = run_as_given(func, given)
        if any(map(is_learnt, tensors_in((args, kwargs)))):
            for x in tensors_in(value):
                learnt(x)
        if self.listener is None:
            return value
        instead = self.listener.constants(entry.name, args, kwargs, value)
        return value if instead is None else instead

    def _on_values(
        self,
        func: Callable[..., Any],
        entry: Entry,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        live: list[Tensor],
        given: Given | None,
    ) -> Any:
        if _is_functorch_wrapped_tensor(live[0]):  # a transform has its own idea of a gradient
            return func(*args, **kwargs)
        listener = self.listener
        if entry.in_place and not args:
            args = (kwargs.pop("input"),)
        if listener is None and entry.rule_name in _NATIVE:
            status = common(live)
            value = func(*args, **kwargs)
            if entry.in_place:
                _mark_written(args[0], status)
            else:
                _mark_made(value, status)
            return value
        native = _functional(func) if entry.in_place else func
        call = Call(
            entry.name, native, args, kwargs, self.preset, live, lambda: self, entry.in_place, given
        )
        if entry.rule is None:
            return self._without_rule(func, entry, call)
        if listener is None:
            outcome = entry.rule(call)
        else:
            outcome = self._heard(listener, entry.rule, entry.rule_name, call)
        result = self._settle(func, entry, args, kwargs, outcome)
        if listener is not None:
            listener.ran(call, result)
        return result

    def _without_rule(self, func: Callable[..., Any], entry: Entry, call: Call) -> Any:
        """Keep PyTorch's own gradient, and say so if there is one."""

        def own(call: Call) -> Outcome:
            return Outcome(call.run(), common(call.live))

        if self.listener is None:
            outcome = own(call)
            if any(x.requires_grad for x in tensors_in(outcome.value)):
                self._warn(entry.name, 5)
        else:
            outcome = self._heard(self.listener, own, None, call)
        return self._settle(func, entry, call.args, call.kwargs, outcome)

    def _heard(self, listener: Listener, rule: Rule, name: str | None, call: Call) -> Outcome:
        place = listener.place(call.name)
        outcome = traced(listener, rule, call, place) if listener.traces else rule(call)
        if any(x.requires_grad for x in tensors_in(outcome.value)) or name is not None:
            listener.operation(place, outcome.rule or name)
        if listener.counts and self.preset.bias is COUNTED:
            counted(listener, outcome, place)
        return outcome

    def _settle(
        self,
        func: Callable[..., Any],
        entry: Entry,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outcome: Outcome,
    ) -> Any:
        """Mark what leaves; write it back where the model asked for an in-place operation."""
        value = outcome.value
        if entry.in_place:
            target = args[0]
            if target.shape != value.shape:  # transpose_, squeeze_
                func(*args, **kwargs)
            target.copy_(value)
            if not value.requires_grad and not target._is_view():
                target.detach_()  # rsqrt_: all of it is a constant from here on
            if target.requires_grad:
                _mark_written(target, outcome.status)
            return None if func is torch.Tensor.__setitem__ else target
        _mark_made(value, outcome.status)
        return value

    def left(self, output: Any) -> None:
        """Report what a model returns straight from a region that hides its operations."""
        for x in tensors_in(output):
            if x.requires_grad and not hasattr(x, MARK):
                self._first_seen(x)

    def _first_seen(self, x: Tensor) -> bool:
        """An unmarked tensor: made before this mode, or where it cannot look. True: a constant."""
        if _is_functorch_wrapped_tensor(x):
            return False
        node = x.grad_fn
        if node is None or node._sequence_nr() < self._born:
            return self.listener is not None and self.listener.made_before(x)
        if node.name() in _TRANSPARENT:
            return False
        mark(x, Status.VALUE)
        if self.listener is None:
            self._warn(node.name(), 6)
        else:
            self.listener.opaque(node.name())
        return False

    def _warn(self, name: str, depth: int) -> None:
        if name in self._warned:
            return
        self._warned.add(name)
        warnings.warn(
            f"the operation {name!r} has no rule under the preset {self.preset.name}: it keeps its "
            "own gradient, so an explanation may not add up. "
            "libragrad.audit(model, inputs) shows by how much.",
            LibraGradWarning,
            stacklevel=depth,
        )


_TRANSPARENT = frozenset({"CheckpointFunctionBackward"})
"""Autograd functions that run the model's own operations under this mode in the backward."""

_NATIVE = frozenset({"linear map", "affine", "homogeneous", "locally affine"})
"""Rules that keep PyTorch's gradient: where nobody listens, their operations run as they are."""


def _mark_made(value: Any, status: Status) -> None:
    """Mark what an operation returns; attention weights too where they are constant."""
    if isinstance(value, Tensor):
        if value.requires_grad or status is Status.WEIGHTS:
            mark(value, status)
        return
    for x in tensors_in(value):
        if x.requires_grad:
            mark(x, status)


def _mark_written(target: Tensor, status: Status) -> None:
    """Mark what was written to; what it is a view of has changed with it."""
    mark(target, status)
    base = target._base
    if base is not None and base.requires_grad and not hasattr(base, MARK):
        mark(base, Status.VALUE)


def _position_of_inplace(func: Callable[..., Any]) -> int | None:
    """Return where F.relu and its like take their flag `inplace`, if func is one of these."""
    code = getattr(func, "__code__", None)
    if code is None:
        return None
    names = code.co_varnames[: code.co_argcount]
    return names.index("inplace") if "inplace" in names else None


def _functional(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of an in-place one: it changes and returns a copy."""

    def functional(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        copy = x.clone()
        func(copy, *args, **kwargs)
        return copy

    return functional


def _sequence_number() -> int:
    """Return autograd's present count of nodes on this thread."""
    with torch.inference_mode(False), torch.enable_grad():
        node = torch.empty(0, requires_grad=True).view(0).grad_fn
    number: int = node._sequence_nr()  # type: ignore[union-attr]
    return number
