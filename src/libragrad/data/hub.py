"""Fetch a data set's Parquet files from the hub, once; afterwards they are found on disk."""

from __future__ import annotations

from pathlib import Path

from libragrad.errors import DataError
from libragrad.models.network import online


def fetch(repository: str, split: str) -> Path:
    """The folder with the shards of `split` of a data set on the hub, fetched where they lack."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
    except ImportError as error:
        raise DataError(
            "data sets are fetched with huggingface_hub: pip install huggingface_hub, or give the "
            "folder that you have"
        ) from error
    instead = "give the folder of a copy, or use builtin:mosaic, which needs no network"
    try:
        with online(f"the files of {repository}", instead, DataError):
            return Path(
                snapshot_download(
                    repository,
                    repo_type="dataset",
                    allow_patterns=[f"{split}-*.parquet", f"data/{split}-*.parquet"],
                )
            )
    except GatedRepoError as error:
        raise DataError(
            f"{repository} is given only to those who accepted its terms: accept them at "
            f"https://huggingface.co/datasets/{repository}, then run `hf auth login`"
        ) from error
    except RepositoryNotFoundError as error:
        raise DataError(f"the hub has no data set {repository}: check its name") from error
