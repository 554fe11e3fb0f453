"""Words: what is found, in which order, and what a filter does."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from wikimem.index.bm25 import BOOSTS, K1, B
from wikimem.index.parts import Allowed
from wikimem.index.postings import FIELDS, iterate_postings, read_postings
from wikimem.index.words import WordsDamaged, WordsEntry, WordsIndex


def entry(passage: int, body: str, *, page: int = 0, title: str = "") -> WordsEntry:
    return WordsEntry(passage, page or passage, (title.split(), [], [], [], body.split(), []))


def filled(folder: Path, *entries: WordsEntry) -> WordsIndex:
    words = WordsIndex(folder)
    words.apply(entries, ())
    return words


def test_an_index_of_nothing_finds_nothing(tmp_path: Path) -> None:
    words = WordsIndex(tmp_path / "words")
    assert words.search(["a"], 10, None) == []
    assert not (tmp_path / "words").exists(), "a reader creates nothing"


def test_the_score_is_bm25f(tmp_path: Path) -> None:
    words = filled(tmp_path / "w", entry(1, "red red blue", title="red"), entry(2, "blue green"), entry(3, "green"))
    ((found, score),) = words.search(["red"], 10, None)
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    title = BOOSTS["title"] * 1 / (1 - B + B * 1 / (1 / 3))
    body = BOOSTS["body"] * 2 / (1 - B + B * 3 / 2)
    weight = title + body
    assert found == 1
    assert score == pytest.approx(idf * weight * (K1 + 1) / (K1 + weight), rel=1e-5)


def test_one_of_the_words_suffices_and_more_rank_higher(tmp_path: Path) -> None:
    words = filled(tmp_path / "w", entry(1, "red blue x"), entry(2, "red y z"), entry(3, "grey a b"))
    assert [passage for passage, _ in words.search(["red", "blue", "absent"], 10, None)] == [1, 2]


def test_equal_scores_are_ordered_by_id_and_cut_there(tmp_path: Path) -> None:
    words = filled(tmp_path / "w", *(entry(passage, "same words") for passage in (9, 4, 7, 1, 6)))
    assert [passage for passage, _ in words.search(["same"], 3, None)] == [1, 4, 6]


def test_a_filter_cannot_starve_the_results(tmp_path: Path) -> None:
    """The one allowed passage is found though a thousand others score higher."""
    others = [entry(passage, "red red red", title="red") for passage in range(2, 1002)]
    words = filled(tmp_path / "w", entry(1, "red and much else besides it"), *others)
    assert [passage for passage, _ in words.search(["red"], 5, Allowed([1]))] == [1]
    assert words.search(["red"], 5, Allowed([])) == []
    assert len(words.search(["red"], 5, Allowed([], everything=True))) == 5


def test_a_replaced_passage_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    words = filled(tmp_path / "w", entry(1, "old"), entry(2, "other"))
    words.apply([entry(1, "new")], ())
    assert words.search(["old"], 10, None) == []
    assert [passage for passage, _ in words.search(["new"], 10, None)] == [1]
    words.apply((), [1, 99])
    assert words.search(["new"], 10, None) == []
    assert words.ids() == {2}


@pytest.mark.parametrize("bulk", [500, 1])
def test_an_index_that_grew_ranks_as_one_built_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bulk: int
) -> None:
    """With the merges of single updates, and with those of bulk updates."""
    monkeypatch.setattr("wikimem.index.words.BULK", bulk)
    rng = random.Random(5)
    vocabulary = [f"w{number}" for number in range(60)]
    now: dict[int, WordsEntry] = {}
    grown = WordsIndex(tmp_path / "grown")
    for _ in range(25):
        added = [
            entry(passage, " ".join(rng.choices(vocabulary, k=rng.randint(1, 30))), title=rng.choice(vocabulary))
            for passage in rng.sample(range(1, 200), 12)
        ]
        removed = rng.sample(sorted(now), min(len(now), 4))
        now = {passage: old for passage, old in now.items() if passage not in removed}
        now |= {new.passage: new for new in added}
        grown.apply(added, [passage for passage in removed if passage not in {new.passage for new in added}])
    built = filled(tmp_path / "built", *now.values())
    assert grown.ids() == built.ids() == set(now)
    for _ in range(20):
        terms = rng.sample(vocabulary, 4)
        assert grown.search(terms, 50, None) == built.search(terms, 50, None)
    assert len(list((tmp_path / "grown").glob("*.seg"))) < 12, "small segments are merged"


def test_posting_blocks_are_what_whoosh_itself_reads(tmp_path: Path) -> None:
    """Of a word on many passages (blocks), on one (inlined), and where passages were deleted since it was opened."""
    words = filled(tmp_path / "w", *(entry(n, "often " * (1 + n % 5) + f"once{n}") for n in range(1, 700)))
    assert len(words.ids()) == 699
    words.apply((), [*range(1, 200), 500])
    compared = 0
    for used, fresh in zip(words._current().leaves, WordsIndex(tmp_path / "w")._current().leaves, strict=True):
        assert used.reader is not fresh.reader
        for leaf in (used, fresh):
            for term in (b"often", b"once7", b"absent"):
                for field in FIELDS:
                    ours = read_postings(leaf, field, term)
                    if ours is None:
                        assert (field, term) not in fresh.reader
                        continue
                    ids, weights = iterate_postings(fresh.reader.postings(field, term))
                    living = leaf.live[ours[0]]
                    assert np.array_equal(ours[0][living], ids)
                    assert np.array_equal(ours[1][living], weights)
                    compared += len(ids)
    assert compared == 2 * (699 - 200)


def test_a_reader_sees_what_another_object_wrote(tmp_path: Path) -> None:
    writer = filled(tmp_path / "w", entry(1, "one"))
    reader = WordsIndex(tmp_path / "w")
    assert reader.ids() == {1}
    writer.apply([entry(2, "two")], ())
    assert [passage for passage, _ in reader.search(["two"], 5, None)] == [2]


@pytest.mark.parametrize("damage", [b"", b"not a segment at all" * 50])
def test_damaged_files_are_told_apart_from_nothing_found(tmp_path: Path, damage: bytes) -> None:
    filled(tmp_path / "w", *(entry(n, f"word{n} red") for n in range(1, 50))).close()
    for file in (tmp_path / "w").glob("*.seg"):
        file.write_bytes(damage)
    with pytest.raises(WordsDamaged, match="cannot be read"):
        WordsIndex(tmp_path / "w").search(["red"], 5, None)


@pytest.mark.parametrize("term", ["", "\ud800", "a" * 500, "\x00", "*", "(", '"', "c++", "don't", "AND"])
def test_any_term_is_only_a_term(tmp_path: Path, term: str) -> None:
    words = WordsIndex(tmp_path / "w")
    words.apply([WordsEntry(1, 1, ([], [], [], [], [term, "x"], []))], ())
    assert [passage for passage, _ in words.search([term], 5, None)] == [1]


def test_a_page_is_scored_as_its_passages_taken_together(tmp_path: Path) -> None:
    """The same words in one passage or in two make the same page; a title counts once for all passages."""
    apart = filled(
        tmp_path / "apart",
        entry(1, "red sky", page=1, title="noon"),
        entry(2, "blue sea red", page=1, title="noon"),
        entry(3, "green hill", page=2),
    )
    whole = filled(
        tmp_path / "whole", entry(1, "red sky blue sea red", page=1, title="noon"), entry(3, "green hill", page=2)
    )
    for terms in (["red"], ["red", "blue"], ["noon", "hill"]):
        assert apart.search_pages(terms, 10, None) == whole.search_pages(terms, 10, None) == whole_scores(whole, terms)
    assert apart.page_count() == (2, 3)


def whole_scores(words: WordsIndex, terms: list[str]) -> list[tuple[int, float]]:
    """What `search` says of passages that are whole pages, by page."""
    pages = {1: 1, 3: 2}
    return [(pages[passage], score) for passage, score in words.search(terms, 10, None)]


def test_a_page_that_holds_all_words_somewhere_beats_one_that_holds_one_twice(tmp_path: Path) -> None:
    words = filled(
        tmp_path / "w",
        entry(1, "red one two", page=1),
        entry(2, "blue three four", page=1),
        entry(3, "red red five", page=2),
        entry(4, "six seven eight", page=2),
    )
    assert [page for page, _ in words.search_pages(["red", "blue"], 10, None)] == [1, 2]
    assert words.search_pages(["red", "blue"], 10, Allowed([2]))[0][0] == 2
    words.apply((), [2])
    assert [page for page, _ in words.search_pages(["blue"], 10, None)] == []


def test_rarity_counts_living_passages(tmp_path: Path) -> None:
    words = filled(tmp_path / "w", entry(1, "red"), entry(2, "red blue"), entry(3, "red"))
    rarity = words.rarity(["red", "blue", "absent"])
    assert rarity["red"] < rarity["blue"] < rarity["absent"]
    words.apply((), [2])
    assert words.rarity(["blue"])["blue"] == words.rarity(["absent"])["absent"]
