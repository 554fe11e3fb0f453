"""The index as a whole: opening it, bringing it up to date, addressing and filtering pages."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Locked, Refused
from wikimem.index.index import SHIPPED_MODEL, Index, Missing
from wikimem.index.manifest import GRACE
from wikimem.model.hit import PageFilter
from wikimem.model.page import FileStat

Opener = Callable[..., Index]
Putter = Callable[..., tuple[int, int]]
Finder = Callable[[Index, str], list[str]]

NOW = datetime(2025, 9, 12, 15, 0)
VAULT = {
    "decisions/Use jose.md": "---\ntype: decision\ntags: [auth/jwt]\n---\nJWTs are verified with [[jose]].",
    "jose.md": "---\ntype: entity\naliases: [JWT library]\n---\nA library for tokens.",
    "notes/soup.md": "# Soup\nCarrots and leeks, slowly.",
}


def test_what_was_indexed_is_found_by_words_and_meaning(open_index: Opener, put: Putter, paths_found: Finder) -> None:
    index = open_index()
    assert put(index, VAULT) == (3, 0)
    assert paths_found(index, "How are JWTs verified?")[0] == "decisions/Use jose.md"
    assert paths_found(index, "jwt library")[0] == "jose.md"
    vectors = index.vectors
    assert not isinstance(vectors, Missing)
    best = index.passages([vectors.search("vegetables", 1, None)[0][0]])
    assert [index.pages_by_number({row.page})[row.page].path for row in best.values()] == ["notes/soup.md"]
    counts = index.counts()
    assert (counts.pages, counts.links, counts.broken_links) == (3, 1, 0)
    assert counts.by_type == {"decision": 1, "entity": 1, "note": 1}


def test_a_change_replaces_and_a_removal_removes(open_index: Opener, put: Putter, paths_found: Finder) -> None:
    index = open_index()
    put(index, VAULT)
    assert put(index, {"notes/soup.md": "# Soup\nNow with beetroot."}, ("jose.md", "never-there.md")) == (1, 1)
    assert paths_found(index, "leeks") == []
    assert paths_found(index, "beetroot") == ["notes/soup.md"]
    assert paths_found(index, "library") == []
    assert index.page("jose.md") is None
    assert index.links_out("decisions/Use jose.md")[0].broken
    assert set(index.manifest()) == {"decisions/Use jose.md", "notes/soup.md"}


def test_a_passage_found_a_moment_ago_is_still_known_after_an_update(open_index: Opener, put: Putter) -> None:
    """A reader asks the words, and the manifest only then; an update in between must not hide the page."""
    index, reader = open_index(), open_index()
    put(index, VAULT)
    found = [passage for passage, _ in reader.words.search(["carrot"], 5, None)]
    put(index, {"notes/soup.md": "# Soup\nCarrots, and beetroot now."})
    assert reader.passages(found).keys() == set(found)
    for turn in range(GRACE + 1):
        put(index, {"jose.md": f"turn {turn}"})
        if turn == GRACE // 2:
            assert reader.passages(found), "nor do several"
    assert reader.passages(found) == {}, "old versions do not pile up"
    (page,) = (row.number for row in reader.find_pages("soup"))
    assert [row.id for row in reader.page_passages(page)] != found
    put(index, {}, ("notes/soup.md",))
    assert reader.pages_by_number([page]) == {}, "a page that is gone is no answer"


def test_a_header_that_changes_reaches_every_passage(open_index: Opener, put: Putter, paths_found: Finder) -> None:
    body = "\n\n".join(f"# Part {part}\n" + "plain words here " * 40 for part in range(4))
    index = open_index()
    put(index, {"long.md": f"---\ntitle: Zebra\n---\n{body}"})
    (row,) = index.find_pages("long.md")
    assert len(index.page_passages(row.number)) >= 4
    put(index, {"long.md": f"---\ntitle: Giraffe\n---\n{body}"})
    assert paths_found(index, "zebra") == []
    assert len(index.words.search(["giraff"], 50, None)) == len(index.page_passages(row.number))


def test_foreign_properties_are_searchable(open_index: Opener, put: Putter, paths_found: Finder) -> None:
    index = open_index()
    put(index, {"a.md": "---\nprovider: acmesoft\ndescription: about invoicing\n---\n"})
    assert paths_found(index, "acmesoft") == paths_found(index, "invoicing") == ["a.md"]


def test_no_secret_reaches_the_files(open_index: Opener, put: Putter, tmp_path: Path, paths_found: Finder) -> None:
    """In the title, an alias, a link, the body, and where one secret is cut into two passages."""
    secret, lines = "hunter2pass", [f"KEYLINE{number}" for number in range(40)]

    def mask(text: str) -> str:
        for start in ("BEGIN KEYLINE0",):
            if start in text and "KEYLINE39" in text:
                text = text[: text.index(start)] + "[hidden]" + text[text.index("KEYLINE39") + 9 :]
        return text.replace(secret, "[hidden]")

    index = open_index()
    key = "\n\n".join(f"{line} " + "filler " * 50 for line in lines)
    page = f"---\ntitle: about {secret}\naliases: [{secret}]\ntags: [{secret}]\nother: {secret}\n---\n{secret} [[{secret}]]\n\nBEGIN {key}\n\nend of it"  # noqa: E501
    put(index, {"a.md": page}, mask=mask)
    assert paths_found(index, secret) == paths_found(index, "KEYLINE7") == []
    assert paths_found(index, "hidden") == ["a.md"]
    assert index.page("a.md").title == "about [hidden]"  # type: ignore[union-attr]
    index.close()
    for file in (tmp_path / "index").rglob("*"):
        if file.is_file():
            data = file.read_bytes().lower()
            assert secret.encode() not in data, file
            assert b"keyline7" not in data, file


def test_touching_changes_the_stat_alone(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, VAULT)
    index.touch({"jose.md": FileStat(1, 2, 3)})
    assert index.manifest()["jose.md"][0] == FileStat(1, 2, 3)
    assert index.stale == frozenset()


# Addresses


@pytest.mark.parametrize(
    ("address", "paths"),
    [
        ("01JDZK3V9Q4T8M2X7B5C1R6W0N", ["a/Jose.md"]),
        ("c1r6w0n", ["a/Jose.md"]),
        ("W0N", []),
        ("a/Jose.md", ["a/Jose.md"]),
        ("a/Jose", ["a/Jose.md"]),
        ("A/JOSE", ["a/Jose.md"]),
        ("./a/Jose.md", ["a/Jose.md"]),
        ("The jose library", ["a/Jose.md"]),
        ("the JOSE library", ["a/Jose.md"]),
        ("panva", ["a/Jose.md"]),
        ("[[Jose#Usage|x]]", ["a/Jose.md"]),
        ("plan", ["b/plan.md", "c/plan.md"]),
        ("c/plan", ["c/plan.md"]),
        ("Readme", ["Readme.md"]),
        ("readme", ["readme.md"]),
        ("README", ["Readme.md", "readme.md"]),
        ("deep/Nested", ["very/deep/Nested.md"]),
        ("🐘", ["🐘.md"]),
        ("absent", []),
        ("", []),
        ("[[]]", []),
    ],
)
def test_addresses(open_index: Opener, put: Putter, address: str, paths: list[str]) -> None:
    index = open_index()
    header = "---\nid: 01JDZK3V9Q4T8M2X7B5C1R6W0N\ntitle: The jose library\naliases: [panva]\n---\n"
    others = ("b/plan.md", "c/plan.md", "Readme.md", "readme.md", "very/deep/Nested.md", "🐘.md")
    put(index, {"a/Jose.md": header, **{path: f"text of {path}" for path in others}})
    assert [row.path for row in index.find_pages(address)] == paths


# Filters


def listed(index: Index, **where: object) -> list[str]:
    return [row.path for row in index.list_pages(PageFilter(**{"as_of": NOW, **where}))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "holds"),
    [
        ("valid_from: 2025-09-12", True),
        ("valid_from: 2025-09-13", False),
        ("valid_to: 2025-09-12", False),
        ("valid_to: 2025-09-13", True),
        ("valid_to: 2025", False),
        ("created: 2025-01-01\nttl: P1M", False),
        ("created: 2025-01-01\nconfirmed: 2025-09-01\nttl: P1M", True),
        ("created: 2025-01-01\nttl: P1M\npinned: true", True),
        ("status: superseded", False),
        ("status: active", True),
    ],
)
def test_what_holds_at_a_date(open_index: Opener, put: Putter, header: str, holds: bool) -> None:
    index = open_index()
    put(index, {"a.md": f"---\n{header}\n---\nbody"})
    assert listed(index) == (["a.md"] if holds else [])
    assert listed(index, any_time=True, statuses=()) == ["a.md"]


def test_scope_filters(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(
        index,
        {
            "projects/shop/facts/x.md": "x #auth/jwt",
            "projects/blog/facts/y.md": "y #auth",
            "global/facts/z.md": "---\ntype: fact\nagent: claude-code\nsession: s1\ntags: [authx]\n---\n",
            "w.md": "---\nproject: shop\n---\n",
        },
    )
    assert listed(index, project="shop") == ["global/facts/z.md", "projects/shop/facts/x.md", "w.md"]
    assert listed(index, project="SHOP", with_global=False) == ["projects/shop/facts/x.md", "w.md"]
    assert listed(index, tags=("#Auth",)) == ["projects/blog/facts/y.md", "projects/shop/facts/x.md"]
    assert listed(index, tags=("auth", "auth/jwt")) == ["projects/shop/facts/x.md"]
    assert listed(index, types=("fact", "decision")) == listed(index, agent="claude-code", session="s1")
    assert index.projects() == ("blog", "shop")
    allowed = index.allowed(PageFilter(as_of=NOW, project="shop"))
    seen = [row.path for row in index.list_pages() if row.number in allowed]
    assert seen == ["global/facts/z.md", "projects/shop/facts/x.md", "w.md"]
    everyone = index.allowed(PageFilter(as_of=NOW))
    assert all(row.number in everyone for row in index.list_pages())


def test_a_search_may_see_what_a_list_has_under_every_filter(open_index: Opener, put: Putter) -> None:
    """One asks which pages fail, the other which pass: every kind of page against every kind of filter."""
    index = open_index()
    kinds = [
        *("", "type: fact", "status: archived", "status: superseded", "pinned: true", "agent: bot", "session: s1"),
        *("tags: [a/b]", "valid_from: 2025-09-12", "valid_from: 2025-09-13", "valid_from: soon", "project: shop"),
        *("valid_to: 2025-09-12", "valid_to: 2025-09-13", "valid_to: 2025-09-12T15:00:00", "project: SHOP"),
        *("created: 2025-09-01\nttl: P3D", "created: 2025-09-01\nttl: P30D"),
    ]
    pages = {f"{number}.md": f"---\n{kind}\n---\ntext\n" for number, kind in enumerate(kinds)}
    put(index, pages | {f"projects/blog/{path}": text for path, text in pages.items()})
    filters: list[dict[str, Any]] = [
        *({}, {"any_time": True}, {"statuses": ()}, {"statuses": ("archived", "active")}, {"types": ("fact",)}),
        *({"pinned": True}, {"agent": "bot"}, {"session": "s1"}, {"tags": ("a",)}, {"project": "shop"}),
        *(
            {"project": "blog", "with_global": False},
            {"project": "no'such"},
            {"types": ("fact", "note"), "tags": ("a",)},
        ),
    ]
    days = [datetime(2025, 9, 12), NOW, datetime(2025, 9, 13), datetime(1, 1, 1), datetime.max]
    for chosen, day in product(filters, days):
        where = PageFilter(day, **chosen)
        allowed = index.allowed(where)
        seen = [row.path for row in index.list_pages() if row.number in allowed]
        assert seen == [row.path for row in index.list_pages(where)], where


def test_a_page_that_comes_after_the_filter_was_applied_is_not_let_through(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"a.md": "one\n"})
    allowed = index.allowed(PageFilter(as_of=NOW, project="shop"))
    put(index, {"projects/blog/facts/b.md": "two\n"})
    numbers = {row.path: row.number for row in index.list_pages()}
    assert numbers["a.md"] in allowed
    assert numbers["projects/blog/facts/b.md"] not in allowed


# Opening


def test_a_foreign_folder_is_emptied_unopened(open_index: Opener, tmp_path: Path) -> None:
    planted = tmp_path / "index"
    (planted / "words").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    (planted / "words" / "_MAIN_1.toc").write_bytes(b"cos\nsystem\n(S'touch " + bytes(tmp_path / "pwned") + b"'\ntR.")
    (planted / "vectors.f32").symlink_to(outside / "kept.txt")
    (planted / "linked").symlink_to(outside)
    index = open_index()
    assert "was not written by this user" in index.notes[0]
    assert index.words.search(["a"], 5, None) == []
    assert not (tmp_path / "pwned").exists()
    assert (outside / "kept.txt").read_text() == "kept"
    index.close()
    assert open_index().notes == ()


def test_another_users_stamp_is_foreign(open_index: Opener, put: Putter) -> None:
    put(open_index(stamp="somebody else's"), VAULT)
    index = open_index(stamp="mine")
    assert index.manifest() == {}
    assert index.notes


def test_a_newer_format_is_refused_and_kept(open_index: Opener, put: Putter, tmp_path: Path) -> None:
    put(open_index(), VAULT)
    stamp = tmp_path / "index" / "stamp.json"
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "format": 99}))
    with pytest.raises(Refused, match="format 99"):
        open_index()
    assert (tmp_path / "index" / "manifest.db").stat().st_size > 0


@pytest.mark.parametrize("damage", ["garbage", "empty", "gone"])
def test_a_damaged_manifest_is_made_again(open_index: Opener, put: Putter, tmp_path: Path, damage: str) -> None:
    index = open_index()
    put(index, VAULT)
    index.close()
    file = tmp_path / "index" / "manifest.db"
    for extra in ("-wal", "-shm"):
        Path(f"{file}{extra}").unlink(missing_ok=True)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(b"not a database at all, for sure" * 999 if damage == "garbage" else b"")
    index = open_index()
    assert index.manifest() == {}
    assert index.notes, "a rebuild is said aloud"
    assert put(index, VAULT) == (3, 0)


def test_a_manifest_that_another_process_holds_is_not_damaged(
    open_index: Opener, put: Putter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikimem.index.manifest.BUSY_TIMEOUT_S", 0.05)
    put(open_index(), VAULT)
    holder = sqlite3.connect(tmp_path / "index" / "manifest.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Locked, match="held by another process"):
            open_index().touch({"jose.md": FileStat(1, 2, 3)})
    finally:
        holder.close()
    assert set(open_index().manifest()) == set(VAULT)


@pytest.mark.parametrize("damage", ["gone", "truncated", "toc"])
def test_damaged_words_make_their_pages_stale_and_nothing_else(
    open_index: Opener, put: Putter, paths_found: Finder, tmp_path: Path, damage: str
) -> None:
    index = open_index()
    put(index, VAULT)
    index.close()
    words = tmp_path / "index" / "words"
    if damage == "gone":
        shutil.rmtree(words)
    for file in words.glob("*.seg" if damage == "truncated" else "*.toc"):
        file.write_bytes(file.read_bytes()[:-20])
    index = open_index()
    assert index.stale == set(VAULT)
    assert all(revision == "" for _, revision in index.manifest().values())
    assert index.page("jose.md") is not None
    put(index, VAULT)
    assert index.stale == frozenset()
    assert paths_found(index, "JWTs verified")[0] == "decisions/Use jose.md"


@pytest.mark.parametrize("damage", ["gone", "truncated"])
def test_damaged_vectors_make_their_pages_stale(open_index: Opener, put: Putter, tmp_path: Path, damage: str) -> None:
    index = open_index()
    put(index, VAULT)
    index.close()
    for name in ("vectors.f32", "vectors.ids"):
        file = tmp_path / "index" / name
        file.unlink() if damage == "gone" else file.write_bytes(file.read_bytes()[:16])
    index = open_index()
    assert index.stale == set(VAULT)
    put(index, VAULT)
    assert index.stale == frozenset()
    assert index.vectors.search("vegetables", 5, None)  # type: ignore[union-attr]


def test_another_analyser_version_rebuilds_the_words_alone(
    open_index: Opener, put: Putter, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(open_index(), VAULT)
    monkeypatch.setattr("wikimem.index.index.ANALYSIS_VERSION", "another")
    index = open_index()
    assert "words" in index.notes[0]
    assert index.stale == set(VAULT)
    assert index.words.ids() == set()
    assert len(index.vectors.ids()) == 3  # type: ignore[union-attr]
    put(index, VAULT)
    assert (index.stale, open_index().notes) == (frozenset(), ())


def test_another_model_rebuilds_the_vectors_alone(open_index: Opener, put: Putter, tmp_path: Path) -> None:
    put(open_index(), VAULT)
    other = tmp_path / "other-model"
    shutil.copytree(SHIPPED_MODEL, other)
    (other / "config.json").write_text('{"max_length": 256}')
    index = open_index(model=other)
    assert "model" in index.notes[0]
    assert index.vectors.ids() == set()  # type: ignore[union-attr]
    assert len(index.words.ids()) == 3
    put(index, VAULT)
    assert index.stale == frozenset()


def test_without_a_model_the_rest_works(open_index: Opener, put: Putter, paths_found: Finder, tmp_path: Path) -> None:
    index = open_index(model=tmp_path / "nowhere")
    put(index, VAULT)
    assert isinstance(index.vectors, Missing)
    assert "lacks model.safetensors" in index.vectors.reason
    assert index.stream_states()["vectors"] == index.vectors.reason
    assert index.stale == frozenset()
    assert paths_found(index, "leeks") == ["notes/soup.md"]
    index.close()
    assert open_index().stale == set(VAULT), "with a model at hand the vectors are made"


def test_clearing_begins_anew_for_every_process(open_index: Opener, put: Putter) -> None:
    index, other = open_index(), open_index()
    put(index, VAULT)
    with index.writing(1.0) as held:
        assert held
        index.clear()
    assert index.manifest() == {}
    assert put(other, {"a.md": "fresh"}) == (1, 0)
    assert set(open_index().manifest()) == {"a.md"}


def test_two_writers_take_turns(open_index: Opener) -> None:
    index, other = open_index(), open_index()
    with index.writing(1.0) as first, other.writing(0.05) as second:
        assert (first, second) == (True, False)
    with other.writing(0.0) as again:
        assert again
