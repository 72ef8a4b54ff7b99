"""A tiny Mixer and a tiny residual CNN, each as a model and as formulas of its own tensors."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.reference.tiny_vit import CLASSES, GRID, PATCHES
from tests.reference.transcript import At, Transcript

WIDTH = 10


def even() -> Tensor:
    """The head reads the mean."""
    return torch.full((PATCHES,), 1 / PATCHES, dtype=torch.float64)


class MixerBlock(nn.Module):
    """An MLP over the tokens of each channel, then one over the channels of each token."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix1, self.mix2 = nn.Linear(PATCHES, 7), nn.Linear(7, PATCHES)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 15), nn.Linear(15, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        h = h + self.mix2(F.gelu(self.mix1(self.norm1(h).transpose(1, 2)))).transpose(1, 2)
        result: Tensor = h + self.fc2(F.gelu(self.fc1(self.norm2(h))))
        return result

    def explicit(self, t: Transcript, h: Tensor) -> Tensor:
        x = t.linear(t.layer_norm(h, self.norm1, At.TOKENS).mT, self.mix1, At.NOWHERE)
        h = h + t.linear(t.gelu(x), self.mix2, At.COLUMNS).mT
        x = t.linear(t.layer_norm(h, self.norm2, At.TOKENS), self.fc1, At.TOKENS)
        return h + t.linear(t.gelu(x), self.fc2, At.TOKENS)


class TinyMixer(nn.Module):
    """Patches, three blocks, their mean, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, 8, 8)
        self.blocks = nn.ModuleList(MixerBlock() for _ in range(3))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.patch(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            h = block(h)
        z: Tensor = self.head(self.norm(h).mean(dim=1))
        return z

    def explicit(self, x: Tensor, target: int, *, libra: bool) -> tuple[Transcript, Tensor]:
        t = Transcript(libra, even())
        h = self.patch(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            assert isinstance(block, MixerBlock)
            h = block.explicit(t, t.begin(h))
        h = t.layer_norm(h, self.norm, At.TOKENS)
        z = t.linear(h.mean(1), self.head, At.NOWHERE)
        return t.backward(z[:, target]), z.detach()


class ConvBlock(nn.Module):
    """x + conv(ReLU(conv(x)))."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.conv2 = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, h: Tensor) -> Tensor:
        result: Tensor = h + self.conv2(torch.relu(self.conv1(h)))
        return result

    def explicit(self, t: Transcript, h: Tensor) -> Tensor:
        """Tokens (B, N, C) in and out; ReLU and the convolutions are what they are."""
        x = self._map(t, h, self.conv1)
        return h + self._map(t, torch.relu(x), self.conv2)

    @staticmethod
    def _map(t: Transcript, h: Tensor, conv: nn.Conv2d) -> Tensor:
        chart = F.conv2d(h.mT.unflatten(2, GRID), conv.weight, None, padding=1)
        assert conv.bias is not None
        return t.add(chart.flatten(2).mT, conv.bias, At.TOKENS)


class TinyCNN(nn.Module):
    """A stem, three residual blocks, their mean, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 8, 8)
        self.blocks = nn.ModuleList(ConvBlock() for _ in range(3))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.stem(x)
        for block in self.blocks:
            h = block(h)
        z: Tensor = self.head(h.mean((2, 3)))
        return z

    def explicit(self, x: Tensor, target: int, *, libra: bool) -> tuple[Transcript, Tensor]:
        t = Transcript(libra, even())
        h = self.stem(x).flatten(2).mT
        for block in self.blocks:
            assert isinstance(block, ConvBlock)
            h = block.explicit(t, t.begin(h))
        z = t.linear(h.mean(1), self.head, At.NOWHERE)
        return t.backward(z[:, target]), z.detach()
