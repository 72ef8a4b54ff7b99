"""What is measured: a model at random weights, an input, and the scalar that is explained."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

TOKENS = (512, 4096, 16384)


@dataclass(frozen=True)
class Workload:
    """A model from x to logits `(batch, classes)` and one input for it.

    `tokens` is the length of the sequence that attention sees. `most_rounds` bounds the rounds of
    a run that takes minutes.
    """

    key: str
    title: str
    item: str
    model: nn.Module
    x: Tensor
    tokens: int
    most_rounds: int | None = None

    @property
    def is_image(self) -> bool:
        """Whether x is a batch of images."""
        return self.x.dim() == 4

    def leaf(self) -> Tensor:
        """Give the input as a fresh leaf that asks for its gradient."""
        return self.x.detach().clone().requires_grad_()

    def score(self, logits: Tensor) -> Tensor:
        """Sum the first logit over the batch: y."""
        return logits[:, 0].sum()


class FromEmbeddings(nn.Module):
    """A causal language model as a function from input embeddings to the last token's logits."""

    def __init__(self, language_model: nn.Module) -> None:
        super().__init__()
        self.language_model = language_model

    def forward(self, embeddings: Tensor) -> Tensor:
        """Run the model without a cache."""
        output = self.language_model(inputs_embeds=embeddings, use_cache=False, logits_to_keep=1)
        logits: Tensor = output.logits[:, -1]
        return logits


def image_transformer(key: str, name: str, batch: int) -> Workload:
    """Build a timm vision transformer at 224 pixels."""
    import timm

    torch.manual_seed(0)
    model = timm.create_model(name).eval()
    nn.init.trunc_normal_(model.get_classifier().weight, std=0.02)  # timm starts some at zero
    side = model.default_cfg["input_size"][-1]
    tokens = model.patch_embed.num_patches + model.num_prefix_tokens
    x = torch.randn(batch, 3, side, side)
    return Workload(key, f"`{name}`, batch {batch}", "image", model, x, tokens)


def decoder(tokens: int) -> Workload:
    """Build a 12-layer Llama of width 256, with grouped queries and fused attention."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1000,
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=12,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=max(TOKENS),
        attn_implementation="sdpa",
    )
    model = FromEmbeddings(LlamaForCausalLM(config).eval())
    title = f"12-layer Llama, width 256, 4 heads over 2, {tokens:,} tokens"
    x = 0.02 * torch.randn(1, tokens, config.hidden_size)
    rounds = 3 if tokens > 4096 else None
    return Workload(f"decoder-{tokens}", title, "sequence", model, x, tokens, rounds)


BUILD: dict[str, Callable[[], Workload]] = {
    "vit-t": lambda: image_transformer("vit-t", "vit_tiny_patch16_224", batch=4),
    "vit-b": lambda: image_transformer("vit-b", "vit_base_patch16_224", batch=4),
    **{f"decoder-{n}": (lambda n=n: decoder(n)) for n in TOKENS},  # type: ignore[misc]
}
