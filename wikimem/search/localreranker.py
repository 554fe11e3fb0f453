"""A reranker on this machine: a model in a folder, named by this user's own configuration.

    model.onnx and tokenizer.json         a transformer, run by onnxruntime (extra `reranker`). One number for a pair of
                                          texts makes it a cross-encoder: that number is the score. Otherwise it gives
                                          vectors, of a text or of each of its pieces, which are averaged: the score
                                          is their cosine. The file may lie in a folder `onnx`, as on model hubs.
    model.safetensors, tokenizer.json,    a static embedding model of model2vec's format: the score is the cosine.
    config.json

A folder that holds neither, a model that does not run and scores that are no numbers are told, and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from wikimem.errors import Unavailable
from wikimem.index.modelfiles import MODEL_FILES, missing_files
from wikimem.model.reranker import RerankerFolder
from wikimem.search.reranker import RerankError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_TOKENS: Final = 512
"""Pieces of a question with its passage that are read: what the common cross-encoders were trained on."""
ONNX_FILES: Final = ("model.onnx", "onnx/model.onnx")
_INSTALL: Final = "it needs onnxruntime: install `wikimem[reranker]`"

Scores = Callable[[str, Sequence[str]], "NDArray[np.float32]"]


class LocalReranker(Struct, frozen=True):
    """The reranker in a folder."""

    folder: RerankerFolder

    def order(self, query: str, documents: Sequence[str]) -> list[int]:
        """Places of `documents`, best first; equal ones as they came. Raises RerankError where the model cannot say."""
        import numpy as np

        try:
            model = _model_in(self.folder.path, _stamps(self.folder.path))
        except OSError as error:  # a closed folder, a name that is too long
            raise RerankError(f"'{self.folder.path}' cannot be read: {error.strerror}") from error
        scores = model(_encodable(query), [_encodable(each) for each in documents])
        if scores.shape != (len(documents),) or not np.isfinite(scores).all():
            raise RerankError(f"the model in '{self.folder.path}' gave scores that are no numbers")
        return [int(place) for place in np.argsort(-scores, kind="stable")]


def why_no_model(folder: Path) -> str:
    """Why there is no model to order hits by in `folder`, in words; empty where its files are there."""
    try:
        if any((folder / name).is_file() for name in ONNX_FILES):
            return "" if (folder / "tokenizer.json").is_file() else f"there is no tokenizer.json in '{folder}'"
    except OSError as error:
        return f"'{folder}' cannot be read: {error.strerror}"
    reason = missing_files(folder)
    return f"{reason}, and there is no {ONNX_FILES[0]}" if reason else ""


def _stamps(folder: Path) -> tuple[int, ...]:
    """What differs when somebody puts another model there."""
    files = [folder / name for name in (*ONNX_FILES, *MODEL_FILES)]
    return tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


@lru_cache(maxsize=1)
def _model_in(folder: Path, _stamps: tuple[int, ...]) -> Scores:
    """The model, loaded once in a process."""
    for name in ONNX_FILES:
        if (folder / name).is_file():
            return _transformer(folder / name, folder / "tokenizer.json")
    return _static(folder)


def _static(folder: Path) -> Scores:
    from wikimem.index.embedder import Embedder

    if reason := why_no_model(folder):
        raise RerankError(reason)
    try:
        embedder = Embedder(folder)
    except Unavailable as error:
        raise RerankError(error.message) from error

    def scores(query: str, documents: Sequence[str]) -> NDArray[np.float32]:
        return _cosines(embedder.encode([query, *documents]))

    return scores


def _transformer(file: Path, tokens: Path) -> Scores:
    try:
        runtime: Any = import_module("onnxruntime")
    except ImportError as error:
        raise RerankError(_INSTALL) from error
    try:
        session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        encode = _tokenizer(tokens)
    except Exception as error:  # onnxruntime and tokenizers raise nothing narrower
        raise RerankError(f"the model in '{file.parent}' cannot be read: {_first_line(error)}") from error
    inputs = {each.name for each in session.get_inputs()}
    result = session.get_outputs()[0]

    def run(texts: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        encoded = {name: values for name, values in encode(texts).items() if name in inputs or name == _MASK}
        given = {name: values for name, values in encoded.items() if name in inputs}
        try:
            return session.run([result.name], given)[0], encoded[_MASK]
        except Exception as error:  # as above
            raise RerankError(f"the model in '{file.parent}' does not run: {_first_line(error)}") from error

    def pair_scores(query: str, documents: Sequence[str]) -> NDArray[np.float32]:
        answer, _ = run([(query, document) for document in documents])
        return answer.reshape(-1)

    def cosines(query: str, documents: Sequence[str]) -> NDArray[np.float32]:
        return _cosines(_sentence_vectors(*run([query, *documents])))

    # A batch of single numbers is what a cross-encoder gives; anything wider is vectors.
    single = len(result.shape) == 1 or (len(result.shape) == 2 and result.shape[1] == 1)
    return pair_scores if single else cosines


_MASK: Final = "attention_mask"


def _tokenizer(file: Path) -> Callable[[Sequence[Any]], dict[str, NDArray[np.int64]]]:
    """Texts, or pairs of texts, as the arrays that transformers take: each of shape (texts, pieces of the longest)."""
    import numpy as np
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(file.read_text(encoding="utf-8"))
    tokenizer.enable_truncation(LONGEST_TOKENS)
    tokenizer.enable_padding()

    def encode(texts: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        encoded = tokenizer.encode_batch(texts)
        return {
            "input_ids": np.array([each.ids for each in encoded], dtype=np.int64),
            _MASK: np.array([each.attention_mask for each in encoded], dtype=np.int64),
            "token_type_ids": np.array([each.type_ids for each in encoded], dtype=np.int64),
        }

    return encode


def _sentence_vectors(answer: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """One vector for each text: the mean over its pieces, where the model gives one for each piece."""
    import numpy as np

    if answer.ndim < 3:
        return answer
    weights = mask[:, :, None].astype(np.float32)
    means: NDArray[np.float32] = (answer * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    return means


def _cosines(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of the first vector with each of the others."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines: NDArray[np.float32] = (vectors[1:] @ vectors[0]) / (lengths[1:] * lengths[0])
    # A text without a known piece is like nothing.
    return np.where(lengths[1:] * lengths[0] > 0, cosines, np.float32(0))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]


def _encodable(text: str) -> str:
    # The tokenizer takes only text that can be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")
