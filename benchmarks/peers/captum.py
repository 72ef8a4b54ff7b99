"""captum's two gradient methods, on the model as it comes (its weights ask for gradients)."""

from captum.attr import InputXGradient, IntegratedGradients
from torch import Tensor

from benchmarks.contender import Contender, Local, Unavailable
from benchmarks.workload import Workload


def input_x_gradient(name: str, workload: Workload) -> Contender:
    """x ⊙ ∂y/∂x."""
    if workload.tokens > 4096:
        raise Unavailable("left out at this length")
    method = InputXGradient(workload.model)

    def call() -> Tensor:
        attribution: Tensor = method.attribute(workload.leaf(), target=0)
        return attribution

    return Local(name, workload, call)


def integrated_gradients(name: str, workload: Workload) -> Contender:
    """50 steps, a batch of the workload's own size at a time, measured in one round."""
    if workload.tokens > 512:
        raise Unavailable("50 passes: left out at this length")
    method = IntegratedGradients(workload.model)
    batch = len(workload.x)

    def call() -> Tensor:
        attribution: Tensor = method.attribute(
            workload.leaf(), target=0, n_steps=50, internal_batch_size=batch
        )
        return attribution

    return Local(name, workload, call, most_rounds=1, note="one round")
