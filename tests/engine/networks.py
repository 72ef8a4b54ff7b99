"""Small networks that hold most kinds of operations, with random weights, biases and statistics."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.checks import draw


def randomised(model: nn.Module, seed: int = 0) -> nn.Module:
    """In float64 and eval mode, with no weight at its initial value (γ = 1, b = 0)."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double().eval()
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            p.copy_(0.3 * torch.randn(p.shape, generator=generator) + (p.dim() == 1))
            p.mul_(0.5 if name.endswith("bias") else 1)
        for _, b in sorted(model.named_buffers()):
            if b.is_floating_point():
                b.copy_(torch.rand(b.shape, generator=generator) + 0.5)
    return model


class Attention(nn.Module):
    """Self-attention, explicit or fused."""

    def __init__(self, width: int, heads: int, *, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, h: Tensor) -> Tensor:
        batch, tokens, width = h.shape
        shape = (batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(h).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
            mixed = scores.softmax(dim=-1) @ v
        y: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return y


class Block(nn.Module):
    """Pre-norm attention and MLP, added in place as models do."""

    def __init__(self, width: int, heads: int, *, fused: bool) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, fused=fused)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, h: Tensor) -> Tensor:
        h = h + self.attention(self.norm1(h))
        y: Tensor = self.mlp(self.norm2(h))
        y += h
        return y


class ViT(nn.Module):
    """A vision transformer: patches, class token, positions, blocks, head."""

    def __init__(self, *, fused: bool = True, width: int = 8, classes: int = 3) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, 5, width))
        self.blocks = nn.Sequential(*(Block(width, 2, fused=fused) for _ in range(2)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, image: Tensor) -> Tensor:
        h = self.patches(image).flatten(2).transpose(1, 2)
        h = torch.cat([self.token.expand(len(h), -1, -1), h], dim=1) + self.positions
        y: Tensor = self.head(self.norm(self.blocks(h))[:, 0])
        return y


class ConvNet(nn.Module):
    """Convolution, batch norm, ReLU in place, pooling, squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.MaxPool2d(2)
        )
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(6, 6, 1), nn.Sigmoid())
        self.head = nn.Linear(6, 3)

    def forward(self, image: Tensor) -> Tensor:
        h = self.stem(image)
        h = h * self.gate(h)
        y: Tensor = self.head(h.mean((2, 3)))
        return y


def vit(*, fused: bool = True) -> nn.Module:
    return randomised(ViT(fused=fused))


def convnet() -> nn.Module:
    return randomised(ConvNet())


def mlp() -> nn.Module:
    return randomised(nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.LayerNorm(6), nn.Linear(6, 3)))


def images(batch: int = 2, seed: int = 0) -> Tensor:
    return draw(batch, 3, 8, 8, seed=seed)


def rows(batch: int = 2, seed: int = 0) -> Tensor:
    return draw(batch, 4, seed=seed)


def gradient(model: nn.Module, inputs: Tensor, index: int = 1) -> Tensor:
    """∂y/∂input with y the sum over the batch of one output, under whatever is active."""
    x = inputs.clone().requires_grad_()
    y = model(x)[:, index].sum()
    (g,) = torch.autograd.grad(y, x)
    return g
