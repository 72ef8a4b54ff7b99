"""The tiny ViT with PyTorch's own attention modules, whose inner tensors lie in other orders."""

from __future__ import annotations

from torch import Tensor, nn

from tests.reference.tiny_vit import HEADS, WIDTH, Block, TinyViT


class TurnedViT(TinyViT):
    """The same function of the same parameters, so the same transcript holds.

    With `batch_first=False` the residual stream is (N, B, C); with `written=True` the module forms
    its attention weights as (B · heads, N, N).
    """

    def __init__(self, *, batch_first: bool, written: bool, prefix: int = 1) -> None:
        super().__init__(prefix=prefix)
        self.batch_first, self.written = batch_first, written
        self.layers = nn.ModuleList()
        for block in self.blocks:
            assert isinstance(block, Block)
            self.layers.append(Turned(block, batch_first, written))

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        h = h if self.batch_first else h.transpose(0, 1)
        for layer in self.layers:
            h = layer(h)
        h = self.norm(h)
        z: Tensor = self.head(h[:, 0] if self.batch_first else h[0])
        return z


class Turned(nn.Module):
    """A block around nn.MultiheadAttention, on another block's parameters."""

    def __init__(self, block: Block, batch_first: bool, written: bool) -> None:
        super().__init__()
        self.inner, self.written = block, written
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=batch_first)
        for name, parameter in block.qkv.named_parameters():
            self.attention.register_parameter(f"in_proj_{name}", parameter)
        for name, parameter in block.proj.named_parameters():
            self.attention.out_proj.register_parameter(name, parameter)

    def forward(self, h: Tensor) -> Tensor:
        x = self.inner.norm1(h)
        h = h + self.attention(x, x, x, need_weights=self.written)[0]
        x = nn.functional.gelu(self.inner.fc1(self.inner.norm2(h)))
        result: Tensor = h + self.inner.fc2(x)
        return result
