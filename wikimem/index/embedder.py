"""The static embedding model: a row for every word piece, and how a text becomes one vector.

The vector of a text is the sum over its distinct pieces of sqrt(count) * weight * row, normalised, as the model's card
says: with raw counts, as `model2vec` encodes, it finds less. The format is model2vec's; it is read with numpy,
tokenizers and safetensors, which takes 35 ms where importing `model2vec` takes 270.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from wikimem.errors import Unavailable
from wikimem.index.modelfiles import missing_files
from wikimem.text.analysis import is_stop_word, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HINT: Final = "Install wikimem again: the model ships with it. Words and links still work."
_BATCH: Final = 512
_TELLING: Final = 0.5
"""The weight of a word that says as much as a word can. The shipped model has 0.12 for `use`, 0.63 for `shoes`."""
_LEAST_KNOWN: Final = 0.5
"""The share of a question's letters that must belong to alphabets that the model was trained on."""
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LETTER: Final = re.compile(r"[^\W\d_]")


class Embedder:
    """Turns texts into vectors of unit length; a text without a known piece into zeros."""

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises Unavailable, naming the file, where it cannot be read."""
        if reason := missing_files(folder):
            raise Unavailable(
                reason, hint="Install wikimem again: the model ships with it. Words and links still work."
            )
        try:
            tensors = load_file(folder / "model.safetensors")
            tokenizer = _read_tokenizer(folder / "tokenizer.json")
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise Unavailable(
                f"the embedding model in '{folder}' cannot be read: {error}",
                hint=_HINT,
            ) from error
        self._rows = tensors["embeddings"]
        self._weights = tensors.get("weights")
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(int(config.get("max_length") or 512))
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        self._means = np.full(len(self._rows), -1, dtype=np.int8)
        self._stem_of = np.full(len(self._rows), -1, dtype=np.int64)
        self._stem_numbers: dict[str, int] = {}

    @property
    def dimensions(self) -> int:
        return int(self._rows.shape[1])

    def rows(self, pieces: NDArray[np.int64]) -> NDArray[np.float32]:
        """The weighted row of each piece. The model's numbers are made into floats only for those that are needed."""
        rows = self._rows[pieces].astype(np.float32)
        return rows if self._weights is None else rows * self._weights[pieces].astype(np.float32)[:, None]

    def pieces(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """The pieces of each text in order: those that mean something, without stop words and punctuation."""
        found = []
        for start in range(0, len(texts), _BATCH):
            batch = [_encodable(text) for text in texts[start : start + _BATCH]]
            for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                pieces = np.array(encoding.ids, dtype=np.int64)
                found.append(pieces[self._mean_something(pieces)])
        return found

    def _mean_something(self, pieces: NDArray[np.int64]) -> NDArray[np.bool_]:
        for piece in set(pieces[self._means[pieces] < 0].tolist()):
            token = str(self._tokenizer.id_to_token(piece))
            means = piece != self._unknown and any(map(str.isalnum, token)) and not is_stop_word(token.lower())
            self._means[piece] = means
        return self._means[pieces] > 0

    def stem_numbers(self, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for the stem of each piece: equal numbers are forms of one word."""
        for piece in sorted(set(pieces[self._stem_of[pieces] < 0].tolist())):
            form = stem(str(self._tokenizer.id_to_token(piece)).lower())
            self._stem_of[piece] = self._stem_numbers.setdefault(form, len(self._stem_numbers))
        return self._stem_of[pieces]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [_encodable(text) for text in texts[start : start + _BATCH]]
            for offset, encoding in enumerate(self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)):
                pieces, counts = np.unique(np.array(encoding.ids, dtype=np.int64), return_counts=True)
                known = pieces != self._unknown
                weights = np.sqrt(counts[known], dtype=np.float32)
                vector = weights @ self.rows(pieces[known])
                length = float(np.linalg.norm(vector))
                if length > 0:
                    vectors[start + offset] = vector / length
        return vectors

    def telling(self, words: Sequence[str]) -> list[float]:
        """How much each word says in English at large (0 to 1), by the weight that the model gives it; 1 where the
        model has no weights, or not the whole word: a name or an identifier says much."""
        if self._weights is None or not words:
            return [1.0] * len(words)
        encoded = self._tokenizer.encode_batch_fast([_encodable(word) for word in words], add_special_tokens=False)
        return [
            min(float(self._weights[each.ids[0]]) / _TELLING, 1.0)
            if len(each.ids) == 1 and each.ids[0] != self._unknown
            else 1.0
            for each in encoded
        ]

    def word_share(self, words: Sequence[str]) -> float:
        """The share (0 to 1) of these words that the model has whole: names of things, not letters thrown together."""
        if not words:
            return 0.0
        encoded = self._tokenizer.encode_batch_fast([_encodable(word) for word in words], add_special_tokens=False)
        return sum(len(each.ids) == 1 and each.ids[0] != self._unknown for each in encoded) / len(words)


def _read_tokenizer(file: Path) -> Tokenizer:
    description = file.read_text(encoding="utf-8")
    try:
        return Tokenizer.from_str(description)
    except Exception as error:  # the tokenizer's own reader raises nothing narrower
        raise ValueError(f"{file.name}: {error}") from error


def left_out(text: str) -> str:
    """Why a question cannot be answered by meaning, in words; empty where it can.

    The model knows English. A question mostly in other alphabets would be ranked by its few Latin words alone.
    """
    letters = len(_LETTER.findall(text))
    if letters and len(_LATIN.findall(text)) >= _LEAST_KNOWN * letters:
        return ""
    return "query language not covered by the model" if letters else "nothing in the query that the model knows"


def _encodable(text: str) -> str:
    # Lone surrogates come from bytes that are not UTF-8; the tokenizer takes only text that can be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")
