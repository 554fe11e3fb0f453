"""Which page is which after a rename, by the rules that git has for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.text.ids import revision_of
from wikimem.vault.renames import LIKE, committed_bytes, first_seen, head_commit, likeness, match_moves, read_renames

BODY = "".join(f"line {number} of a page\n" for number in range(20))


def git(root: Path, *args: str) -> str:
    person = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    return subprocess.run(
        ["git", "-C", str(root), *person, *args], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def commit(root: Path, **pages: str | None) -> str:
    for name, text in pages.items():
        file = root / f"{name}.md"
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return git(root, "rev-parse", "HEAD")


def moves(gone: dict[str, bytes], new: dict[str, bytes]) -> dict[str, str]:
    revisions = {path: revision_of(data) for path, data in gone.items()}
    return match_moves(revisions, list(new), new.__getitem__, lambda paths: {path: gone[path] for path in paths})


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_likeness_is_a_share_and_has_no_direction(one: bytes, other: bytes) -> None:
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, one) == 1


def test_half_of_the_text_decides_as_in_git(root: Path) -> None:
    for kept in (4, 8, 12, 16):
        text = "".join(BODY.splitlines(keepends=True)[:kept]) + "".join(
            f"now {n} reads thus\n" for n in range(20 - kept)
        )
        commit(root, old=BODY, new=None) if (root / "new.md").exists() else commit(root, old=BODY)
        commit(root, old=None, new=text)
        by_git = git(root, "log", "-1", "-M", "--name-status", "--format=").startswith("R")
        assert (likeness(BODY.encode(), text.encode()) >= LIKE) is by_git
        assert moves({"old.md": BODY.encode()}, {"new.md": text.encode()}) == ({"old.md": "new.md"} if by_git else {})


def test_equal_pages_are_told_apart_by_name_then_by_folder() -> None:
    page = BODY.encode()
    assert moves({"a/x.md": page, "a/y.md": page}, {"b/y.md": page, "c/x.md": page}) == {
        "a/x.md": "c/x.md",
        "a/y.md": "b/y.md",
    }
    assert moves({"a/x.md": page, "b/y.md": page}, {"a/p.md": page, "b/q.md": page}) == {
        "a/x.md": "a/p.md",
        "b/y.md": "b/q.md",
    }
    assert moves({"a/x.md": page}, {"b/p.md": page, "c/q.md": page}) == {}, "nobody can say"
    assert moves({"x.md": b""}, {"y.md": b""}) == {}
    assert moves({"a/x.md": b""}, {"b/x.md": b""}) == {"a/x.md": "b/x.md"}


def test_the_likest_belong_together() -> None:
    one, two = BODY.encode(), BODY.replace("page", "leaf").encode()
    assert moves({"1.md": one, "2.md": two}, {"p.md": two + b"more\n", "q.md": one + b"more\n"}) == {
        "1.md": "q.md",
        "2.md": "p.md",
    }


def test_history_is_read_on_from_a_commit_or_from_the_start(root: Path) -> None:
    first = commit(root, a=BODY, ü=BODY * 2)
    git(root, "mv", "a.md", "b \n odd.md".replace("\n", "-"))
    second = commit(root)
    assert read_renames(root, since="", until=second).changes[0] == (("", "a.md"), ("", "ü.md"))
    rest = read_renames(root, since=first, until=second)
    assert (rest.changes, rest.continues) == (((("a.md", "b - odd.md"),),), True)
    assert not read_renames(root, since="0" * 40, until=second).continues
    assert len(read_renames(root, since="0" * 40, until=second).changes) == 2
    third = commit(root, ü=None)
    assert read_renames(root, since=second, until=third).removed == {"ü.md": third}


def test_pages_are_read_from_head_in_one_go(root: Path) -> None:
    commit(root, a=BODY, ü="", **{"with blank": "x"})
    (root / "a.md").unlink()
    names = ["a.md", "gone.md", "ü.md", "with blank.md", "line\nbreak.md"]
    assert committed_bytes(root, names) == {"a.md": BODY.encode(), "ü.md": b"", "with blank.md": b"x"}
    assert committed_bytes(root, []) == {}


def test_the_first_of_a_page_is_where_it_began(root: Path) -> None:
    commit(root, a=BODY)
    commit(root, copy=BODY)
    git(root, "mv", "a.md", "z.md")
    seen = first_seen(read_renames(root, since="", until=commit(root)))
    assert seen["z.md"] < seen["copy.md"]
    assert "a.md" not in seen


@pytest.mark.parametrize("how", ["loose", "packed", "detached", "worktree", "unborn", "none"])
def test_the_commit_of_head_wherever_git_keeps_it(
    root: Path, tmp_path_factory: pytest.TempPathFactory, how: str
) -> None:
    if how == "none":
        assert head_commit(tmp_path_factory.mktemp("plain")) == ""
        return
    if how == "unborn":
        assert head_commit(root) == ""
        return
    made = commit(root, a=BODY)
    if how == "packed":
        git(root, "pack-refs", "--all")
    if how == "detached":
        git(root, "checkout", "-q", "--detach")
    if how == "worktree":
        tree = tmp_path_factory.mktemp("trees") / "wt"
        git(root, "worktree", "add", "-q", "-b", "side", str(tree))
        assert head_commit(tree) == made
    assert head_commit(root) == made
