"""reindex --verify: an index that is right says so, and every part that is wrong is named."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Desk = Any


@pytest.fixture
def filled(desk: Desk) -> Desk:
    desk.run("remember", title="Zanzibar port", text="zanzibar 8080, see [[Deploy]] and [[nothing]]", tags=["ops"])
    desk.put("notes/Deploy.md", "---\naliases: [ship it]\nup: [[Home]]\n---\n# Deploy\n\ntext one\n\n## Steps\n\ntwo\n")
    desk.put("notes/bad.md", "---\ntitle: a: b\n---\n[[Zanzibar port]]\n")
    desk.put("notes/東京.md", "東京の港\n")
    desk.run("status")
    return desk


def database(desk: Desk) -> sqlite3.Connection:
    found = list((desk.root.parent / "home/.cache").rglob("manifest.db"))
    assert len(found) == 1
    return sqlite3.connect(found[0], isolation_level=None)


def test_an_index_that_grew_by_updates_is_as_one_made_at_once(filled: Desk) -> None:
    filled.put("notes/Deploy.md", "# Deploy\n\nanother text, [[Zanzibar port]]\n")
    filled.run("edit", page="Zanzibar port", replace=["8080", "9090"])
    filled.run("move", page="notes/Deploy.md", to="archive/Ship")
    filled.run("forget", page="notes/bad.md")
    (filled.root / "notes/東京.md").unlink()
    before = sorted(path for path in filled.root.rglob("*") if ".git" not in path.parts)
    done = filled.run("reindex", verify=True)
    assert done.differences == ()
    assert sorted(path for path in filled.root.rglob("*") if ".git" not in path.parts) == before
    assert list((filled.root.parent / "home/.cache").rglob("verify-*")) == []
    assert filled.run("search", query="zanzibar").hits


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE pages SET title = 'wrong' WHERE path = 'notes/Deploy.md'", "has the title 'wrong'"),
        ("UPDATE pages SET status = 'expired' WHERE path = 'notes/Deploy.md'", "has the status 'expired'"),
        ("DELETE FROM names WHERE kind = 'alias'", "'notes/Deploy.md' has 0 names"),
        ("INSERT INTO names VALUES ('alias', 'ghost', 9999)", "1 names in the index belong to no page"),
        ("DELETE FROM tags", "tags"),
        ("UPDATE links SET broken = 0 WHERE target = 'nothing'", "links"),
        ("UPDATE links SET resolved = NULL WHERE target = 'Deploy'", "links"),
        ("DELETE FROM problems", "'notes/bad.md' has 0 problems"),
        ("UPDATE passages SET start = start + 1", "passages"),
        ("INSERT INTO links VALUES (9999, 0, 'x', '', 'wikilink', 'x', 'x', NULL, 1)", "1 links in the index belong"),
    ],
)
def test_what_is_wrong_in_the_manifest_is_named(filled: Desk, statement: str, words: str) -> None:
    connection = database(filled)
    connection.execute(statement)
    connection.close()
    done = filled.run("reindex", verify=True)
    assert any(words in each for each in done.differences), done.differences
    assert any("reindex --full" in note for note in done.notes)
    filled.run("reindex", full=True)
    assert filled.run("reindex", verify=True).differences == ()


def test_a_page_too_many_and_one_too_few(filled: Desk) -> None:
    """A page that the index lost is found by the sweep before the comparison; one whose stat lies is not."""
    connection = database(filled)
    connection.execute(
        "INSERT INTO pages SELECT 9999, 'ghost.md', id, title, type, status, revision, trust, confidence, importance, "
        "pinned, created, confirmed, valid_from, valid_to, expires, project, agent, session, sources, tags, aliases, "
        "mtime, tokens, size, mtime_ns, inode FROM pages WHERE path = 'notes/Deploy.md'"
    )
    connection.close()
    assert filled.run("reindex", verify=True).differences == ()
    assert not filled.run("search", query="ghost").hits


def test_words_and_vectors_are_compared_as_well(filled: Desk) -> None:
    wiki = filled.wiki()
    index = wiki.index
    page = index.page("notes/Deploy.md")
    first = index.page_passages(page.number)[0]
    with index.writing(5):
        index.words.apply((), {first.id})
        # Else the next opening sees that the words are not what the manifest knows, and repairs them.
        parts = index.parts()
        parts.manifest.set_meta("words_files", parts.folder.words_files())
    found = filled.run("reindex", verify=True).differences
    assert any(each.startswith("the words have 0 passages of 'notes/Deploy.md' too many, lack 1") for each in found)

    with index.writing(5):
        index.vectors.apply((), {first.id})
    filled.run("reindex", full=True)

    from wikimem.index.vectors import VectorEntry

    page = filled.wiki().index.page("notes/Deploy.md")
    wiki = filled.wiki()
    with wiki.index.writing(5):
        wiki.index.vectors.apply([VectorEntry(first.id, page.number, "something else altogether")], ())
        wiki.index.vectors.apply([VectorEntry(12345, 9999, "a stray")], ())
    found = filled.run("reindex", verify=True).differences
    assert any("and have 1 otherwise" in each and "notes/Deploy.md" in each for each in found)
    assert any("a page that is gone" in each for each in found)


def vector_file(desk: Desk, name: str) -> Path:
    (found,) = (desk.root.parent / "home/.cache").rglob(name)
    return Path(found)


@pytest.mark.parametrize(
    "damage",
    [bytes, lambda size: b"\xff" * size, lambda size: b"text" * (size // 4), lambda size: b""],
    ids=["zeros", "ones", "text", "empty"],
)
def test_ids_of_vectors_that_are_not_those_written_are_made_again(filled: Desk, damage: Callable[[int], bytes]) -> None:
    file = vector_file(filled, "vectors.ids")
    file.write_bytes(damage(file.stat().st_size))
    assert filled.run("search", query="text about two steps", streams=["vectors"]).hits
    assert filled.run("reindex", verify=True).differences == ()


def test_a_row_that_the_vectors_lost_is_made_again(filled: Desk) -> None:
    wiki = filled.wiki()
    page = wiki.index.page("notes/Deploy.md")
    with wiki.index.writing(5):
        wiki.index.vectors.apply((), {wiki.index.page_passages(page.number)[0].id})
    assert filled.run("reindex", verify=True).differences == ()


@pytest.mark.parametrize("name", ["vectors.pcs", "vectors.f32"])
def test_what_is_wrong_inside_a_file_of_vectors_is_named(filled: Desk, name: str) -> None:
    file = vector_file(filled, name)
    file.write_bytes(bytes(file.stat().st_size))
    found = filled.run("reindex", verify=True).differences
    assert any(each.startswith("the vectors have 0") and "notes/Deploy.md" in each for each in found), found
    filled.run("reindex", full=True)
    assert filled.run("reindex", verify=True).differences == ()


def test_a_vault_that_is_gone_is_not_called_right(filled: Desk) -> None:
    from wikimem.errors import Conflict

    for number in range(30):
        filled.put(f"many/{number}.md", "x\n")
    filled.run("status")
    shutil.rmtree(filled.root / "many")
    with pytest.raises(Conflict, match="are gone"):
        filled.run("reindex", verify=True)


def test_no_secret_is_in_what_differs(filled: Desk) -> None:
    secret = "ghp_" + "Ab3" * 12
    filled.put("k.md", f"# {secret}\n\n{secret}\n")
    filled.run("status")
    connection = database(filled)
    connection.execute("UPDATE pages SET title = ? WHERE path = 'k.md'", (secret,))
    connection.close()
    done = filled.run("reindex", verify=True)
    assert done.differences
    assert secret not in repr(done)


def test_an_empty_vault(make_desk: Callable[..., Desk], tmp_path: Path) -> None:
    desk = make_desk("empty")
    for path in desk.root.rglob("*.md"):
        path.unlink()
    assert desk.run("reindex", verify=True).differences == ()
