"""Small models that are written as no library writes them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH = 32


def encoder(depth: int = 3, *, batch_first: bool = True, norm_first: bool = True) -> nn.Module:
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, batch_first=batch_first, norm_first=norm_first)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class Joined(nn.Module):
    """PyTorch's encoder over patches, with CLS at the front, in the middle or at the end."""

    def __init__(self, place: str, *, batch_first: bool = True, norm_first: bool = True) -> None:
        super().__init__()
        self.place = place
        self.batch_first = batch_first
        self.patch = nn.Conv2d(3, WIDTH, 8, 8)
        self.cls = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.encoder = encoder(batch_first=batch_first, norm_first=norm_first)
        self.head = nn.Linear(WIDTH, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = self.patch(x).flatten(2).transpose(1, 2)
        at = {"front": 0, "middle": h.shape[1] // 2, "end": h.shape[1]}.get(self.place)
        if at is not None:
            h = torch.cat([h[:, :at], self.cls.expand(len(h), -1, -1), h[:, at:]], dim=1)
        h = (
            self.encoder(h)
            if self.batch_first
            else self.encoder(h.mT.mT.transpose(0, 1)).transpose(0, 1)
        )
        return self.head(h.mean(1) if at is None else h[:, at])


class Parts(nn.Module):
    """The parts of a block, which has no forward of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))


class WrittenOut(nn.Module):
    """A ViT whose blocks are a loop in its forward, and whose patches are a reshape."""

    def __init__(self, depth: int = 3) -> None:
        super().__init__()
        self.embed = nn.Linear(3 * 8 * 8, WIDTH)
        self.cls = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.blocks = nn.ModuleList(Parts() for _ in range(depth))
        self.head = nn.Linear(WIDTH, 5)

    def patches(self, x: Tensor) -> Tensor:
        b, c, height, width = x.shape
        cells = x.reshape(b, c, height // 8, 8, width // 8, 8).permute(0, 2, 4, 1, 3, 5)
        return cells.reshape(b, -1, c * 64)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.cat([self.cls.expand(len(x), -1, -1), self.embed(self.patches(x))], dim=1)
        for block in self.blocks:
            y = block.norm1(h)  # type: ignore[operator]
            h = h + block.attn(y, y, y)[0]  # type: ignore[operator]
            h = h + block.mlp(block.norm2(h))  # type: ignore[operator]
        return self.head(h[:, 0])


class Functional(WrittenOut):
    """The same, where not even the norms are modules that run."""

    def forward(self, x: Tensor) -> Tensor:
        h = F.linear(self.patches(x), self.embed.weight, self.embed.bias)
        for _ in self.blocks:
            y = F.layer_norm(h, (WIDTH,))
            h = h + torch.softmax(y @ y.mT, dim=-1) @ y
        return F.linear(h.mean(1), self.head.weight)


class Residual(nn.Module):
    """h + f(h)."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, h: Tensor) -> Tensor:
        out: Tensor = h + self.inner(h)
        return out


class Adding(nn.Module):
    """Changes its argument in place: h += f(h)."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        h += self.inner(h)
        return h


def patched(*layers: nn.Module) -> nn.Sequential:
    """Layers between a patch convolution and a mean."""
    return nn.Sequential(nn.Conv2d(3, WIDTH, 8, 8), nn.Flatten(2), Turned(), *layers, Mean())


class Turned(nn.Module):
    def forward(self, h: Tensor) -> Tensor:
        return h.transpose(1, 2)


class Mean(nn.Module):
    def forward(self, h: Tensor) -> Tensor:
        return h.mean(1)


class Dropping(nn.Module):
    """Keeps every token but the last seven."""

    def forward(self, h: Tensor) -> Tensor:
        return h[:, :-7].clone()
