"""Where a reranker is reached; from this user's own configuration only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RerankerAddress:
    """An HTTP reranker: its address, the model to name there, a file that holds its key, and seconds to wait."""

    url: str
    model: str = ""
    key_file: Path | None = None
    timeout_s: float = 2.0
