"""The bytes that autograd keeps between a forward and its backward."""

import weakref
from types import TracebackType

import torch
from torch import Tensor, nn


class _Held:
    """What autograd holds in place of a saved tensor; its death ends the account of it."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class SavedBytes:
    """Count unique storages saved for the backward, parameters and buffers of `model` excluded.

    A storage saved twice counts once, a view counts as the storage that it keeps alive, and a
    storage that autograd has let go no longer counts: `peak` is the most held at any moment, which
    for a method of many small backward passes is the cost of one.
    """

    def __init__(self, model: nn.Module) -> None:
        tensors = [*model.parameters(), *model.buffers()]
        self._excluded = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        self._holders: dict[int, int] = {}
        self.now = 0
        self.peak = 0
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)

    def _pack(self, tensor: Tensor) -> _Held:
        held = _Held(tensor)
        storage = tensor.untyped_storage()
        key, size = storage.data_ptr(), storage.nbytes()
        if key not in self._excluded:
            self._holders[key] = self._holders.get(key, 0) + 1
            if self._holders[key] == 1:
                self.now += size
                self.peak = max(self.peak, self.now)
            weakref.finalize(held, self._release, key, size)
        return held

    @staticmethod
    def _unpack(held: _Held) -> Tensor:
        return held.tensor

    def _release(self, key: int, size: int) -> None:
        self._holders[key] -= 1
        if not self._holders[key]:
            del self._holders[key]
            self.now -= size

    def __enter__(self) -> "SavedBytes":
        self._hooks.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hooks.__exit__(kind, error, trace)
