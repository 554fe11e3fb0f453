"""Vectors: exact search, filters inside it, rows that are used again, files that do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wikimem.errors import Damaged
from wikimem.index.embedder import Embedder
from wikimem.index.index import SHIPPED_MODEL
from wikimem.index.parts import Allowed
from wikimem.index.vectors import VectorEntry, VectorIndex

EMBEDDER = Embedder(SHIPPED_MODEL)
TEXTS = {
    1: "tokens are verified with jose",
    2: "the database runs on Postgres",
    3: "soup with carrots and leeks",
    4: "queries against the database are slow",
}


def opened(folder: Path) -> VectorIndex:
    return VectorIndex(folder, lambda: EMBEDDER, 256)


def filled(folder: Path, texts: dict[int, str] = TEXTS) -> VectorIndex:
    vectors = opened(folder)
    vectors.apply([VectorEntry(passage, passage * 10, text) for passage, text in texts.items()], ())
    return vectors


def test_the_nearest_come_first_with_their_cosine(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    found = vectors.search("slow database", 3, None)
    assert {passage for passage, _ in found[:2]} == {2, 4}
    expected = EMBEDDER.encode([TEXTS[found[0][0]], "slow database"])
    assert found[0][1] == pytest.approx(float(expected[0] @ expected[1]), abs=1e-5)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_a_filter_applies_before_the_cut(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    assert [passage for passage, _ in vectors.search("slow database", 1, Allowed([30]))] == [3]
    assert vectors.search("slow database", 1, Allowed([])) == []


def test_rows_are_used_again(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    size = (tmp_path / "vectors.f32").stat().st_size
    for round_ in range(5):
        vectors.apply([VectorEntry(100 + round_, 7, f"text {round_}")], [1 if round_ == 0 else 99 + round_])
    assert (tmp_path / "vectors.f32").stat().st_size == size
    assert vectors.ids() == {2, 3, 4, 104}
    again = vectors.vector(104)
    assert again is not None
    np.testing.assert_array_equal(again, EMBEDDER.encode(["text 4"])[0])


def test_a_passage_has_one_row_however_often_it_is_given(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    vectors.apply([VectorEntry(2, 20, "now about carrots")], ())
    found = vectors.search("carrots", 10, None)
    assert sorted(passage for passage, _ in found) == [1, 2, 3, 4]
    assert {passage for passage, _ in found[:2]} == {2, 3}


def test_another_object_sees_what_was_written(tmp_path: Path) -> None:
    reader = opened(tmp_path)
    assert reader.search("database", 5, None) == []
    filled(tmp_path)
    assert len(reader.search("database", 5, None)) == 4


def test_floats_that_are_cut_short_are_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / "vectors.f32").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(Damaged, match="cut short"):
        opened(tmp_path)


def test_a_crash_before_the_ids_leaves_no_trace(tmp_path: Path) -> None:
    """Rows without an entry in the ids file, as a kill between the two writes leaves them."""
    filled(tmp_path)
    with (tmp_path / "vectors.f32").open("ab") as file:
        file.write(b"\0" * 1024)
    with (tmp_path / "vectors.ids").open("ab") as file:
        file.write(b"\1" * 7)
    vectors = opened(tmp_path)
    assert vectors.ids() == {1, 2, 3, 4}
    vectors.apply([VectorEntry(5, 50, "a fifth")], ())
    assert vectors.ids() == {1, 2, 3, 4, 5}


def test_a_question_in_another_alphabet_is_left_out_and_says_so(tmp_path: Path) -> None:
    vectors = filled(tmp_path)
    assert vectors.search("データベースは遅い", 5, None) == []
    assert "not covered" in vectors.left_out("データベースは遅い")
    assert vectors.left_out("slow database") == ""


def test_equal_texts_score_equally_wherever_their_rows_are(tmp_path: Path) -> None:
    vectors = filled(tmp_path, dict.fromkeys(range(1, 40), "the same words"))
    found = vectors.search("words", 39, None)
    assert [passage for passage, _ in found] == list(range(1, 40))
    assert len({score for _, score in found}) == 1


def test_reading_closely_tells_apart_what_one_vector_cannot(tmp_path: Path) -> None:
    """Closeness is for the passage that covers the words, pairs for the one that has them side by side."""
    vectors = filled(
        tmp_path,
        {
            1: "the rate limit of the gateway is a hundred requests",
            2: "the gateway has a limit, and the rate of growth is high",
            3: "soup with carrots and leeks",
        },
    )
    close, pairs = vectors.read_closely([("rate", 1.0), ("limits", 1.0)], [3, 2, 1, 99])
    assert close.keys() == pairs.keys() == {1, 2, 3}
    assert min(close[1], close[2]) > close[3]
    assert pairs[1] > 0 == pairs[2] == pairs[3]


def test_the_weight_of_a_word_decides_which_passage_is_close(tmp_path: Path) -> None:
    vectors = filled(tmp_path, {1: "tokens expire", 2: "carrots grow"})
    for token, carrot, nearer in ((1.0, 0.1, 1), (0.1, 1.0, 2)):
        close, _ = vectors.read_closely([("token", token), ("carrot", carrot)], [1, 2])
        assert max(close, key=lambda passage: close[passage]) == nearer


def test_reading_closely_gives_nothing_where_there_is_nothing_to_compare(tmp_path: Path) -> None:
    vectors = filled(tmp_path, {1: "", 2: "carrots"})
    assert vectors.read_closely([], [1, 2]) == ({}, {})
    assert vectors.read_closely([("the", 1.0)], [1, 2]) == ({}, {})
    assert vectors.read_closely([("carrots", 1.0)], [7]) == ({}, {})
    close, _ = vectors.read_closely([("carrots", 1.0)], [1, 2])
    assert close[1] == 0 < close[2]


def test_a_row_that_is_used_again_has_the_pieces_of_its_new_passage(tmp_path: Path) -> None:
    vectors = filled(tmp_path, {1: "carrots", 2: "tokens"})
    vectors.apply([VectorEntry(5, 50, "databases")], [1])
    close, _ = vectors.read_closely([("database", 1.0)], [5, 2])
    assert close[5] > close[2]
    assert opened(tmp_path).read_closely([("database", 1.0)], [5, 2]) == (close, {5: 0.0, 2: 0.0})


def test_pieces_that_are_cut_short_are_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / "vectors.pcs").open("r+b") as file:
        file.truncate(100)
    with pytest.raises(Damaged):
        opened(tmp_path)


@pytest.mark.parametrize("row", [b"\xff" * 1024, b"\x7e" * 1024], ids=["no numbers", "large numbers"])
def test_floats_that_are_no_unit_vectors_are_damage_and_not_the_best_answer(tmp_path: Path, row: bytes) -> None:
    vectors = filled(tmp_path)
    with (tmp_path / "vectors.f32").open("r+b") as file:
        file.write(row)
    with pytest.raises(Damaged, match="unit length"):
        vectors.search("slow database", 4, None)
