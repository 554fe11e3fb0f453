"""ULIDs sort by time and are never twice the same; derived ids and revisions depend on nothing but their input."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.ids import derived_id, is_ulid, new_ulid, revision_of


def test_a_ulid_begins_with_its_time_as_the_specification_writes_it() -> None:
    moment = datetime(2016, 7, 30, 23, 54, 10, 259000, tzinfo=UTC)
    assert new_ulid(moment)[:10] == "01ARZ3NDEK"


def test_ulids_of_one_instant_differ_and_later_ones_sort_after() -> None:
    now = datetime(2025, 9, 12, 9, 12, tzinfo=UTC)
    made = {new_ulid(now) for _ in range(200)}
    assert len(made) == 200
    assert all(is_ulid(each) for each in made)
    assert max(made) < new_ulid(now + timedelta(milliseconds=1))


@pytest.mark.parametrize("moment", [datetime(1969, 12, 31, tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC)])
def test_a_time_before_1970_has_no_ulid(moment: datetime) -> None:
    with pytest.raises(Invalid, match="no id can be made"):
        new_ulid(moment)


@given(st.text())
def test_a_derived_id_is_a_ulid_and_always_the_same(path: str) -> None:
    assert is_ulid(derived_id(path))
    assert derived_id(path) == derived_id(unicodedata.normalize("NFC", path))


def test_derived_ids_tell_paths_apart_but_not_their_normal_forms() -> None:
    composed, decomposed = "café.md", unicodedata.normalize("NFD", "café.md")
    assert composed != decomposed
    assert derived_id(composed) == derived_id(decomposed)
    assert len({derived_id(path) for path in ("a.md", "A.md", "b/a.md", "")}) == 4


def test_a_derived_id_stays_what_it_was_in_earlier_versions() -> None:
    """It is written into no page, but links, citations and graph files name it."""
    assert derived_id("projects/shop/decisions/Use jose.md") == "68CDQX9K3ZCQJBC87R3XGX82WV"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        ("01arz3ndektsv4rrffq69g5fav", True),
        ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", True),
        ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", False),  # more than 128 bits
        ("01ARZ3NDEKTSV4RRFFQ69G5FA", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAVX", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAU", False),  # no U in the alphabet
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV\n", False),
        ("٠1ARZ3NDEKTSV4RRFFQ69G5FAV", False),
        ("", False),
    ],
)
def test_what_is_a_ulid(text: str, expected: bool) -> None:
    assert is_ulid(text) is expected


def test_a_revision_is_the_start_of_the_sha256() -> None:
    assert revision_of(b"abc") == "ba7816bf8f01cfea"
    assert revision_of(b"abc\n") != revision_of(b"abc\r\n")
