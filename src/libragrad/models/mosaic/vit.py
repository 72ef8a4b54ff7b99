"""The mosaic model: a small, plain vision transformer that says which garments a picture holds."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LABELS = (
    "T-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)


class Attention(nn.Module):
    """Multi-head self-attention, softmax(Q Kᵀ / √d) V, by the fused kernel."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, h: Tensor) -> Tensor:
        batch, tokens, width = h.shape
        qkv = self.qkv(h).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        z = F.scaled_dot_product_attention(q, k, v)
        out: Tensor = self.proj(z.transpose(1, 2).reshape(batch, tokens, width))
        return out


class Block(nn.Module):
    """One pre-norm block: h + Attention(Norm(h)), then h + MLP(Norm(h))."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, h: Tensor) -> Tensor:
        h = h + self.attn(self.norm1(h))
        out: Tensor = h + self.mlp(self.norm2(h))
        return out


class MosaicViT(nn.Module):
    """A pre-norm ViT with a CLS token, learned positions and one logit a class.

    The classes are not exclusive: σ(logit) is the probability that the class is somewhere in
    the picture. Inputs are pictures [B, 3, 64, 64] normalised with `mean` and `std`.

    >>> model = MosaicViT()
    >>> model(torch.zeros(2, 3, 64, 64)).shape
    torch.Size([2, 10])
    """

    labels: tuple[str, ...] = LABELS
    mean: tuple[float, float, float] = (0.25, 0.25, 0.25)
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)

    def __init__(
        self,
        width: int = 96,
        depth: int = 5,
        heads: int = 3,
        patch: int = 4,
        size: int = 64,
    ) -> None:
        super().__init__()
        self.size, self.grid = size, size // patch
        self.patch_embed = nn.Conv2d(3, width, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + self.grid**2, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, len(self.labels))
        self.apply(_initialise)
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def tokens(self, pictures: Tensor) -> Tensor:
        """The first block's input [B, 1 + patches, width]: CLS and patches with their positions."""
        if pictures.shape[1:] != (3, self.size, self.size):
            raise ValueError(
                f"The mosaic model reads pictures of shape [B, 3, {self.size}, {self.size}], "
                f"got {list(pictures.shape)}: resize them, or call `preprocess`."
            )
        patches = self.patch_embed(pictures).flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(len(pictures), -1, -1)
        return torch.cat([cls, patches], dim=1) + self.pos_embed

    def classify(self, h: Tensor) -> Tensor:
        """Logits [B, classes] of any subset of tokens that starts with CLS."""
        for block in self.blocks:
            h = block(h)
        out: Tensor = self.head(self.norm(h)[:, 0])
        return out

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits [B, classes] of normalised pictures [B, 3, size, size]."""
        return self.classify(self.tokens(pictures))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Conv2d)):
        nn.init.trunc_normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
