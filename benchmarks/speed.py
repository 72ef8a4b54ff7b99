"""One workload: every contender's time and saved bytes."""

from dataclasses import dataclass

from benchmarks import flops
from benchmarks.contender import Contender
from benchmarks.gradients import FROZEN, LIBRA, WEIGHTS, forward_alone
from benchmarks.peers import peers
from benchmarks.rounds import Times, interleave
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Speed:
    """The table of one workload; `limit` is the multiple that arithmetic allows."""

    key: str
    title: str
    item: str
    items: int
    forward_seconds: float
    limit: float
    rounds: int
    rows: list[Times]

    def row(self, name: str) -> Times:
        """Find a contender's row by its name."""
        return next(row for row in self.rows if row.name == name)


def measure(workload: Workload, rounds: int, quick: bool) -> Speed:
    """Run all contenders interleaved; `quick` leaves those out that are measured once only."""
    contenders: list[Contender] = [
        gradient.contender(workload) for gradient in (LIBRA, FROZEN, WEIGHTS)
    ]
    absent: list[Times] = []
    for peer in peers(workload):
        if isinstance(peer, tuple):
            absent.append(Times(peer[0], note=peer[1]))
        elif quick and peer.most_rounds == 1:
            absent.append(Times(peer.name, note="left out of a quick run"))
        else:
            contenders.append(peer)
    rounds = min(rounds, workload.most_rounds or rounds)
    try:
        seconds, rows = interleave(forward_alone(workload), contenders, rounds)
    finally:
        for contender in contenders:
            contender.close()
    return Speed(
        workload.key,
        workload.title,
        workload.item,
        len(workload.x),
        seconds,
        flops.count(workload).limit,
        rounds,
        rows + absent,
    )
