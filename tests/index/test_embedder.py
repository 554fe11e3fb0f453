"""The embedding model: the encoding that its card describes, and what happens without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from wikimem.errors import Unavailable
from wikimem.index.embedder import Embedder, left_out
from wikimem.index.index import SHIPPED_MODEL
from wikimem.index.modelfiles import ModelFiles

SENTENCES = [
    "JWTs are verified with jose in the edge runtime",
    "def parse_token(value): return decode(value)",
    "Café naïve résumé",
    "rate limit exceeded: retry after sixty seconds",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(SHIPPED_MODEL)


def test_texts_without_repetition_are_encoded_as_model2vec_does(embedder: Embedder) -> None:
    model2vec = pytest.importorskip("model2vec")
    reference = model2vec.StaticModel.from_pretrained(str(SHIPPED_MODEL))
    single = []
    for text in SENTENCES:
        pieces = reference.tokenize([text])[0]
        single.append(reference.tokenizer.decode(list(dict.fromkeys(pieces))))
    single = [text for text in single if len(set(ids := reference.tokenize([text])[0])) == len(ids)]
    assert len(single) >= 3
    np.testing.assert_allclose(embedder.encode(single), reference.encode(single), atol=2e-3)


def test_a_repeated_word_counts_by_its_root(embedder: Embedder) -> None:
    once, other = embedder.encode(["red"])[0], embedder.encode(["blue"])[0]
    weights = np.linalg.lstsq(np.stack([once, other]).T, embedder.encode(["red red red red blue"])[0], rcond=None)[0]
    plain = np.linalg.lstsq(np.stack([once, other]).T, embedder.encode(["red blue"])[0], rcond=None)[0]
    assert (weights[0] / weights[1]) / (plain[0] / plain[1]) == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("text", ["", "   ", "\ud800", "\x00"])
def test_a_text_of_nothing_is_zeros(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.encode([text])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(0.0) or text.strip("\x00 ")


def test_vectors_have_unit_length_and_mean_something(embedder: Embedder) -> None:
    vectors = embedder.encode(["the database is slow", "queries against Postgres take long", "a recipe for soup"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0, 1.0], abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


@pytest.mark.parametrize(
    ("question", "covered"),
    [
        ("how do we verify tokens?", True),
        ("Où est la clé ?", True),
        ("JWTの検証方法は何ですか", False),
        ("인증은 어떻게 하나요", False),
        ("как проверить токен", False),
        ("2025-09-12", False),
        ("()", False),
    ],
)
def test_a_question_in_an_alphabet_that_the_model_does_not_know_is_left_out(question: str, covered: bool) -> None:
    assert (left_out(question) == "") is covered


def test_missing_files_are_named(tmp_path: Path) -> None:
    shutil.copy(SHIPPED_MODEL / "config.json", tmp_path)
    assert "model.safetensors, tokenizer.json" in ModelFiles.read(tmp_path).reason
    with pytest.raises(Unavailable, match="lacks"):
        Embedder(tmp_path)


def test_a_name_that_is_too_long_is_a_reason_and_no_crash(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 300)
    assert "cannot be read: File name too long" in ModelFiles.read(folder).reason
    with pytest.raises(Unavailable, match="too long"):
        Embedder(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_that_is_cut_short_is_unavailable_and_no_crash(tmp_path: Path, name: str) -> None:
    model = tmp_path / "model"
    shutil.copytree(SHIPPED_MODEL, model)
    whole = (model / name).read_bytes()
    (model / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Unavailable, match="cannot be read"):
        Embedder(model)


def test_the_shipped_model_says_what_it_is() -> None:
    model = ModelFiles.read(SHIPPED_MODEL)
    assert (model.reason, model.dimensions, model.name) == ("", 256, "wikimem-en-256-int8")
