"""Where a reranker is found; from this user's own configuration only."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class RerankerAddress(Struct, frozen=True):
    """An HTTP reranker: its address, the model to name there, a file that holds its key, and seconds to wait."""

    url: str
    model: str = ""
    key_file: Path | None = None
    timeout_s: float = 2.0


class RerankerFolder(Struct, frozen=True):
    """A reranker on this machine: the folder with its model."""

    path: Path
