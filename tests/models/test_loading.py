"""Any model by its name: the sources, their preprocessing and labels, and what can go wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from libragrad.data import load_dataset
from libragrad.errors import ModelError
from libragrad.models import loading, mosaic, safetensors
from libragrad.models.loading import DEFAULT, SOURCES, available
from libragrad.models.torchvision_cpu import declare_missing_operators

declare_missing_operators()
timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")
open_clip = pytest.importorskip("open_clip")
transformers = pytest.importorskip("transformers")

ASSETS = Path(__file__).parents[3] / "shared" / "assets"
VIT_TINY = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)).resize(
    (300, 200)
)


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No network, and nothing fetched before."""
    for name in ("network", "from_torchvision"):
        monkeypatch.setattr(f"libragrad.models.{name}.has_network", lambda host=None: False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path))


def load(*given, **options) -> Any:
    """Without types: whether a model has labels or a tokenizer depends on its name."""
    return loading.load(*given, **options)


def saved(model, path):
    safetensors.write(path, model.state_dict())
    return path


def same(a, b):
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def logits(loaded, picture=PICTURE):
    with torch.no_grad():
        return loaded.model(loaded.preprocess(picture)[None])


@pytest.mark.parametrize("name", ["test_vit", "timm:test_vit", "test_vit.r160_in1k"])
def test_a_timm_model_from_a_file(tmp_path, name):
    own = timm.create_model("test_vit").eval()
    loaded = load(name, saved(own, tmp_path / "w.safetensors"))
    assert same(loaded.model, own)
    assert not loaded.model.training
    assert loaded.manifest.name == f"timm:{name.removeprefix('timm:')}"
    assert (loaded.manifest.version, loaded.manifest.weights) == (timm.__version__, "w.safetensors")
    config = timm.data.resolve_model_data_config(own)
    expected = timm.data.create_transform(**config, is_training=False)(PICTURE)
    assert torch.equal(loaded.preprocess(PICTURE), expected)
    assert len(loaded.labels) == 1000
    assert loaded.labels[340] == "zebra"
    assert loaded.tokenizer is None


def test_a_fine_tuned_timm_model_has_its_own_number_of_classes(tmp_path):
    own = timm.create_model("test_vit", num_classes=3).eval()
    loaded = load("test_vit", saved(own, tmp_path / "w.safetensors"))
    assert same(loaded.model, own)
    assert loaded.labels is None
    assert logits(loaded).shape == (1, 3)


def test_weights_of_another_model_are_refused(tmp_path):
    path = saved(timm.create_model("test_vit2"), tmp_path / "w.safetensors")
    with pytest.raises(ModelError, match=r"w\.safetensors does not fit test_vit: .*unexpected"):
        load("test_vit", path)


def test_a_pickle_needs_leave(tmp_path):
    own = timm.create_model("test_vit")
    torch.save(own, tmp_path / "w.pth")
    with pytest.raises(ModelError, match="can run any code"):
        load("test_vit", tmp_path / "w.pth")
    assert same(load("test_vit", tmp_path / "w.pth", allow_pickle=True).model, own)


def test_loading_leaves_the_callers_random_numbers(tmp_path):
    path = saved(timm.create_model("test_vit"), tmp_path / "w.safetensors")
    before = torch.get_rng_state()
    load("test_vit", path)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_digest_is_of_the_weights_alone(tmp_path):
    first, second = timm.create_model("test_vit"), timm.create_model("test_vit")
    a = load("test_vit", saved(first, tmp_path / "a"))
    again = load("timm:test_vit", saved(first, tmp_path / "b"))
    other = load("test_vit", saved(second, tmp_path / "c"))
    assert a.digest == again.digest != other.digest
    assert len(a.digest) == 64


def test_a_torchvision_model_from_a_file(tmp_path):
    own = torchvision.models.squeezenet1_1().eval()
    loaded = load("tv:squeezenet1_1", saved(own, tmp_path / "w.safetensors"))
    assert same(loaded.model, own)
    published = torchvision.models.SqueezeNet1_1_Weights.DEFAULT
    assert torch.equal(loaded.preprocess(PICTURE), published.transforms()(PICTURE))
    assert loaded.labels == tuple(published.meta["categories"])
    assert loaded.manifest.library == "torchvision"
    assert logits(loaded).shape == (1, 1000)


@pytest.fixture
def tiny_clip(tmp_path, monkeypatch):
    """A tiny open_clip architecture by the name `tiny`."""
    config = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
        "text_cfg": {
            "context_length": 77,
            "vocab_size": 49408,
            "width": 16,
            "heads": 1,
            "layers": 1,
        },
    }
    configs = open_clip.factory._MODEL_CONFIGS
    monkeypatch.setattr(open_clip.factory, "_MODEL_CONFIGS", {**configs, "tiny": config})
    return open_clip.create_model("tiny", pretrained=None)


def test_an_open_clip_model_from_a_file(tmp_path, tiny_clip):
    loaded = load("openclip:tiny", saved(tiny_clip, tmp_path / "w.safetensors"))
    assert same(loaded.model, tiny_clip)
    assert loaded.labels is None
    assert loaded.preprocess(PICTURE).shape == (3, 32, 32)
    assert loaded.preprocess.mean == pytest.approx(open_clip.OPENAI_DATASET_MEAN)
    tokens = loaded.tokenizer(["a spoon", "a zebra"])
    with torch.no_grad():
        picture = loaded.model.encode_image(loaded.preprocess(PICTURE)[None])
        assert loaded.model.encode_text(tokens).shape == (2, 16)
    assert picture.shape == (1, 16)
    with pytest.raises(ModelError, match="open_clip has no weights for tiny: give weights=FILE"):
        load("openclip:tiny")


@pytest.fixture
def hf_vit(tmp_path):
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
        num_labels=3,
        id2label={0: "cat", 1: "dog", 2: "spoon"},
        label2id={"cat": 0, "dog": 1, "spoon": 2},
    )
    model = transformers.ViTForImageClassification(config).eval()
    folder = tmp_path / "vit"
    model.save_pretrained(folder)
    process = transformers.ViTImageProcessor(size={"height": 32, "width": 32})
    process.save_pretrained(folder)
    return folder, model, process


def test_a_transformers_model_from_a_folder(hf_vit):
    folder, own, process = hf_vit
    loaded = load(f"hf:{folder}")
    assert same(loaded.model, own)
    assert type(loaded.model) is type(own)
    assert loaded.labels == ("cat", "dog", "spoon")
    assert loaded.tokenizer is None
    expected = process(PICTURE, return_tensors="pt")["pixel_values"][0]
    assert torch.equal(loaded.preprocess(PICTURE), expected)
    assert loaded.preprocess.mean == (0.5, 0.5, 0.5)
    regions = np.zeros((200, 300), np.int32)
    regions[:, 150:] = 999
    seen = loaded.preprocess.mask(regions)
    assert (seen[:, :16] == 0).all()
    assert (seen[:, 16:] == 999).all()


def test_a_transformers_model_with_the_weights_of_a_file(hf_vit, tmp_path):
    folder, own, _ = hf_vit
    with torch.no_grad():
        own.classifier.bias.fill_(7)
    loaded = load(f"hf:{folder}", saved(own, tmp_path / "w.safetensors"))
    assert same(loaded.model, own)
    assert loaded.manifest.weights == "w.safetensors"
    assert same(load(f"hf:{folder}", str(tmp_path / "w.safetensors")).model, own)


def test_a_transformers_model_of_text_has_a_tokenizer(tmp_path):
    words = {"<unk>": 0, "a": 1, "spoon": 2}
    tokenizers = pytest.importorskip("tokenizers")
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>")
    config = transformers.GPT2Config(vocab_size=3, n_embd=8, n_layer=1, n_head=1, n_positions=8)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    fast.save_pretrained(tmp_path)
    loaded = load(f"hf:{tmp_path}")
    assert loaded.preprocess is None
    assert loaded.labels is None
    assert loaded.tokenizer("a spoon")["input_ids"] == [1, 2]


def test_a_class_that_transformers_lacks_is_named(hf_vit):
    folder, _, _ = hf_vit
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["NoSuchModel"]}))
    with pytest.raises(ModelError, match="has no class NoSuchModel"):
        load(f"hf:{folder}")


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=f"transformers cannot load '{tmp_path}': "):
        load(f"hf:{tmp_path}")


def test_the_built_in_model(tmp_path):
    own = mosaic.MosaicViT().eval()
    loaded = load("builtin:mosaic", saved(own, tmp_path / "w.safetensors"))
    assert same(loaded.model, own)
    assert loaded.labels == mosaic.LABELS
    data = mosaic.mosaic_images()
    pictures = torch.stack([loaded.preprocess(Image.fromarray(i)) for i in data.images[:3]])
    assert torch.equal(pictures, mosaic.preprocess(data.images[:3]))
    assert loaded.preprocess(PICTURE).shape == (3, 64, 64)


@pytest.mark.parametrize(
    "name",
    [DEFAULT, "tv:resnet18", "openclip:ViT-B-32", "openclip:ViT-B-32:openai", "hf:some/model"],
)
@pytest.mark.usefixtures("offline")
def test_without_network_one_sentence_says_what_to_do(name, capfd):
    with pytest.raises(ModelError) as error:
        load(name)
    what = "files" if name.startswith("hf:") else "weights"
    assert str(error.value) == (
        f"the {what} of {name} are not on this machine, and the network cannot be reached: "
        "give weights=FILE, or use builtin:mosaic, which needs no network"
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("vit_base_patch16_22", "did you mean 'vit_base_patch16_224' or "),
        ("timm:vit_base_patch16_22", "did you mean 'timm:vit_base_patch16_224' or "),
        ("mosaic", "did you mean 'builtin:mosaic'?"),
        ("builtin:mosaics", "did you mean 'builtin:mosaic'?"),
        ("tv:resnet1", "did you mean 'tv:resnet18' or "),
        ("openclip:ViT-B-3", "did you mean 'openclip:ViT-B-32' or "),
        ("open_clip:ViT-B-32", "did you mean 'openclip:ViT-B-32'?"),
        ("vit_base_patch16_224.augreg_in2k", "or 'vit_base_patch16_224.augreg_in1k'"),
        ("qqqqqq", "`libragrad models` lists those of timm"),
        ("xyz:resnet18", "there are builtin, timm, tv, openclip, hf"),
    ],
)
def test_an_unknown_name_gives_the_nearest(wrong, hint):
    with pytest.raises(ModelError) as error:
        load(wrong)
    assert str(error.value).startswith(f"no model {wrong!r}")
    assert hint in str(error.value)


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("libragrad.models.loading.find_spec", lambda package: None)
    message = r"tv:resnet18 is a model of torchvision, which is not installed: pip install 'libra"
    with pytest.raises(ModelError, match=message):
        load("tv:resnet18")
    assert list(available()) == []


def test_the_list_of_names():
    names = list(available())
    assert len(names) == len(set(names))
    assert names[0] == "builtin:mosaic"
    assert {DEFAULT, VIT_TINY, "tv:vit_b_16", "openclip:ViT-B-32", "openclip:ViT-B-32:openai"} <= {
        *names
    }
    assert not any(name.startswith("hf:") for name in names)
    assert list(SOURCES) == ["builtin", "timm", "tv", "openclip", "hf"]


@pytest.mark.skipif(not ASSETS.is_dir(), reason="needs the shared weights and pictures")
def test_the_real_vit_tiny_sees_what_is_there():
    loaded = load(VIT_TINY, ASSETS / f"{VIT_TINY}.safetensors")
    assert loaded.preprocess.mean == (0.5, 0.5, 0.5)
    photographs = load_dataset("tsv", ASSETS / "imagenet_val_1000")
    for record in photographs[8:14]:  # six birds, all told apart
        assert logits(loaded, record.picture()).argmax().item() == record.labels[0]
    zebra = Image.open(ASSETS / "two_animals" / "el4.png")
    assert loaded.labels[logits(loaded, zebra).argmax()] == "zebra"


@pytest.mark.slow
@pytest.mark.skipif(not ASSETS.is_dir(), reason="needs the shared weights and pictures")
def test_the_real_vit_tiny_has_its_measured_accuracy():
    """On one validation picture a class: 74.0 % first, 92.3 % among the first five."""
    loaded = load(VIT_TINY, ASSETS / f"{VIT_TINY}.safetensors")
    photographs = load_dataset("tsv", ASSETS / "imagenet_val_1000")
    first = five = 0
    for start in range(0, 1000, 50):
        records = photographs[start : start + 50]
        pictures = torch.stack([loaded.preprocess(record.picture()) for record in records])
        truth = torch.tensor([record.labels[0] for record in records])
        with torch.no_grad():
            best = loaded.model(pictures).topk(5).indices
        first += int((best[:, 0] == truth).sum())
        five += int((best == truth[:, None]).sum())
    # Another machine's rounding may turn a picture or two.
    assert (first, five) == pytest.approx((740, 923), abs=2)
