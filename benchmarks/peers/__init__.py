"""The neighbours, each as its own documentation runs it; a missing one says why it is missing."""

from collections.abc import Callable, Iterator
from importlib import import_module

from benchmarks.contender import Contender, Unavailable
from benchmarks.workload import Workload

PEERS = (
    ("captum InputXGradient", "captum", "input_x_gradient"),
    ("captum IntegratedGradients(50)", "captum", "integrated_gradients"),
    ("pytorch-grad-cam GradCAM", "grad_cam", "grad_cam"),
    ("zennit EpsilonPlus", "zennit", "epsilon_plus"),
    ("lxt efficient", "lxt", "efficient"),
)


def peers(workload: Workload) -> Iterator[Contender | tuple[str, str]]:
    """Give each peer as a contender, or its name and the reason why it does not run."""
    for name, module, function in PEERS:
        try:
            made = import_module(f"benchmarks.peers.{module}")
            make: Callable[[str, Workload], Contender] = getattr(made, function)
            yield make(name, workload)
        except ModuleNotFoundError as error:
            yield name, f"not installed ({error.name})"
        except Unavailable as reason:
            yield name, str(reason)
