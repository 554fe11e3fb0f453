"""The files of an embedding model: whether they are there, which model they are, how wide its vectors are.

Read without numpy, so that a command that embeds nothing can still tell whether the vectors of the index fit.
"""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

MODEL_FILES: Final = ("model.safetensors", "tokenizer.json", "config.json")
_MOST_HEADER: Final = 1_000_000
"""Bytes; the header of a model of two tensors has some 200."""


class ModelFiles(Struct, frozen=True):
    """A model in a folder. `reason` says in words why it cannot be used; empty where it can."""

    folder: Path
    reason: str = ""
    digest: str = ""
    dimensions: int = 0

    @classmethod
    def read(cls, folder: Path) -> ModelFiles:
        """Look at the files: 5 ms for the digest of the model that ships with wikimem."""
        if reason := missing_files(folder):
            return cls(folder, reason)
        try:
            return cls(folder, "", model_digest(folder), model_dimensions(folder))
        except (OSError, ValueError) as error:
            return cls(folder, f"the embedding model in '{folder}' cannot be read: {error}")

    @property
    def name(self) -> str:
        """The heading of the model's card, else the name of its folder."""
        try:
            with (self.folder / "README.md").open(encoding="utf-8") as card:
                headings = (line[2:].strip() for line in card if line.startswith("# "))
                return next(headings, self.folder.name)
        except (OSError, UnicodeDecodeError):
            return self.folder.name


def missing_files(folder: Path) -> str:
    """Why there is no model in `folder`, in words; empty where there is one."""
    try:
        lacking = [name for name in MODEL_FILES if not (folder / name).is_file()]
    except OSError as error:  # a closed folder, a name that is too long
        return f"the embedding model in '{folder}' cannot be read: {error.strerror}"
    return f"the embedding model lacks {', '.join(lacking)} in '{folder}'" if lacking else ""


def model_digest(folder: Path) -> str:
    """Which model this is: a digest of its files. Vectors of another one are not comparable."""
    digest = sha256()
    for name in MODEL_FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:32]


def model_dimensions(folder: Path) -> int:
    """The width of the model's vectors. Raises ValueError where the file is no safetensors file with embeddings."""
    with (folder / "model.safetensors").open("rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise ValueError("the file is cut short")
        (length,) = struct.unpack("<Q", start)
        if length > _MOST_HEADER:
            raise ValueError("its header is too long")
        header = json.loads(file.read(length))
    try:
        return int(header["embeddings"]["shape"][1])
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError("it has no embeddings") from error
