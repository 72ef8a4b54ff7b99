"""Where does a logit come from? The account of one vision transformer, under two backward passes.

    python examples/account.py

The model below is plain PyTorch, with random weights from a fixed seed, and knows nothing of
LibraGrad. Its logit must be the sum of what the inputs and the biases explain; what is missing
from that sum, the account traces to the operations that lost it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import libragrad


class Attention(nn.Module):
    """softmax(Q Kᵀ / √d) V."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, h: Tensor) -> Tensor:
        q, k, v = self.qkv(h).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        z: Tensor = self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return z


class Block(nn.Module):
    """Attention, then an MLP, each on normalised tokens and added to the residual stream."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, h: Tensor) -> Tensor:
        h = h + self.attention(self.norm1(h))
        z: Tensor = h + self.mlp(self.norm2(h))
        return z


class VisionTransformer(nn.Module):
    """Patches of 16 × 16 pixels, a CLS token, learned positions, one logit a class."""

    def __init__(self, size: int, width: int, depth: int, heads: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, kernel_size=16, stride=16)
        self.cls = nn.Parameter(torch.randn(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, 1 + (size // 16) ** 2, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, image: Tensor) -> Tensor:
        patches = self.patches(image).flatten(2).transpose(1, 2)
        h = torch.cat([self.cls.expand(len(image), -1, -1), patches], dim=1) + self.position
        logits: Tensor = self.head(self.norm(self.blocks(h))[:, 0])
        return logits


def main() -> None:
    """Print the account of the predicted class, with PyTorch's gradient and with Libra's."""
    torch.manual_seed(0)
    model = VisionTransformer(size=224, width=192, depth=12, heads=3, classes=1000).eval()
    image = torch.randn(1, 3, 224, 224)
    target = int(model(image).argmax())
    accounts = {
        "PyTorch's own gradient": libragrad.STANDARD,
        "LibraGrad": libragrad.LIBRA,
    }
    print(f"A vision transformer of 12 blocks, one random picture, the logit of class {target}.")
    for title, preset in accounts.items():
        print(f"\n{title}\n{'─' * len(title)}")
        print(libragrad.audit(model, image, target=target, preset=preset))


if __name__ == "__main__":
    main()
