"""A tiny ViT in every form that matters, twice: as a model, and as formulas of its own tensors."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.reference.transcript import At, Transcript

WIDTH, HEADS, GRID, CLASSES = 12, 2, (3, 4), 5
PATCHES = GRID[0] * GRID[1]  # as many as channels: no shape tells tokens and channels apart
Reads = Literal["cls", "mean", "pool"]
Position = Literal["table", "rope", "relative"]


class Block(nn.Module):
    """Attention, then an MLP."""

    def __init__(self, tokens: int, prefix: int, position: Position, gated: bool, fused: bool):
        super().__init__()
        self.prefix, self.position, self.fused = prefix, position, fused
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.gate = nn.Linear(WIDTH, 2 * WIDTH) if gated else None
        shape = (HEADS, tokens, tokens)
        self.table = nn.Parameter(torch.zeros(shape)) if position == "relative" else None

    def forward(self, h: Tensor) -> Tensor:
        q, k, v = split(self.qkv(self.norm1(h)))
        if self.position == "rope":
            q, k = turn(q, self.prefix), turn(k, self.prefix)
        if self.fused:
            mask = None if self.table is None else self.table.unsqueeze(0)
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            out = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1) @ v
        h = h + self.proj(out.transpose(1, 2).flatten(2))
        x = self.norm2(h)
        inner = F.gelu(self.fc1(x)) if self.gate is None else F.silu(self.gate(x)) * self.fc1(x)
        result: Tensor = h + self.fc2(inner)
        return result

    def explicit(self, t: Transcript, h: Tensor) -> Tensor:
        q, k, v = split(t.linear(t.layer_norm(h, self.norm1, At.TOKENS), self.qkv, At.TOKENS))
        if self.position == "rope":
            q, k = turn(q, self.prefix), turn(k, self.prefix)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        a = t.weights(scores if self.table is None else scores + self.table)
        t.a.append(a)
        out = t.linear((a @ v).transpose(1, 2).flatten(2), self.proj, At.TOKENS)
        h = h + out
        t.middle.append(h)
        x = t.layer_norm(h, self.norm2, At.TOKENS)
        inner = t.linear(x, self.fc1, At.TOKENS)
        if self.gate is None:
            inner = t.gelu(inner)
        else:
            inner = t.swiglu(t.linear(x, self.gate, At.TOKENS), inner)
        h = h + t.linear(inner, self.fc2, At.TOKENS)
        t.after.append(h)
        return h


class Pool(nn.Module):
    """A learned query attends to the tokens; then an MLP of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.latent = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.q, self.kv = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.proj, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, h: Tensor) -> Tensor:
        q = self.q(self.latent.expand(len(h), -1, -1))
        q, k, v = (heads(x) for x in (q, *self.kv(h).chunk(2, dim=-1)))
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        out = self.proj(out)
        out = out + self.fc2(F.gelu(self.fc1(self.norm(out))))
        return out[:, 0]

    def explicit(self, t: Transcript, h: Tensor) -> Tensor:
        q = (self.latent @ self.q.weight.T + self.q.bias).detach().expand(len(h), -1, -1)
        q, k, v = (heads(x) for x in (q, *t.linear(h, self.kv, At.TOKENS).chunk(2, dim=-1)))
        a = t.pool = t.weights(q @ k.mT * q.shape[-1] ** -0.5)
        out = t.linear((a @ v).transpose(1, 2).flatten(2), self.proj, At.NOWHERE)
        x = t.layer_norm(out, self.norm, At.NOWHERE)
        x = t.gelu(t.linear(x, self.fc1, At.NOWHERE))
        return (out + t.linear(x, self.fc2, At.NOWHERE))[:, 0]


class TinyViT(nn.Module):
    """Prefix tokens, three blocks, a head."""

    def __init__(
        self,
        *,
        prefix: int = 1,
        reads: Reads = "cls",
        position: Position = "table",
        gated: bool = False,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.prefix, self.reads = prefix, reads
        tokens = prefix + PATCHES
        self.patch = nn.Conv2d(3, WIDTH, 8, 8)
        self.token = nn.Parameter(torch.zeros(1, prefix, WIDTH))
        self.position = nn.Parameter(torch.zeros(1, tokens, WIDTH))
        self.blocks = nn.ModuleList(Block(tokens, prefix, position, gated, fused) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)
        self.pool = Pool() if reads == "pool" else None

    def embed(self, x: Tensor) -> Tensor:
        h = self.patch(x).flatten(2).transpose(1, 2)
        return torch.cat([self.token.expand(len(h), -1, -1), h], dim=1) + self.position

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.blocks:
            h = block(h)
        h = self.norm(h)
        if self.pool is not None:
            z: Tensor = self.head(self.pool(h))
        else:
            z = self.head(h[:, 0] if self.reads == "cls" else h[:, self.prefix :].mean(dim=1))
        return z

    def explicit(self, x: Tensor, target: int, *, libra: bool) -> tuple[Transcript, Tensor]:
        """The same by formulas, with all gradients of the target's logit, and the logits."""
        t = Transcript(libra, self.row())
        h = self.embed(x)
        for block in self.blocks:
            assert isinstance(block, Block)
            h = block.explicit(t, t.begin(h))
        h = t.layer_norm(h, self.norm, At.TOKENS)
        read = (h * t.row[:, None]).sum(1)
        pooled = read if self.pool is None else self.pool.explicit(t, h)
        z = t.linear(pooled, self.head, At.FIRST if self.reads == "cls" else At.NOWHERE)
        return t.backward(z[:, target]), z.detach()

    def row(self) -> Tensor:
        """What the head reads of each token."""
        row = torch.zeros(self.prefix + PATCHES, dtype=torch.float64)
        if self.reads == "cls":
            row[0] = 1.0
        else:
            row[self.prefix :] = 1 / PATCHES
        return row


def heads(x: Tensor) -> Tensor:
    """(B, N, C) as (B, heads, N, C / heads)."""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def split(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(B, N, 3 C) as three times (B, heads, N, C / heads)."""
    q, k, v = x.unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
    return q, k, v


def turn(x: Tensor, prefix: int) -> Tensor:
    """Rotate pairs of channels of each patch by its number; prefix tokens stay."""
    first, rest = x[:, :, :prefix], x[:, :, prefix:]
    angle = torch.arange(rest.shape[2], dtype=x.dtype)[:, None] * 0.3
    a, b = rest.chunk(2, dim=-1)
    turned = torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
    return torch.cat([first, turned], dim=2)
