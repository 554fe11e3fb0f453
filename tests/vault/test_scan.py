"""What a scan finds on real disks and in real repositories, with git and without."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from wikimem.errors import Damaged, NotFound
from wikimem.model.page import FileStat
from wikimem.vault.gitcommand import run_git
from wikimem.vault.scan import Scan, scan


@pytest.fixture(params=["git", "without git"])
def vault(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository; in the second run no git is found while it is scanned."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "vault"
    root.mkdir()
    run_git(root, "init", "-q")
    monkeypatch.setenv("WITHOUT_GIT", "1" if request.param == "without git" else "")
    return root


def look(root: Path, exclude: tuple[str, ...] = (), **options: int) -> Scan:
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("WITHOUT_GIT"):
            patch.setenv("PATH", "/nowhere")
        return scan(root, exclude, **options)


def put(root: Path, *paths: str | bytes) -> None:
    for path in paths:
        file = Path(os.fsdecode(os.path.join(os.fsencode(root), os.fsencode(path))))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text\n")


def rules(found: Scan) -> list[tuple[str, str]]:
    return [(problem.rule, problem.path) for problem in found.skipped]


def test_tracked_and_new_pages_are_found_with_their_stat(vault: Path) -> None:
    put(vault, "tracked.md", "sub/new.MARKDOWN", "picture.png", "notes.txt", "md")
    run_git(vault, "add", "tracked.md")
    found = look(vault)
    assert list(found.files) == ["sub/new.MARKDOWN", "tracked.md"]
    seen = (vault / "tracked.md").stat()
    stat = found.files["tracked.md"]
    assert (stat.size, stat.mtime_ns, stat.inode) == (seen.st_size, seen.st_mtime_ns, seen.st_ino)
    assert found.skipped == ()
    assert found.unread == ()


@pytest.mark.parametrize("added", [True, False])
def test_odd_names_are_found_as_they_are_on_disk(vault: Path, added: bool) -> None:
    names = [
        "my_file.md", "my-file.md", "my file.md", "🐘.md", "°.md", "{.md", "----=-.md", "SKILL.md", "Readme.md",
        "readme.md", "inbox/测试文件.md", "品牌圣经.md", "销售论证文档.md", "file with 🔥.md", 'quo"te.md',
        "back\\slash.md",
        "star*.md", "[brackets].md", "why?.md", "a:b.md", " lead.md", "trail .md", "-rf.md", "#tag.md", "!important.md",
        unicodedata.normalize("NFD", "é.md"), unicodedata.normalize("NFC", "ü.md"), "x" * 240 + ".md",
        "d/" * 60 + "deep.md", "a.b.c.md", "~tilde.md", "$HOME.md", ":(top).md", "CON.md", "\u202eevil.md",
    ]  # fmt: skip
    put(vault, *names)
    if added:
        run_git(vault, "add", "-A")
    found = look(vault)
    assert sorted(found.files) == sorted(names)
    assert found.skipped == ()
    assert all((vault / path).is_file() for path in found.files)


def test_what_git_ignores_is_not_found(vault: Path, tmp_path: Path) -> None:
    put(
        vault, "keep.md", "node_modules/x/readme.md", ".venv/a.md", "build/a.md", "sub/local.md", "sub/kept.md",
        "private.md", "logs/a.md", "logs/keep.md", "elsewhere.md",
    )  # fmt: skip
    (vault / ".gitignore").write_text("node_modules/\n.venv\n/build\nlogs/*\n!logs/keep.md\n")
    (vault / "sub" / ".gitignore").write_text("local.md\n")
    (vault / ".git" / "info" / "exclude").write_text("private.md\n")
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "ignore").write_text("elsewhere.md\n")
    assert list(look(vault).files) == ["keep.md", "logs/keep.md", "sub/kept.md"]


def test_a_tracked_page_is_found_although_a_rule_ignores_it(vault: Path) -> None:
    put(vault, "build/tracked.md", "build/new.md", "a.md")
    (vault / ".gitignore").write_text("build/\na.md\n")
    run_git(vault, "add", "-f", "build/tracked.md", "a.md")
    assert list(look(vault).files) == ["a.md", "build/tracked.md"]


def test_a_deleted_page_is_gone_although_git_tracks_it(vault: Path) -> None:
    put(vault, "a.md", "sub/b.md")
    run_git(vault, "add", "-A")
    (vault / "a.md").unlink()
    assert list(look(vault).files) == ["sub/b.md"]


def test_excluded_pages_are_not_found_tracked_or_not(vault: Path) -> None:
    put(
        vault, "templates/Fact.md", "projects/templates/real.md", "drafts/a.md", "drafts/b/c.md", "x.tmp.md",
        "x/y.tmp.md", "keep.tmp.md", "é.md",
    )  # fmt: skip
    (vault / ".wikimemignore").write_bytes(b"\xef\xbb\xbfdrafts/\r\n# comment\r\n\r\n!keep.tmp.md\n\xff\n")
    run_git(vault, "add", "-A")
    found = look(vault, ("/templates/", "*.tmp.md", unicodedata.normalize("NFD", "é.md")))
    assert list(found.files) == ["keep.tmp.md", "projects/templates/real.md"]


def test_hidden_places_below_the_root_are_skipped_but_not_above(vault: Path, tmp_path: Path) -> None:
    put(vault, ".obsidian/a.md", ".trash/b.md", ".wikimem/c.md", "sub/.hidden/d.md", ".e.md", "f.md")
    run_git(vault, "add", "-A")
    hidden = tmp_path / ".claude" / "projects" / "x"
    hidden.parent.mkdir(parents=True)
    vault.rename(hidden)
    assert list(look(hidden).files) == ["f.md"]


def test_nested_repositories_and_submodules_are_not_entered(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md", "clone/readme.md", "deep/er/clone/readme.md")
    for nested in ("clone", "deep/er/clone"):
        run_git(vault / nested, "init", "-q")
    library = tmp_path / "library"
    put(library, "lib.md")
    run_git(library, "init", "-q")
    run_git(library, "add", "-A")
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    run_git(library, *identity, "commit", "-q", "-m", "one")
    allowed = {"GIT_ALLOW_PROTOCOL": "file"}
    run_git(vault, "submodule", "--quiet", "add", str(library), "vendor", env=allowed)
    found = look(vault)
    assert list(found.files) == ["a.md"]
    assert rules(found) == [("nested-repository", path) for path in ("clone", "deep/er/clone", "vendor")]


def test_a_symlinked_root_is_followed(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md", "sub/b.md")
    (tmp_path / "link").symlink_to(vault)
    assert list(look(tmp_path / "link").files) == ["a.md", "sub/b.md"]


def test_links_never_lead_out_of_the_vault_or_round_in_it(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md", "sub/b.md", "notes.txt")
    put(tmp_path, "outside/secret.md", "outside/other.txt")
    links: dict[str, str | Path] = {
        "leaves.md": tmp_path / "outside" / "secret.md",
        "leaves": tmp_path / "outside",
        "up": tmp_path,
        "image.txt": tmp_path / "outside" / "other.txt",
        "again.md": "a.md",
        "sub-again": "sub",
        "sub/round": "..",
        "self.md": "self.md",
        "ping": "pong",
        "pong": "ping",
        "nowhere.md": "missing.md",
        "nowhere": "missing",
        "text.md": "notes.txt",
        "git.md": ".git/config",
    }
    for name, target in links.items():
        (vault / name).symlink_to(target)
    found = look(vault)
    assert list(found.files) == ["a.md", "sub/b.md"]
    assert rules(found) == [
        ("symlink", "git.md"),
        ("link-leaves-vault", "leaves"),
        ("link-leaves-vault", "leaves.md"),
        ("broken-symlink", "nowhere.md"),
        ("broken-symlink", "ping"),
        ("broken-symlink", "pong"),
        ("broken-symlink", "self.md"),
        ("symlink", "text.md"),
        ("link-leaves-vault", "up"),
    ]


def test_a_tracked_folder_replaced_by_a_link_is_not_followed(vault: Path, tmp_path: Path) -> None:
    put(vault, "sub/a.md", "b.md")
    run_git(vault, "add", "-A")
    (vault / "sub").rename(tmp_path / "moved")
    (vault / "sub").symlink_to(tmp_path / "moved")
    found = look(vault)
    assert list(found.files) == ["b.md"]
    assert rules(found) == [("link-leaves-vault", "sub")]


def test_what_is_no_file_is_reported_and_does_not_hang(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault, "a.md", "tracked.md")
    run_git(vault, "add", "-A")
    (vault / "tracked.md").unlink()
    os.mkfifo(vault / "tracked.md")
    os.mkfifo(vault / "pipe.md")
    os.mkfifo(vault / "pipe.txt")
    monkeypatch.chdir(vault)  # the path of a socket is limited to some hundred bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        found = look(vault)
    assert list(found.files) == ["a.md"]
    assert rules(found) == [("not-a-file", name) for name in ("pipe.md", "socket.md", "tracked.md")]


def test_a_folder_named_like_a_page_is_a_folder(vault: Path) -> None:
    put(vault, "odd.md/inner.md")
    assert list(look(vault).files) == ["odd.md/inner.md"]


def test_a_huge_file_is_skipped_by_name(vault: Path) -> None:
    put(vault, "a.md")
    with (vault / "log.md").open("wb") as file:
        file.truncate(50_000_000)
    found = look(vault)
    assert list(found.files) == ["a.md"]
    assert [(problem.path, problem.message[:7]) for problem in found.skipped] == [("log.md", "50.0 MB")]
    assert len(look(vault, max_bytes=60_000_000).files) == 2


def test_names_that_no_page_can_have_are_reported_and_the_rest_is_found(vault: Path) -> None:
    put(vault, "a.md", b"caf\xe9.md", b"f\xfflder/b.md", "line\nbreak.md", "esc\x1b[31m.md", "tab\t/c.md", b"x\xff.txt")
    run_git(vault, "add", "-A")
    found = look(vault)
    assert list(found.files) == ["a.md"]
    assert rules(found) == [
        ("file-name", path) for path in ("caf\\xe9.md", "esc\\x1b[31m.md", "f\\xfflder", "line\\nbreak.md", "tab\\t")
    ]
    assert all(problem.path.isprintable() for problem in found.skipped)


def test_a_vault_below_a_larger_repository_is_seen_alone(vault: Path) -> None:
    put(vault, "outside.md", "docs/memory/a.md", "docs/memory/sub/b.md", "docs/memory/ignored.md", "docs/memory/t.md")
    (vault / ".gitignore").write_text("/docs/memory/ignored.md\n/docs/memory/t.md\n")
    run_git(vault, "add", "-f", "docs/memory/t.md")
    assert list(look(vault / "docs" / "memory").files) == ["a.md", "sub/b.md", "t.md"]


def test_a_folder_that_is_no_repository_is_scanned_too(tmp_path: Path) -> None:
    put(tmp_path, "v/a.md", "v/b/c.md", "v/skip/d.md")
    (tmp_path / "v" / ".gitignore").write_text("skip\n")
    assert list(scan(tmp_path / "v").files) == ["a.md", "b/c.md"]


def test_a_vault_that_the_repository_around_it_ignores_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "outer/private/a.md")
    run_git(tmp_path / "outer", "init", "-q")
    (tmp_path / "outer" / ".gitignore").write_text("private/\n")
    found = scan(tmp_path / "outer" / "private")
    assert found.files == {}
    assert rules(found) == [("ignored-vault", "")]


def test_a_missing_root_is_not_found_rather_than_empty(tmp_path: Path) -> None:
    put(tmp_path, "file.md")
    for name in ("gone", "file.md"):
        with pytest.raises(NotFound, match="is not there"):
            scan(tmp_path / name)


def test_a_damaged_git_index_stops_the_scan(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    run_git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "index").write_bytes(b"no index" * 10)
    with pytest.raises(Damaged):
        scan(tmp_path)


def test_a_scan_changes_nothing(vault: Path) -> None:
    put(vault, "a.md", "b.md")
    run_git(vault, "add", "a.md")
    os.utime(vault / "a.md", ns=(1, 1))
    before = {path: path.stat().st_mtime_ns for path in vault.rglob("*")}
    look(vault, ("/templates/",))
    assert {path: path.stat().st_mtime_ns for path in vault.rglob("*")} == before


def test_a_name_that_git_spells_in_another_case_is_found(tmp_path: Path) -> None:
    # Two hard links stand for what a case-insensitive disk does: git knows one spelling, the folder lists another.
    put(tmp_path, "Readme.md")
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", "Readme.md")
    os.link(tmp_path / "Readme.md", tmp_path / "README.md")
    (tmp_path / ".gitignore").write_text("README.md\nReadMe.md\n")
    put(tmp_path, "ReadMe.md")
    assert list(scan(tmp_path).files) == ["README.md", "Readme.md"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_scanned_and_reported(tmp_path: Path) -> None:
    put(tmp_path, "v/a.md", "v/skip.md")
    run_git(tmp_path / "v", "init", "-q")
    (tmp_path / "v" / ".gitignore").write_text("skip.md\n")
    subprocess.run(["chown", "-R", "12345:12345", str(tmp_path / "v")], check=True)
    found = scan(tmp_path / "v")
    assert list(found.files) == ["a.md"]
    assert [problem.rule for problem in found.skipped] == ["git-ownership"]
    assert "safe.directory" in found.skipped[0].message


UNREADABLE = """
import os, sys
from pathlib import Path
import dulwich.config, dulwich.ignore, dulwich.index  # the standard library may be out of reach for the user below
from wikimem.errors import Unavailable
from wikimem.vault.scan import scan
root = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
found = scan(root)
print(list(found.files), found.unread, [problem.rule for problem in found.skipped])
print(found.is_unread("closed/b.md"), found.is_unread("closed-not/b.md"), found.is_unread("c.md"))
try:
    scan(root / "closed")
except Unavailable as error:
    print("unavailable")
"""


@pytest.mark.parametrize("path", [os.environ.get("PATH", ""), "/nowhere"], ids=["git", "without git"])
def test_what_cannot_be_read_is_reported_and_not_taken_for_gone(path: str) -> None:
    # Not in tmp_path, whose parents only its owner may enter: root has to become somebody else to be shut out.
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder).resolve() / "vault"
        put(vault, "a.md", "closed/b.md", "c.md")
        run_git(vault, "init", "-q")
        run_git(vault, "add", "-A")
        (vault.parent / ".gitconfig").write_text("[safe]\ndirectory = *\n")
        for place in (vault.parent, *vault.parent.rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        (vault / "closed").chmod(0)
        (vault / "c.md").chmod(0)
        environment = dict(os.environ) | {"PATH": path, "HOME": folder}
        done = subprocess.run(
            [sys.executable, "-c", UNREADABLE, str(vault)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            check=True,
        )
        (vault / "closed").chmod(0o755)
    assert done.stdout.splitlines() == [
        "['a.md'] ('c.md', 'closed') ['unreadable', 'unreadable']",
        "True False True",
        "unavailable",
    ]


# Resting on an earlier scan


class Repeated:
    """Scans a vault again and again, each resting on the one before, and holds each against a scan from nothing."""

    def __init__(self, root: Path, exclude: tuple[str, ...] = ()) -> None:
        self.root = root
        self.exclude = exclude
        self.standing = ""
        self.known: dict[str, FileStat] = {}

    def look(self) -> list[str]:
        time.sleep(0.06)  # what changed within a tick of the clock is not rested on
        found = scan(self.root, self.exclude, known=self.known, standing=self.standing)
        anew = scan(self.root, self.exclude)
        assert (found.files, found.skipped, found.unread) == (anew.files, anew.skipped, anew.unread)
        self.known, self.standing = found.files, found.standing or self.standing
        return list(found.files)


@pytest.fixture
def repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repeated:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "vault"
    root.mkdir()
    run_git(root, "init", "-q")
    return Repeated(root)


def test_a_scan_that_rests_on_another_does_not_start_git(repeated: Repeated, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repeated.root, "a.md", "sub/b.md", "drafts/c.md", "notes.txt", ".gitignore")
    (repeated.root / ".gitignore").write_text("drafts/\n")
    assert repeated.look() == ["a.md", "sub/b.md"]
    assert repeated.look() == ["a.md", "sub/b.md"]
    (repeated.root / "a.md").write_text("another text\n")
    monkeypatch.setattr("wikimem.vault.pagerules.run_git", None)
    found = scan(repeated.root, known=repeated.known, standing=repeated.standing)
    assert list(found.files) == ["a.md", "sub/b.md"]
    assert found.files["a.md"] != repeated.known["a.md"]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / ".gitignore").write_text("a.md\n"),
        lambda root: (root / "sub" / ".gitignore").write_text("*.md\n"),
        lambda root: (root / "sub" / ".gitignore").write_text("*\n!b.md\n"),
        lambda root: (root / ".git" / "info" / "exclude").write_text("a.md\n"),
        lambda root: (root / ".wikimemignore").write_text("sub\n"),
        lambda root: run_git(root, "config", "core.excludesFile", str(root.parent / "mine")),
        lambda root: (root.parent / "config" / "git" / "ignore").write_text("a.md\n"),
        lambda root: (root / "ignored" / "back.md").rename(root / "back.md"),
        lambda root: (root / "ignored" / ".gitignore").unlink(),
        lambda root: (root / "ignored" / ".gitignore").write_text("*\n!back.md\n"),
        lambda root: (root / "empty" / "note.md").write_text("x"),
        lambda root: (root / "empty" / "deep" / "note.md").write_text("x"),
        lambda root: (root / "logs" / "note.md").write_text("x"),
        lambda root: (root / "whole" / "note.md").write_text("x"),
        lambda root: run_git(root, "add", "-f", "ignored/back.md"),
        lambda root: run_git(root, "rm", "-q", "--cached", "tracked.log.md"),
        lambda root: (root / "a.md").rename(root / "c.log.md"),
        lambda root: run_git(root / "sub", "init", "-q"),
        lambda root: ((root / "a.md").unlink(), (root / "a.md").symlink_to("/etc/hosts")),
        lambda root: ((root / "a.md").unlink(), os.mkfifo(root / "a.md")),
        lambda root: ((root / "a.md").unlink(), (root / "a.md").mkdir(), (root / "a.md" / "x.md").write_text("x")),
        lambda root: (root / "a.md").write_bytes(b"x" * 10_000_001),
        lambda root: shutil.rmtree(root / "sub"),
        lambda root: shutil.rmtree(root / ".git"),
    ],
)
def test_a_scan_that_rests_on_another_sees_what_changed(repeated: Repeated, change: Callable[[Path], object]) -> None:
    root = repeated.root
    (root.parent / "config" / "git").mkdir(parents=True)
    (root.parent / "mine").write_text("b.md\n")
    put(root, "a.md", "sub/b.md", "sub/deep/d.md", "ignored/back.md", "tracked.log.md", "other.log.md")
    put(root, "logs/one.log.md", "whole/deep/two.md")
    (root / "empty" / "deep").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log.md\nwhole/\n")
    (root / "ignored" / ".gitignore").write_text("*\n")
    run_git(root, "add", "-f", "tracked.log.md", "a.md")
    before = repeated.look()
    assert before == ["a.md", "sub/b.md", "sub/deep/d.md", "tracked.log.md"]
    assert repeated.look() == before
    change(root)
    changed = repeated.look()
    assert repeated.look() == changed
