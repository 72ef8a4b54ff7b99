"""What a transformers class needs beside the common small sizes, by prefix of its name."""

from __future__ import annotations

from typing import Any

import torch

from conformance.transformers_inputs import BATCH, TOKENS, boxes, ids

RESNET = {
    "model_type": "resnet",
    "embedding_size": 8,
    "hidden_sizes": [8, 16, 16, 32],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
    "out_features": ["stage2", "stage3", "stage4"],
}
RESNET_LAST = {**RESNET, "out_features": ["stage4"]}
SWIN = {"embed_dim": 24, "image_size": 64, "patch_size": 2, "depths": [2, 2], "num_heads": [2, 4]}
ALL_HEADS = {"num_key_value_heads": 4}
SERIES = {
    "prediction_length": 4,
    "context_length": 8,
    "lags_sequence": [1, 2],
    "num_time_features": 1,
}
ANY_RESOLUTION = {"image_grid_pinpoints": [[32, 32]]}
QUERIES = {"image_token_index": 3, "num_query_tokens": 4}
SECTIONS = {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}}
THREE_AXES = {"text_config": SECTIONS}
HALF = {
    "rope_parameters": {
        "rope_type": "default",
        "mrope_section": [1, 1, 0],
        "partial_rotary_factor": 0.5,
    }
}
HALF_AXES = {"text_config": HALF}
WINDOWS: dict[str, Any] = {**THREE_AXES, "vision_config": {"window_size": 32}}
MAMBA_HEADS = {"mamba_n_heads": 8, "mamba_n_groups": 2, "mamba_d_state": 8, "num_hidden_layers": 2}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "AXK1": ALL_HEADS,
    "AXK2": ALL_HEADS,
    "Align": {"vision_config": {"hidden_dim": 640}},
    "Autoformer": {**SERIES, "moving_average": 3, "label_length": 2},
    "BailingHybrid": ALL_HEADS,
    "Bamba": MAMBA_HEADS,
    "Blip2": QUERIES,
    "BridgeTower": {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "text_config": {"hidden_size": 128},
        "vision_config": {"hidden_size": 128},
    },
    "Bros": {"hidden_size": 128},
    "CodeGen": {"rotary_dim": 8},
    "ConditionalDetr": {"backbone_config": RESNET_LAST, "backbone": None},
    "Csm": {"codec_config": {"model_type": "mimi"}},
    "DabDetr": {"backbone_config": RESNET_LAST, "backbone": None},
    "DPTFor": {
        "num_hidden_layers": 4,
        "backbone_out_indices": [0, 1, 2, 3],
        "neck_hidden_sizes": [8, 16, 24, 32],
    },
    "DeepseekV": ALL_HEADS,
    "DeepseekV2": {**ALL_HEADS, "num_experts_per_tok": 2},
    "DeepseekVL": {},
    "DeformableDetr": {"backbone_config": RESNET, "backbone": None, "num_feature_levels": 3},
    "Detr": {"backbone_config": RESNET_LAST, "backbone": None},
    "DonutSwin": SWIN,
    "EfficientNet": {"width_coefficient": 0.5, "depth_coefficient": 0.5, "hidden_dim": 640},
    "Esm": {
        "vocab_size": 99,
        "token_dropout": False,
        "pad_token_id": 0,
        "emb_layer_norm_before": True,
    },
    "FocalNet": {"embed_dim": 16, "image_size": 64, "patch_size": 4},
    "Glm46V": THREE_AXES,
    "Glm4v": THREE_AXES,
    "Glm4vMoe": HALF_AXES,
    "Glm4vMoeText": HALF,
    "Glm4vText": SECTIONS,
    "GlmImageText": HALF,
    "GlmOcr": HALF_AXES,
    "GlmOcrText": HALF,
    "GPTJ": {"rotary_dim": 8},
    "GPTNeoFor": {"attention_types": [[["global", "local"], 1]], "num_layers": 2},
    "GPTNeoModel": {"attention_types": [[["global", "local"], 1]], "num_layers": 2},
    "GraniteMoeHybrid": MAMBA_HEADS,
    "GraniteSpeech5": {"max_position_embeddings": 128},
    "Hiera": {"image_size": [64, 64], "depths": [1, 1, 2, 1]},
    "HunYuan": {"head_dim": 8},
    "Informer": {**SERIES, "label_length": 2},
    "InstructBlip": QUERIES,
    "LayoutLMv3": {"coordinate_size": 6, "shape_size": 4, "input_size": 32},
    "Levit": {"image_size": 64, "patch_size": 16, "hidden_sizes": [32, 48, 64]},
    "Lilt": {"hidden_size": 48},
    "LlavaNext": ANY_RESOLUTION,
    "LlavaOnevision": ANY_RESOLUTION,
    "LongcatFlash": ALL_HEADS,
    "Mamba2": {"num_heads": 8, "n_groups": 2, "state_size": 8},
    "MaskFormerSwin": SWIN,
    "MiniCPM3": ALL_HEADS,
    "Ministral": {"head_dim": 8},
    "Ministral3": {},
    "MistralLarge4Text": ALL_HEADS,
    "MobileViT": {"image_size": 64, "patch_size": 2},
    "Moonshine": {"encoder_num_key_value_heads": 4, "decoder_num_key_value_heads": 4},
    "NeoMME": {"head_dim": 16},
    "Nemotron": {"num_key_value_heads": 2, "head_dim": 8},
    "NemotronH": {},
    "OmDet": {"backbone_config": RESNET},
    "PatchTS": {"context_length": 32, "prediction_length": 8, "num_input_channels": 2},
    "Perceiver": {"num_latents": 8, "d_latents": 32, "num_self_attends_per_block": 2},
    "Pvt": {"image_size": 64, "depths": [1, 1, 1, 1]},
    "PoolFormer": {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 24, 32, 48]},
    "Qwen2VL": THREE_AXES,
    "Qwen2VLText": SECTIONS,
    "PaddleOCRText": SECTIONS,
    "Qwen2_5OmniTalkerModel": SECTIONS,
    "Qwen2_5OmniThinkerText": SECTIONS,
    "Qwen2_5_VL": WINDOWS,
    "Qwen2_5_VLText": SECTIONS,
    "Qwen2_5_Vision": {"window_size": 32},
    "ResNet": {"depths": [1, 1, 1, 1]},
    "Swin2SR": {
        "embed_dim": 24,
        "depths": [2, 2],
        "num_heads": [2, 2],
        "image_size": 32,
        "patch_size": 1,
    },
    "SwinFor": SWIN,
    "SwinModel": SWIN,
    "Swinv2": SWIN,
    "TableTransformer": {"backbone_config": RESNET_LAST, "backbone": None},
    "TimeSeriesTransformer": SERIES,
    "VJEPA2": {
        "crop_size": 32,
        "frames_per_clip": 4,
        "pred_hidden_size": 32,
        "pred_num_attention_heads": 4,
    },
    "Zamba": {"num_hidden_layers": 3, "layer_types": ["mamba", "hybrid", "mamba"]},
    "Zaya": {"num_experts_per_tok": 1},
    "Glm4MoeLite": ALL_HEADS,
    "GlmMoeDsa": ALL_HEADS,
    "Youtu": ALL_HEADS,
    "Esmc": ALL_HEADS,
    "Dots3NoteText": ALL_HEADS,
    "Wav2Vec2Bert": {"vocab_size": 99},
    "Xmod": {"default_language": "en_XX"},
}


def _ended(model: Any) -> torch.Tensor:
    """Token ids that end in the end-of-sequence token, once in each row."""
    tokens = ids(torch.Generator().manual_seed(1))
    tokens[:, -1] = model.config.eos_token_id
    return tokens


def _codebooks(model: Any) -> torch.Tensor:
    books = getattr(model.config, "num_codebooks", None) or model.config.decoder.num_codebooks
    return ids(torch.Generator().manual_seed(1)).repeat_interleave(books, 0)


def _video(model: Any) -> torch.Tensor:
    config = model.config
    frames, side = config.num_frames, config.image_size
    generator = torch.Generator().manual_seed(1)
    return torch.randn(BATCH, frames, 3, side, side, generator=generator)


SERIES_INPUTS: dict[str, Any] = {
    "past_values": (BATCH, 10),
    "past_time_features": (BATCH, 10, 1),
    "past_observed_mask": torch.ones(BATCH, 10, dtype=torch.bool),
    "future_values": (BATCH, 4),
    "future_time_features": (BATCH, 4, 1),
}
PATCH_SERIES: dict[str, Any] = {"past_values": (BATCH, 32, 2)}
IMAGE_32 = {"pixel_values": (BATCH, 3, 32, 32)}
TILED = {"pixel_values": (BATCH, 2, 3, 32, 32)}
ONE_IMAGE = {"pixel_values": (BATCH, 1, 3, 32, 32)}
IMAGE_64 = {"pixel_values": (BATCH, 3, 64, 64)}

INPUTS: dict[str, dict[str, Any]] = {
    "Autoformer": SERIES_INPUTS,
    "Blip2QFormer": {"query_embeds": (BATCH, 8, 32), "input_ids": None},
    "Bros": {"bbox": lambda model: boxes() / 1000},
    "ClapModel": {"input_features": (BATCH, 1, 256, 64)},
    "ConditionalDetr": IMAGE_64,
    "ConvNext": IMAGE_64,
    "DINOv3ConvNext": IMAGE_64,
    "DabDetr": IMAGE_64,
    "Dac": {"input_values": (BATCH, 1, 4000)},
    "DecisionTransformer": {
        "states": (BATCH, 6, 17),
        "actions": (BATCH, 6, 4),
        "rewards": (BATCH, 6, 1),
        "returns_to_go": (BATCH, 6, 1),
        "timesteps": torch.arange(6).repeat(BATCH, 1),
        "attention_mask": torch.ones(BATCH, 6, dtype=torch.long),
    },
    "DeformableDetr": {"pixel_values": (BATCH, 3, 128, 128)},
    "Detr": IMAGE_64,
    "Dia": {
        "decoder_input_ids": lambda model: ids(torch.Generator()).unsqueeze(-1).repeat(1, 1, 9)
    },
    "ColModernVBert": ONE_IMAGE,
    "Flava": {"pixel_values": (BATCH, 3, 32, 32)},
    "GlmAsr": {"input_features": (BATCH, 128, 64)},
    "Idefics": ONE_IMAGE,
    "Idefics3VisionTransformer": IMAGE_32,
    "Informer": SERIES_INPUTS,
    "InstructBlip": {"qformer_input_ids": lambda model: ids(torch.Generator())},
    "LlavaNext": TILED,
    "LlavaOnevision": TILED,
    "Lxmert": {"visual_feats": (BATCH, 6, 2048), "visual_pos": torch.rand(BATCH, 6, 4)},
    "MT5ForSequence": {"input_ids": _ended},
    "MT5Model": {},
    "Mgpstr": {"pixel_values": (BATCH, 3, 32, 128)},
    "ModernVBert": ONE_IMAGE,
    "Musicgen": {"input_ids": _codebooks, "decoder_input_ids": None},
    "PatchTS": PATCH_SERIES,
    "Perceiver": {"inputs": (BATCH, TOKENS, 32)},
    "PeVideoModel": {"pixel_values_videos": (BATCH, 4, 3, 64, 64)},
    "ResNet": IMAGE_64,
    "TableTransformer": IMAGE_64,
    "SmolVLM": ONE_IMAGE,
    "SmolVLMVision": IMAGE_32,
    "T5ForSequence": {"input_ids": _ended},
    "TimeSeriesTransformer": SERIES_INPUTS,
    "UMT5ForSequence": {"input_ids": _ended},
    "Timesformer": {"pixel_values": _video},
    "VideoMAE": {"pixel_values": _video},
    "Vivit": {"pixel_values": _video},
    "VisualBert": {"visual_embeds": (BATCH, 6, 512)},
    "Wav2Vec2Bert": {"input_features": (BATCH, 64, 160)},
    "SeamlessM4TForSpeechToText": {"input_features": (BATCH, 64, 160)},
    "SeamlessM4Tv2ForSpeechToText": {"input_features": (BATCH, 64, 160)},
}
EAGER_ONLY = (
    "ConditionalDetr",
    "DFine",
    "DeformableDetr",
    "Deimv2",
    "Detr",
    "EfficientLoFTR",
    "LightGlue",
    "PPOCRV6",
    "RTDetr",
    "TableTransformer",
)
"""Their backbone is convolutional, and has no attention to choose."""
SDPA_ONLY = ("Nemotron3", "NemotronAsr", "UnlimitedOcr")
"""Their eager attention does not run with grouped queries, or masks whole rows and gives NaN."""
SINGLE = {"EomtFor": "PyTorch's attention misreads the model's float32 mask beside float64 tokens"}
"""Judged in float32, with the reason."""
