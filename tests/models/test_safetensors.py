"""The small reader and writer agree with the safetensors package, and refuse what is broken."""

import pytest
import torch

from libragrad.models import safetensors

TENSORS = {
    "weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 7,
    "half": torch.linspace(-1, 1, 5, dtype=torch.float16),
    "brain": torch.linspace(-1, 1, 3, dtype=torch.bfloat16),
    "steps": torch.tensor(7),
    "mask": torch.tensor([True, False, True]),
    "bytes": torch.arange(3, dtype=torch.uint8),
    "nothing": torch.empty(0, 4),
    "transposed": torch.arange(6.0, dtype=torch.float64).reshape(2, 3).T,
}


def same(a, b):
    return a.keys() == b.keys() and all(
        a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and torch.equal(a[k], b[k]) for k in a
    )


def test_what_is_written_is_read(tmp_path):
    safetensors.write(tmp_path / "t.safetensors", TENSORS)
    assert same(safetensors.read(tmp_path / "t.safetensors"), TENSORS)


def test_the_package_reads_what_is_written_here(tmp_path):
    torch_format = pytest.importorskip("safetensors.torch")
    safetensors.write(tmp_path / "t.safetensors", TENSORS)
    assert same(torch_format.load_file(tmp_path / "t.safetensors"), TENSORS)


def test_what_the_package_writes_is_read_here(tmp_path):
    torch_format = pytest.importorskip("safetensors.torch")
    contiguous = {name: tensor.contiguous() for name, tensor in TENSORS.items()}
    torch_format.save_file(contiguous, tmp_path / "t.safetensors", metadata={"format": "pt"})
    assert same(safetensors.read(tmp_path / "t.safetensors"), TENSORS)


def test_the_same_tensors_give_the_same_bytes(tmp_path):
    safetensors.write(tmp_path / "a", TENSORS)
    safetensors.write(tmp_path / "b", dict(reversed(TENSORS.items())))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_read_tensor_owns_its_memory(tmp_path):
    safetensors.write(tmp_path / "t", TENSORS)
    first, second = safetensors.read(tmp_path / "t"), safetensors.read(tmp_path / "t")
    first["weight"].zero_()
    assert torch.equal(second["weight"], TENSORS["weight"])


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    text = f'{{"a":{{"dtype":"{dtype}","shape":{list(shape)},"data_offsets":{list(offsets)}}}}}'
    return len(text).to_bytes(8, "little") + text.encode() + b"\0" * 4


BROKEN = {
    "empty": b"",
    "no JSON": (4).to_bytes(8, "little") + b"zzzz",
    "not UTF-8": (4).to_bytes(8, "little") + b"\xff\xfe\xfd\xfc",
    "a list": (2).to_bytes(8, "little") + b"[]",
    "no entry": (7).to_bytes(8, "little") + b'{"a":1}',
    "absurd length": b"\xff" * 8 + b"{}",
    "cut short": entry()[:-1],
    "unknown type": entry(dtype="F7"),
    "wrong size": entry(shape=(2,)),
    "negative shape": entry(shape=(-1, -1)),
    "negative offset": entry(offsets=(-4, 0)),
    "text for a shape": entry().replace(b"[1]", b'"1"'),
    "a zip": b"PK\x03\x04" + b"\0" * 64,
}


def test_the_entry_that_the_broken_ones_vary_is_sound(tmp_path):
    (tmp_path / "t").write_bytes(entry())
    assert safetensors.read(tmp_path / "t")["a"].tolist() == [0.0]


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_refused_by_name(tmp_path, raw):
    path = tmp_path / "broken.safetensors"
    path.write_bytes(raw)
    with pytest.raises(
        ValueError, match=r"broken\.safetensors is no complete safetensors file .*: get it again\."
    ):
        safetensors.read(path)


def test_any_cut_is_refused(tmp_path):
    safetensors.write(tmp_path / "whole", TENSORS)
    whole = (tmp_path / "whole").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="no complete safetensors file"):
            safetensors.read(tmp_path / "cut")


def test_a_type_that_the_format_lacks_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'z' is torch\.complex64, which is none of F64, F32"):
        safetensors.write(tmp_path / "t", {"z": torch.zeros(1, dtype=torch.complex64)})
    assert not (tmp_path / "t").exists()
