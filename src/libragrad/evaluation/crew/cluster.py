"""A crew of Ray actors, on this machine or on a cluster, each with a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from libragrad.errors import ResultsError
from libragrad.evaluation.crew.crew import Crew, Hand, HandLostError
from libragrad.evaluation.extra import needs
from libragrad.evaluation.measure import Measurer
from libragrad.evaluation.plan import Shard

__all__ = ["ray_crew"]


def ray_crew(
    make: Callable[[], Measurer], workers: int, address: str = "local", gpus: float = 0
) -> Crew:
    """So many actors on the cluster at `address`; "local" starts Ray on this machine.

    The actors compute and send tables back: they need no access to the results folder.
    """
    with needs("ray", "a run on Ray"):
        import ray
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(address=address, log_to_driver=False, configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ResultsError(
                f"no Ray cluster answers at {address!r}: {error}; start one with `ray start --head`"
            ) from error
    actor = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(_Actor)
    end = ray.shutdown if ours else lambda: None
    return Crew(workers, lambda: _RayHand(ray, actor, make), _first_done, end)


class _Actor:
    def __init__(self, make: Callable[[], Measurer]) -> None:
        self._measurer = make()

    def measure(self, shard: Shard) -> pa.Table:
        return self._measurer.measure(shard)


class _RayHand:
    def __init__(self, ray: Any, actor: Any, make: Callable[[], Measurer]) -> None:
        self.ray = ray
        self._actor = actor.remote(make)
        self.pending: Any = None

    def start(self, shard: Shard) -> None:
        self.pending = self._actor.measure.remote(shard)

    def result(self) -> pa.Table:
        try:
            return self.ray.get(self.pending)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self.ray.exceptions.RayError as error:
            raise HandLostError(str(error).partition("\n")[0]) from error

    def close(self) -> None:
        self.ray.kill(self._actor)


def _first_done(busy: Sequence[Hand]) -> Hand:
    hands = {hand.pending: hand for hand in busy if isinstance(hand, _RayHand)}
    ray = next(iter(hands.values())).ray
    done, _ = ray.wait(list(hands), num_returns=1)
    return hands[done[0]]
