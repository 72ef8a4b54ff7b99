"""Models that read: prompts beside pictures, and text alone."""

from __future__ import annotations

import pytest
import transformers

from tests.cli.running import answer, cli, done, pictures, words

WORDS = ("<unk>", "<pad>", "a", "photo", "of", "spoon", "fork", "zebra")
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}


def tokenizer(length: int):
    tokenizers = pytest.importorskip("tokenizers")
    table = {word: index for index, word in enumerate(WORDS)}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(table, unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="<unk>", pad_token="<pad>", model_max_length=length
    )


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A folder that holds a small CLIP of random weights."""
    folder = tmp_path_factory.mktemp("clip")
    text = SMALL | {"vocab_size": len(WORDS), "max_position_embeddings": 8, "eos_token_id": 1}
    vision = SMALL | {"image_size": 32, "patch_size": 8}
    transformers.set_seed(0)
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer(8).save_pretrained(folder)
    transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)
    return f"hf:{folder}"


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    """A folder that holds a small language model of random weights."""
    folder = tmp_path_factory.mktemp("gpt")
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_embd=8, n_layer=1, n_head=1, n_positions=8
    )
    transformers.set_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer(8).save_pretrained(folder)
    return f"hf:{folder}"


def test_prompts_are_columns(clip, tmp_path):
    (picture,) = pictures(tmp_path / "in", 1)
    given = ("--prompt", "a photo of a spoon", "--prompt", "a fork", "--deletion")
    found = answer("explain", picture, "--model", clip, *given)["pictures"][0]["explanations"]
    assert [one["target"] for one in found] == ["a photo of a spoon", "a fork"]
    for one in found:
        assert abs(one["completeness_error"]) < 1e-4 * abs(one["output"])
        assert len(one["deletion"]) == 10
    starts = [one["deletion"][0] for one in found]
    assert sum(starts) == pytest.approx(1, abs=1e-6)  # the softmax over the prompts


def test_a_contrast_of_such_a_model_is_one_of_prompts(clip, tmp_path):
    (picture,) = pictures(tmp_path / "in", 1)
    found = answer("explain", picture, "--model", clip, "--contrast", "a spoon", "a fork")
    (one,) = found["pictures"][0]["explanations"]
    assert one["target"] == "a spoon − a fork"


@pytest.mark.parametrize("verb", [("explain", "builtin:mosaic-000", "--model"), ("audit",)])
def test_a_model_that_compares_asks_for_prompts(verb, clip):
    result = cli(*verb, clip)
    assert result.exit_code == 2
    said = words(result.stderr)
    assert "Invalid value for --prompt:" in said
    assert "compares pictures with texts: give at least one" in said


def test_an_audit_with_a_prompt_and_with_a_text(clip, gpt):
    assert "No operation leaks." in done("audit", clip, "--prompt", "a zebra")
    assert "No operation leaks." in done("audit", gpt, "--text", "a photo of a", "--target", "7")


def test_a_model_that_reads_sees_no_picture(gpt):
    seeing = cli("explain", "builtin:mosaic-000", "--model", gpt)
    assert seeing.exit_code == 1
    assert "reads text and sees no pictures: explain it from Python" in words(seeing.stderr)
    silent = cli("audit", gpt)
    assert silent.exit_code == 2
    assert "reads text: say which" in words(silent.stderr)
