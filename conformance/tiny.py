"""Any transformers configuration, made tiny without a table of its own.

The names of sizes are shared by hundreds of configuration classes: `hidden_size`,
`num_hidden_layers`, `vocab_size`. A class is tried at its defaults, the names that it has are given
small values, and the configurations that it holds are made tiny likewise. What is particular to a
class is an override.
"""

from __future__ import annotations

from typing import Any

SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "model_dim"), 32),
    **dict.fromkeys(("encoder_hidden_size", "decoder_hidden_size", "emb_dim", "input_dim"), 32),
    **dict.fromkeys(("hidden_dim", "embedding_size", "embedding_dim", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("projection_dim", "width", "output_hidden_size", "output_proj_dim"), 32),
    **dict.fromkeys(("conv_dim_size", "fpn_hidden_size", "qformer_hidden_size", "proj_dim"), 32),
    **dict.fromkeys(("text_hidden_size", "vision_hidden_size", "mm_hidden_size"), 32),
    **dict.fromkeys(("out_hidden_size",), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_encoder_layers", "layers"), 2),
    **dict.fromkeys(("num_decoder_layers", "encoder_num_hidden_layers"), 2),
    **dict.fromkeys(("decoder_num_hidden_layers", "num_block_layers", "num_blocks"), 2),
    **dict.fromkeys(
        ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"), 4
    ),
    **dict.fromkeys(("decoder_attention_heads", "encoder_num_attention_heads"), 4),
    **dict.fromkeys(
        ("decoder_num_attention_heads", "num_encoder_attention_heads", "attention_heads"), 4
    ),
    **dict.fromkeys(("num_decoder_attention_heads", "linear_num_value_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "linear_num_key_heads"), 2),
    **dict.fromkeys(("encoder_num_key_value_heads", "decoder_num_key_value_heads"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "attention_head_size", "head_size", "global_head_dim"), 8),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim", "kv_channels"), 8),
    **dict.fromkeys(("qk_nope_head_dim", "v_head_dim", "qk_rope_head_dim"), 8),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), 16),
    **dict.fromkeys(
        ("intermediate_size", "ffn_dim", "n_inner", "d_ff", "d_inner", "encoder_ffn_dim"), 48
    ),
    **dict.fromkeys(("decoder_ffn_dim", "mlp_dim", "ffn_hidden_size", "dim_feedforward"), 48),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 24),
    **dict.fromkeys(
        ("encoder_intermediate_size", "decoder_intermediate_size", "encoder_ffn_size"), 48
    ),
    **dict.fromkeys(
        ("vocab_size", "text_vocab_size", "decoder_vocab_size", "entity_vocab_size"), 99
    ),
    **dict.fromkeys(("vocab_size_per_layer_input", "tgt_vocab_size", "src_vocab_size"), 99),
    **dict.fromkeys(("hidden_size_per_layer_input", "laurel_rank"), 8),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "moe_top_k", "top_k", "moe_topk"), 2),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts"), 1),
    **dict.fromkeys(
        ("max_position_embeddings", "n_positions", "max_seq_len", "max_seq_length"), 64
    ),
    **dict.fromkeys(("max_source_positions", "max_target_positions", "max_length_positions"), 64),
    **dict.fromkeys(("sliding_window", "attention_window", "local_attention", "window_size"), 4),
    "image_size": 32,
    "mm_tokens_per_image": 4,
    "patch_size": 8,
    "input_size": (32, 32),
    "num_labels": 5,
    "use_cache": False,
    **dict.fromkeys(("pad_token_id", "padding_idx"), 0),
    **dict.fromkeys(("bos_token_id", "decoder_start_token_id", "sep_token_id", "cls_token_id"), 1),
    **dict.fromkeys(("eos_token_id", "mask_token_id", "unk_token_id"), 2),
    **dict.fromkeys(("image_token_id", "image_token_index"), 3),
    **dict.fromkeys(
        ("video_token_id", "video_token_index", "audio_token_id", "audio_token_index"), 4
    ),
}


def tiny(config_class: type[Any], overrides: dict[str, Any] | None = None) -> Any:
    """Return a small configuration of `config_class`; `overrides` win, nested ones by dictionary.

    A nested override that names a `model_type` replaces the nested configuration altogether.

    >>> from transformers import BertConfig
    >>> tiny(BertConfig, {"num_hidden_layers": 1}).num_hidden_layers
    1
    """
    overrides = dict(overrides or {})
    start = config_class()
    values: dict[str, Any] = {}
    for name, value in vars(start).items():
        if name in getattr(config_class, "sub_configs", {}):
            if "model_type" not in overrides.get(name, {}) and hasattr(value, "to_dict"):
                values[name] = tiny(type(value), overrides.pop(name, None)).to_dict()
        elif name in SIZES and _scalar(value) == _scalar(SIZES[name]) and value is not None:
            values[name] = SIZES[name]
        elif name == "depths" and isinstance(value, list | tuple):
            values[name] = [min(depth, 2) for depth in value]
        elif name == "layer_types" and isinstance(value, list):
            values[name] = _kinds(value)
        elif name == "rope_parameters" and isinstance(value, dict):
            values[name] = _rotary(value)
    values.update(overrides)
    return config_class(**values)


def _kinds(layers: list[str]) -> list[str]:
    """Two layers that keep the two first kinds of layer there are, so that each is met."""
    kinds = list(dict.fromkeys(layers))[:2]
    return (kinds * 2)[:2]


def _rotary(parameters: dict[str, Any]) -> dict[str, Any]:
    """Rotary parameters whose sections (time, height, width) fill half of a head of eight.

    >>> _rotary({"mrope_section": [16, 24, 24]})
    {'mrope_section': [2, 1, 1]}
    """
    parameters = {key: _rotary(x) if isinstance(x, dict) else x for key, x in parameters.items()}
    if parameters.get("mrope_section"):
        half = int(4 * (parameters.get("partial_rotary_factor") or 1))
        parameters["mrope_section"] = [half - half // 2, half // 4 or half // 2, half // 4]
    return parameters


def _scalar(value: Any) -> bool:
    return not isinstance(value, list | tuple | dict)
