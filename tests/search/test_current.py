"""No hit is given that is not so on disk at this moment."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from wikimem.model.hit import PageFilter, PageRow
from wikimem.search.current import WITHHELD, PageReader, holds, parse_every_page
from wikimem.text.page import parse_page

if TYPE_CHECKING:
    from tests.search.conftest import SmallVault

FILLER = "Other matters take up the rest of this page, one sentence after the other, without end. " * 12


def test_a_page_that_is_gone_is_dropped_and_counted(vault: SmallVault) -> None:
    vault.add(Walrus="The walrus sings.", Seal="The seal listens to the walrus.")
    (vault.root / "Walrus.md").unlink()
    outcome = vault.search("walrus")
    assert [hit.path for hit in outcome.hits] == ["Seal.md"]
    assert outcome.stale == 1


def test_a_changed_page_shows_its_passage_where_it_is_now(vault: SmallVault) -> None:
    vault.add(Walrus=f"# One\nThe walrus sings.\n\n{FILLER}")
    vault.write(Walrus=f"# Zero\nNew first part.\n\n{FILLER}\n\n# One\nThe walrus sings.\n\n{FILLER}")
    outcome = vault.search("walrus sings")
    assert "The walrus sings." in outcome.hits[0].passage
    assert outcome.stale == 1
    page = vault.read_page("Walrus.md")
    assert page is not None
    assert outcome.hits[0].revision == page.revision


def test_a_changed_passage_is_replaced_by_the_one_that_fits_best(vault: SmallVault) -> None:
    vault.add(Walrus="The walrus sings at noon.")
    vault.write(Walrus="The walrus has stopped singing for good.")
    assert vault.search("walrus sings").hits[0].passage == "The walrus has stopped singing for good."


def test_a_page_that_no_longer_speaks_of_it_is_dropped(vault: SmallVault) -> None:
    vault.add(Walrus="The walrus sings at noon.")
    vault.write(Walrus="Entirely about gardens.")
    assert vault.search("walrus sings").hits == ()


def test_a_change_that_ends_validity_or_scope_is_seen_before_it_is_indexed(vault: SmallVault) -> None:
    text = "---\ntitle: Walrus\nstatus: active\n---\nThe walrus sings."
    for change in (
        "status: superseded",
        "status: active\nvalid_to: 2025-01-01",
        "status: active\nvalid_from: 2027-01-01",
    ):
        vault.add(Walrus=text)
        assert vault.paths("walrus") == ["Walrus"]
        vault.write(Walrus=text.replace("status: active", change))
        assert vault.search("walrus").hits == ()
    vault.add(Walrus=text.replace("status: active", "project: a"))
    vault.write(Walrus=text.replace("status: active", "project: b"))
    assert vault.search("walrus", project="a").hits == ()


def test_an_unindexed_edit_cannot_raise_trust(vault: SmallVault) -> None:
    vault.add(Walrus="---\ntrust: web\n---\nThe walrus sings.")
    vault.write(Walrus="---\ntrust: human\n---\nThe walrus sings.")
    assert vault.search("walrus").hits[0].trust == "web"


def test_each_page_is_read_once_a_search_and_parsed_only_where_it_changed(vault: SmallVault) -> None:
    vault.add(Walrus=f'The walrus "sings loud".\n\n{FILLER}\n\nThe walrus sleeps.', Seal="A walrus.")
    vault.search('walrus "sings loud"', unchanged=parse_every_page)
    assert sorted(vault.reads) == ["Seal.md", "Walrus.md"]
    vault.reads.clear()
    vault.search('walrus "sings loud"')
    assert vault.reads == []
    vault.write(Seal="A walrus, a seal.")
    vault.search("walrus")
    assert vault.reads == ["Seal.md"]


def test_a_page_that_is_not_parsed_gives_the_same_hit(vault: SmallVault) -> None:
    files = {
        "bom.md": b"\xef\xbb\xbf---\ntitle: The walrus\n---\nThe walrus sings.\n",
        "crlf.md": b"---\r\ntags: [sea]\r\n---\r\n# Walrus\r\n\r\nIt sings.\r\n",
        "latin.md": "The walrus sings in a café.\n".encode("latin-1"),
        "conflict.md": b"The walrus\n<<<<<<< ours\nsings\n=======\nsleeps\n>>>>>>> theirs\n",
        "secret.md": b"The walrus has AKIAIOSFODNN7EXAMPLE as its key.\n",
    }
    for path, data in files.items():
        (vault.root / path).write_bytes(data)
    vault.sync()
    parsed = vault.search("walrus sings", unchanged=parse_every_page)
    assert vault.search("walrus sings") == parsed
    assert {hit.path for hit in parsed.hits} >= {"bom.md", "crlf.md", "latin.md", "secret.md"}


def test_a_period_is_half_open() -> None:
    row = PageRow(1, "a.md", "A", "a", "fact", "active", "r", "human")
    begin, end = datetime(2025, 1, 1), datetime(2025, 2, 1)
    bounded = PageRow(1, "a.md", "A", "a", "fact", "active", "r", "human", valid_from=begin, valid_to=end)
    empty = PageRow(1, "a.md", "A", "a", "fact", "active", "r", "human", valid_from=end, valid_to=begin)
    assert holds(row, begin)
    assert holds(bounded, begin)
    assert not holds(bounded, end)
    assert not any(holds(empty, moment) for moment in (begin, datetime(2025, 1, 15), end))


def test_the_middle_of_a_key_is_not_shown_because_it_looks_like_nothing_there() -> None:
    body = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\nDone."

    def mask(text: str) -> str:
        begin, end = text.find("-----BEGIN"), text.find("-----END KEY-----")
        return text if begin < 0 or end < 0 else text[:begin] + "[key]" + text[end + 17 :]

    page = parse_page("a.md", body.encode())
    reader = PageReader(lambda _: page, mask, PageFilter(datetime(2026, 1, 1)))
    start = page.text.index("hkiG")
    assert reader.masked_slice(page.path, page.text, start, len(page.text)) == f"{WITHHELD}\n{WITHHELD}\nDone."
    assert reader.masked_slice(page.path, page.text, page.text.index("Done"), len(page.text)) == "Done."
