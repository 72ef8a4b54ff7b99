"""What attribution costs on top of the bare gradient: one method, ten at once, and attention's."""

from dataclasses import dataclass

from torch import Tensor

from benchmarks.contender import Local
from benchmarks.gradients import LIBRA, forward_alone
from benchmarks.rounds import Times, interleave
from benchmarks.workload import Workload, image_transformer

ONE = "Libra FullGrad+"
TEN = "ten methods at once"
ALL = "ten methods, GenAtt, TokenTM, AttCAT and the rollouts at once"
GENATT = "Libra GenAtt"


@dataclass(frozen=True)
class Methods:
    """The table of one workload."""

    title: str
    forward_seconds: float
    rows: list[Times]

    def ratio(self, name: str, to: str) -> float:
        """Give one row's median over another's."""
        found = {row.name: row.median for row in self.rows}
        above, below = found[name], found[to]
        assert above is not None
        assert below is not None
        return above / below


def measure(rounds: int) -> Methods:
    """Time them interleaved, each as a call of an `Explainer` that knows its model."""
    workload = image_transformer("methods", "vit_base_patch16_224", batch=4)
    from libragrad import METHODS

    plain = [key for key, method in METHODS.items() if method.gradient and not method.preset]
    attention = ["attcat", "genatt", "tokentm"]
    ten = [key for key in plain if key not in attention]
    contenders = [
        LIBRA.contender(workload),
        _explained(workload, ONE, ["fullgrad+"]),
        _explained(workload, TEN, ten),
        _explained(workload, GENATT, ["genatt"]),
        _explained(workload, ALL, [*ten, *attention, "rawatt", "rollout"]),
    ]
    seconds, rows = interleave(forward_alone(workload), contenders, rounds)
    return Methods(workload.title, seconds, rows)


def _explained(workload: Workload, name: str, methods: list[str]) -> Local:
    from libragrad import Explainer

    explainer = Explainer(workload.model)

    def call() -> Tensor:
        maps: Tensor = explainer.explain(workload.x, 0, methods=methods)[0].map
        return maps

    return Local(name, workload, call)
