"""pytorch-grad-cam's GradCAM at the last block's first norm, as its ViT example has it."""

import torch
from pytorch_grad_cam import GradCAM
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import Tensor

from benchmarks.contender import Contender, Local, Unavailable
from benchmarks.workload import Workload


def grad_cam(name: str, workload: Workload) -> Contender:
    """Make a map from the last block's tokens; the hooks live for one call."""
    if not workload.is_image:
        raise Unavailable("makes maps of images only")
    side = round((workload.tokens - 1) ** 0.5)
    layer = workload.model.blocks[-1].norm1  # type: ignore[union-attr, index]
    targets = [ClassifierOutputTarget(0)] * len(workload.x)

    def grid(h: Tensor) -> Tensor:
        patches: Tensor = h[:, 1:].unflatten(1, (side, side))
        return patches.permute(0, 3, 1, 2)

    def call() -> Tensor:
        with GradCAM(workload.model, [layer], reshape_transform=grid) as method:
            heat = torch.as_tensor(method(input_tensor=workload.x, targets=targets))
        workload.model.zero_grad()
        return heat

    return Local(name, workload, call, note="its backward fills the weights' gradients too")
