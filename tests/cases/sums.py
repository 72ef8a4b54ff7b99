"""Linear maps that add entries up: sums, means, pooling, resampling, Fourier transforms."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.cases.shorthand import CUBE, IMAGE, methods, mixed, own, real
from tests.checks import Case

VOLUME = (1, 2, 4, 5, 6)
WAVE = (2, 12)
WINDOW = torch.hann_window(4, dtype=torch.float64)


def fourier(name: str, shape: tuple[int, ...] = (3, 6)) -> Case:
    """A Fourier transform to complex numbers."""
    return own(f"fft_{name}", lambda x: real(getattr(torch.fft, name)(x)), shape)


def inverse(name: str) -> Case:
    """A Fourier transform of complex numbers to real ones."""
    return own(f"fft_{name}", lambda x: getattr(torch.fft, name)(mixed(x)), (4, 6))


def spectrum(x: Tensor) -> Tensor:
    return torch.stft(x, 4, window=WINDOW, return_complex=True)


def resampled(name: str, shape: tuple[int, ...], *size: int, corners: bool | None = None) -> Case:
    """An operator aten::upsample_* as torch._C._nn offers it."""
    more = () if corners is None else (corners,)
    return own(name, lambda x: getattr(torch._C._nn, name)(x, size, *more), shape)


SUMS = [
    *methods("sum mean nansum nanmean", 1),
    own("sum", lambda x: x.sum(), note="of all"),
    own("mean", lambda x: torch.mean(x, dim=(0, 1), keepdim=True), note="keywords"),
    own("mean", lambda x: x.mean(axis=1), note="axis"),
    *methods("cumsum", 1),
    own("cumsum", lambda x: x.clone().cumsum_(0), note="in place"),
    *methods("trace neg negative positive"),
    own("neg", lambda x: -x, note="operator"),
    own("neg", lambda x: x.clone().neg_(), note="in place"),
    own("diff", lambda x: x.diff(dim=1)),
]

DROPOUTS = [
    own("dropout", lambda x: F.dropout(x, 0.5, training=False)),
    own("dropout1d", lambda x: F.dropout1d(x, 0.5, training=False)),
    own("dropout2d", lambda x: F.dropout2d(x, 0.5, training=False), IMAGE),
    own("dropout3d", lambda x: F.dropout3d(x, 0.5, training=False), VOLUME),
    own("alpha_dropout", lambda x: F.alpha_dropout(x, 0.5, training=False)),
    own("feature_dropout", lambda x: torch.feature_dropout(x, 0.5, False)),
    own("feature_alpha_dropout", lambda x: F.feature_alpha_dropout(x, 0.5, training=False)),
    own("native_dropout", lambda x: torch.native_dropout(x, 0.5, False)),
]

POOLS = [
    own("avg_pool1d", lambda x: F.avg_pool1d(x, 2), CUBE),
    own("avg_pool2d", lambda x: F.avg_pool2d(x, 2, padding=1), IMAGE),
    own("avg_pool3d", lambda x: F.avg_pool3d(x, 2), VOLUME),
    own("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 3), CUBE),
    own("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), IMAGE),
    own("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, 2), VOLUME),
]

RESAMPLINGS = [
    own("interpolate", lambda x: F.interpolate(x, scale_factor=2), IMAGE),
    own("interpolate", lambda x: F.interpolate(x, (9, 7), mode="bicubic"), IMAGE, note="bicubic"),
    own(
        "interpolate",
        lambda x: F.interpolate(x, (3, 3), mode="bilinear", antialias=True),
        IMAGE,
        note="antialias",
    ),
    resampled("upsample_nearest1d", CUBE, 7),
    resampled("upsample_nearest2d", IMAGE, 7, 8),
    resampled("upsample_nearest3d", VOLUME, 5, 6, 7),
    resampled("_upsample_nearest_exact1d", CUBE, 7),
    resampled("_upsample_nearest_exact2d", IMAGE, 7, 8),
    resampled("upsample_linear1d", CUBE, 7, corners=False),
    resampled("upsample_bilinear2d", IMAGE, 7, 8, corners=True),
    resampled("upsample_bicubic2d", IMAGE, 7, 8, corners=False),
    resampled("upsample_trilinear3d", VOLUME, 5, 6, 7, corners=False),
    resampled("_upsample_bilinear2d_aa", IMAGE, 3, 3, corners=False),
    resampled("_upsample_bicubic2d_aa", IMAGE, 3, 3, corners=False),
]

TRANSFORMS = [
    *[fourier(name) for name in "fft ifft rfft fft2 ifft2 rfft2 fftn ifftn rfftn ihfft".split()],
    *[inverse(name) for name in "irfft irfft2 irfftn hfft".split()],
    own("fft_fftshift", torch.fft.fftshift),
    own("fft_ifftshift", torch.fft.ifftshift),
    own("stft", lambda x: real(spectrum(x)), WAVE),
    own("istft", lambda x: torch.istft(spectrum(x), 4, window=WINDOW), WAVE),
]

CASES = [*SUMS, *DROPOUTS, *POOLS, *RESAMPLINGS, *TRANSFORMS]
