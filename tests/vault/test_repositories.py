"""Every operation in every kind of repository: it works and harms nothing, or it is refused by name beforehand."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Conflict, NotFound, Refused, Unavailable, WikimemError
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init, trust
from wikimem.vault import repository as repository_module
from wikimem.wiki import Caller, open_wiki

Home = Any

BY_NAME = {operation.name: operation for operation in OPERATIONS}
NAME = "ops/Harbour.md"
PAGE = "---\ntitle: Harbour\ntags: [sea]\n---\n# Harbour\n\nThe ferry leaves at nine.\n"
CRLF = PAGE.replace("\n", "\r\n")
NEW = "global/facts/Tide table lives in the shed.md"


def git(folder: Path, *args: str, check: bool = True) -> str:
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, check=check)
    return done.stdout.rstrip("\n")


def run(root: Path, operation: str, **arguments: Any) -> Any:
    wiki = open_wiki(str(root), cwd=root, caller=Caller(agent=None, cwd=root))
    try:
        return BY_NAME[operation].run(wiki, arguments)
    finally:
        wiki.close()


def put(root: Path, path: str, content: str | bytes = PAGE) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content.encode() if isinstance(content, str) else content)


def commit_all(root: Path, message: str = "mine") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def stored(root: Path, path: str = NAME) -> bytes:
    return subprocess.run(["git", "-C", str(root), "show", f"HEAD:{path}"], capture_output=True, check=True).stdout


def subjects(root: Path, count: int = 10) -> list[str]:
    return git(root, "log", f"-{count}", "--format=%s").split("\n")


def everything(folder: Path) -> str:
    """A digest of every name, mode and byte below the folder, links not followed."""
    digest = hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*files, *folders]):
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            digest.update(f"{path}|{mode}|".encode("utf-8", "surrogateescape"))
            if os.path.islink(path):
                digest.update(os.readlink(path).encode())
            elif os.path.isfile(path):
                digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def tour(root: Path, page: str = NAME, top: Path | None = None) -> None:
    """remember, edit, read, list, search, log, status and forget, each with what it must leave behind in git."""
    top = top or root
    before = git(top, "status", "--porcelain")
    remembered = run(root, "remember", title="Tide table lives in the shed", text="Behind the blue door.")
    edited = run(root, "edit", page=page, replace=["at nine", "at ten"])
    for done in (remembered, edited):
        assert len(git(top, "show", "--name-only", "--format=", done.commit).splitlines()) == 1
    assert "at ten" in run(root, "read", page=page).body
    listed = [row.path for row in run(root, "list").pages]
    assert page in listed
    assert NEW in listed
    assert NEW in [hit.path for hit in run(root, "search", query="blue door tide").hits]
    assert run(root, "log", page=page).entries[0].commit == edited.commit
    status = run(root, "status").git
    assert status.operation is None
    assert status.commit == edited.commit
    run(root, "forget", page=NEW)
    assert not (root / NEW).exists()
    assert git(top, "status", "--porcelain") == before
    fsck = subprocess.run(
        ["git", "-C", str(top), "fsck", "--strict", "--no-dangling"], capture_output=True, check=False
    )
    assert fsck.returncode == 0, fsck.stderr


@pytest.fixture
def place(home: Home, tmp_path: Path) -> Path:
    """A folder for repositories, with a user who lets git clone from it."""
    with (home.path / ".gitconfig").open("a") as file:
        file.write('[protocol "file"]\n\tallow = always\n')
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def make(place: Path, name: str = "repository", *options: str, page: str | bytes = PAGE, attributes: str = "") -> Path:
    root = place / name
    git(place, "init", "-q", "-b", "main", *options, str(root))
    if attributes:
        put(root, ".gitattributes", attributes + "\n")
    put(root, NAME, page)
    put(root, "Other.md", "other\n")
    commit_all(root)
    return root


@pytest.fixture
def root(place: Path) -> Path:
    return make(place)


# Kinds in which everything works


def subfolder(place: Path) -> tuple[Path, Path]:
    top = place / "outer"
    git(place, "init", "-q", "-b", "main", str(top))
    put(top, f"deep/down/{NAME}")
    commit_all(top)
    return top / "deep/down", top


def linked_worktree(place: Path) -> tuple[Path, Path]:
    git(make(place), "worktree", "add", "-q", "-b", "side", str(place / "tree"))
    return place / "tree", place / "tree"


def worktree_of_a_bare_repository(place: Path) -> tuple[Path, Path]:
    git(place, "clone", "-q", "--bare", str(make(place)), str(place / "bare.git"))
    git(place / "bare.git", "worktree", "add", "-q", "-b", "side", str(place / "tree"))
    return place / "tree", place / "tree"


def submodule(place: Path) -> tuple[Path, Path]:
    outer = make(place, "outer")
    git(outer, "submodule", "add", "-q", str(make(place)), "deep")
    commit_all(outer)
    return outer / "deep", outer / "deep"


def sparse(*options: str) -> Callable[[Path], tuple[Path, Path]]:
    def build(place: Path) -> tuple[Path, Path]:
        root = make(place)
        put(root, "far/Away.md", "far away\n")
        commit_all(root)
        git(root, "sparse-checkout", "init", *options)
        git(root, "sparse-checkout", "set", "ops" if "--cone" in options else "/ops/")
        assert not (root / "far").exists()
        return root, root

    return build


def clone(*options: str) -> Callable[[Path], tuple[Path, Path]]:
    def build(place: Path) -> tuple[Path, Path]:
        source = make(place)
        put(source, "Other.md", "other again\n")
        commit_all(source, "again")
        git(source, "config", "uploadpack.allowFilter", "true")
        git(place, "clone", "-q", *options, f"file://{source}", str(place / "clone"))
        return place / "clone", place / "clone"

    return build


def moved_git_folder(place: Path) -> tuple[Path, Path]:
    root = make(place)
    shutil.move(root / ".git", place / "elsewhere")
    (root / ".git").write_text("gitdir: ../elsewhere\n")
    return root, root


def separate_git_dir(place: Path) -> tuple[Path, Path]:
    root = make(place, "repository", "--separate-git-dir", str(place / "elsewhere"))
    return root, root


def symlinked_root(place: Path) -> tuple[Path, Path]:
    (place / "link").symlink_to(make(place))
    return place / "link", place / "repository"


def prepared(*commands: tuple[str, ...]) -> Callable[[Path], tuple[Path, Path]]:
    def build(place: Path) -> tuple[Path, Path]:
        root = make(place)
        for command in commands:
            git(root, *command)
        return root, root

    return build


def replaced_commit(place: Path) -> tuple[Path, Path]:
    root = make(place)
    put(root, "Other.md", "other again\n")
    commit_all(root, "again")
    git(root, "replace", "HEAD", git(root, "commit-tree", "-m", "another history", "HEAD^{tree}"))
    return root, root


WORKING: dict[str, Callable[[Path], tuple[Path, Path]]] = {
    "plain": prepared(),
    "subfolder": subfolder,
    "linked worktree": linked_worktree,
    "worktree of a bare repository": worktree_of_a_bare_repository,
    "submodule": submodule,
    "sparse, cone": sparse("--cone"),
    "sparse, patterns": sparse("--no-cone"),
    "sparse index": sparse("--cone", "--sparse-index"),
    "split index": prepared(("update-index", "--split-index")),
    "index version 4": prepared(("update-index", "--index-version=4")),
    "shallow": clone("--depth=1"),
    "partial, without blobs": clone("--filter=blob:none"),
    "alternates": clone("--shared", "--no-local"),
    "packed": prepared(("gc", "-q"), ("pack-refs", "--all"), ("multi-pack-index", "write")),
    "relative gitdir": moved_git_folder,
    "separate git dir": separate_git_dir,
    "symlinked root": symlinked_root,
    "replace refs": replaced_commit,
    "branch named like a page": prepared(("checkout", "-q", "-b", NAME)),
    "branch named HEAD": prepared(("update-ref", "refs/heads/HEAD", "HEAD"), ("tag", "main")),
    "several remotes": prepared(
        ("remote", "add", "origin", "git@example.org:a/b.git"), ("remote", "add", "up", "https://example.org/b")
    ),
    "settings of a worktree": prepared(
        ("config", "core.repositoryFormatVersion", "1"), ("config", "extensions.worktreeConfig", "true")
    ),
}


@pytest.mark.parametrize("kind", WORKING)
def test_everything_works(place: Path, kind: str) -> None:
    root, top = WORKING[kind](place)
    before = git(top, "status", "--porcelain")
    init(root, cwd=root)
    assert git(top, "status", "--porcelain") == before
    tour(root, top=top)


SETTINGS = (
    *("core.ignoreCase=true", "core.precomposeUnicode=true", "core.symlinks=false", "core.fileMode=false"),
    *("core.fsmonitor=/bin/false", "core.checkStat=minimal", "core.untrackedCache=true", "core.abbrev=4"),
    *("core.sharedRepository=group", "core.commentChar=W", "core.attributesFile=/nonexistent"),
    *("feature.manyFiles=true", "diff.external=/bin/false", "diff.renames=copies", "diff.relative=true"),
    *("format.pretty=oneline", "i18n.logOutputEncoding=ISO-8859-1", "log.showSignature=true", "log.follow=true"),
    *("status.showUntrackedFiles=no", "trailer.separators=:=", "user.useConfigOnly=true", "grep.patternType=perl"),
)


@pytest.mark.parametrize("at", range(4))
def test_settings_of_a_person_change_nothing(root: Path, at: int) -> None:
    init(root, cwd=root)
    for setting in SETTINGS[at::4]:
        git(root, "config", *setting.split("=", 1))
    run(root, "remember", title="Über dem Fluß", type="lesson")
    assert run(root, "log", op="remember").entries[0].subject == "remember(lesson): Über dem Fluß"
    tour(root)


def test_an_order_file_that_is_not_there_does_not_hide_the_log(root: Path) -> None:
    init(root, cwd=root)
    git(root, "config", "diff.orderFile", "/nonexistent")
    assert run(root, "log").entries[0].pages == ("Other.md", NAME)


def test_a_message_of_any_kind_is_one_entry_of_the_log(root: Path) -> None:
    init(root, cwd=root)
    put(root, NAME, PAGE + "more\n")
    commit_all(root, "odd \x1e and \x1f\n\n<x> \x1e\n\nWikimem-Op: person\n")
    entries = run(root, "log").entries
    assert [(entry.op, entry.pages) for entry in entries] == [("person", (NAME,)), (None, ("Other.md", NAME))]
    assert entries[0].subject == "odd \x1e and \x1f"


def test_two_worktrees_of_one_repository_are_two_vaults(root: Path, place: Path) -> None:
    side = place / "side"
    git(root, "worktree", "add", "-q", "-b", "side", str(side))
    for folder in (root, side):
        init(folder, cwd=folder)
    run(root, "remember", title="Only on main")
    run(side, "remember", title="Only on the side")
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    run(side, "edit", page=NAME, replace=["nine", "eleven"])
    for folder, mine, other in ((root, "main", "the side"), (side, "the side", "main")):
        assert f"Only on {mine}" in [page.title for page in run(folder, "list").pages]
        assert f"remember(fact): Only on {other}" not in subjects(folder)
        assert git(folder, "status", "--porcelain") == ""
    assert git(root, "merge-base", "main", "side") == git(root, "rev-parse", "main~2")


def test_a_repository_without_commits_gets_its_first(place: Path) -> None:
    root = place / "repository"
    git(place, "init", "-q", "-b", "main", str(root))
    put(root, NAME)
    put(root, "Unsaved.md", "not yet\n")
    init(root, cwd=root)
    assert run(root, "log").entries == ()
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert subjects(root) == ["edit: Harbour (replace a passage)", f"edit: {NAME} (by hand)"]
    assert git(root, "status", "--porcelain") == "?? Unsaved.md"


def test_a_branch_that_does_not_exist_yet_is_begun(root: Path) -> None:
    init(root, cwd=root)
    git(root, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    run(root, "remember", title="A fresh start")
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD") == "global/facts/A fresh start.md"
    assert git(root, "status", "--porcelain") == f"A  Other.md\nA  {NAME}"
    assert subjects(root) == ["remember(fact): A fresh start"]


# Kinds that are refused before anything is written


def config(root: Path, **values: str) -> Path:
    for name, value in values.items():
        git(root, "config", name.replace("_", "."), value)
    return root


def with_work_tree_elsewhere(place: Path) -> Path:
    root = make(place)
    (place / "other").mkdir()
    return config(root, core_worktree=str(place / "other"))


def broken_link(place: Path) -> Path:
    root = make(place) / "vault"
    put(root, NAME)
    (root / ".git").write_text("gitdir: /nonexistent/worktrees/vault\n")
    return root


def another_owner(place: Path) -> Path:
    if os.geteuid() != 0:
        pytest.skip("changing an owner needs root")
    root = make(place)
    for folder, folders, files in os.walk(root):
        for name in (folder, *(os.path.join(folder, name) for name in [*folders, *files])):
            os.chown(name, 12345, 12345)
    return root


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "sha256": (lambda place: make(place, "repository", "--object-format=sha256"), "objectformat = sha256"),
    "reftable": (
        lambda place: config(make(place), core_repositoryFormatVersion="1", extensions_refStorage="reftable"),
        "reftable",
    ),
    "unknown extension": (
        lambda place: config(make(place), core_repositoryFormatVersion="1", extensions_fancy="1"),
        "fancy",
    ),
    "partial clone of an old git": (
        lambda place: config(make(place), core_repositoryFormatVersion="1", extensions_partialClone="origin"),
        "partialclone",
    ),
    "unknown version": (lambda place: config(make(place), core_repositoryFormatVersion="7"), "version"),
    "core.bare": (lambda place: config(make(place), core_bare="true"), "bare repository by its own settings"),
    "work tree elsewhere": (with_work_tree_elsewhere, "work tree elsewhere"),
    "link that leads nowhere": (broken_link, "leads to no repository"),
    "another owner": (another_owner, "belongs to another user"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_supported_is_refused_by_name(place: Path, kind: str) -> None:
    build, words = REFUSED[kind]
    root = build(place)
    before = everything(root)
    with pytest.raises(Refused, match=f"(?i){words}") as caught:
        init(root, cwd=root)
    assert caught.value.hint
    assert everything(root) == before
    with pytest.raises(WikimemError):
        run(root, "list")


@pytest.mark.parametrize("kind", sorted(REFUSED.keys() - {"sha256", "link that leads nowhere"}))
def test_a_vault_whose_repository_became_such_a_kind_is_not_written(root: Path, place: Path, kind: str) -> None:
    init(root, cwd=root)
    shutil.move(root, place / "aside")
    REFUSED[kind][0](place)
    shutil.copytree(place / "aside" / ".wikimem", root / ".wikimem")
    run_before = (root / NAME).read_bytes()
    for operation, arguments in (("remember", {"title": "x"}), ("edit", {"page": NAME, "set": ["a=b"]})):
        with pytest.raises(Refused) as caught:
            run(root, operation, **arguments)
        assert caught.value.hint
    assert (root / NAME).read_bytes() == run_before
    assert not (root / "global").exists()


def test_a_bare_repository_is_no_vault(place: Path) -> None:
    git(place, "init", "-q", "--bare", str(place / "bare.git"))
    with pytest.raises(WikimemError, match="bare repository") as caught:
        init(place / "bare.git", cwd=place)
    assert "Clone it" in caught.value.hint


def test_the_repository_of_another_owner_works_once_it_is_declared_safe(place: Path) -> None:
    root = another_owner(place)
    git(place, "config", "--global", "--add", "safe.directory", str(root))
    init(root, cwd=root)
    tour(root)


# History that is not there


def test_what_a_partial_clone_lacks_is_named(place: Path) -> None:
    root, _ = clone("--filter=blob:none")(place)
    init(root, cwd=root)
    old = git(root, "rev-parse", "HEAD~1")
    with pytest.raises(Unavailable, match="partial clone") as caught:
        run(root, "read", page="Other.md", at=old)
    command = caught.value.hint.split("`")[1].split()
    subprocess.run(command, check=True, capture_output=True)
    assert run(root, "read", page="Other.md", at=old).body == "other\n"


def test_the_log_of_a_clone_without_trees_says_what_to_do(place: Path) -> None:
    root, _ = clone("--filter=tree:0")(place)
    init(root, cwd=root)
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    with pytest.raises(Unavailable, match="partial clone") as caught:
        run(root, "log")
    subprocess.run(caught.value.hint.split("`")[1].split(), check=True, capture_output=True)
    assert len(run(root, "log").entries) == 3


# Hooks and signing


def test_hooks_are_not_run_and_that_is_said(root: Path, place: Path) -> None:
    init(root, cwd=root)
    log = place / "log"
    own = place / "hooks"
    own.mkdir()
    for folder in (root / ".git/hooks", own):
        for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
            (folder / hook).write_text(f"#!/bin/sh\necho {hook} >>{log}\nexit 1\n")
            (folder / hook).chmod(0o755)
    for folder in (None, own):
        if folder:
            git(root, "config", "core.hooksPath", str(folder))
        assert run(root, "remember", title=f"In spite of {folder}").commit
        assert any("none of the repository's hooks (here: pre-commit" in note for note in run(root, "status").notes)
    assert not log.exists()


def test_signing_is_not_asked_for_and_that_is_said_at_the_start(root: Path) -> None:
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", "/bin/false")
    assert any("not signed" in note for note in init(root, cwd=root).notes)
    assert any("not signed" in note for note in trust(root, cwd=root).notes)
    done = run(root, "remember", title="Unsigned")
    assert "gpgsig" not in git(root, "cat-file", "commit", done.commit)
    assert any("not signed" in note for note in run(root, "status").notes)


# What git converts


def program(place: Path, name: str, lines: str) -> str:
    path = place / name
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return str(path)


def with_filter(place: Path, clean: str, smudge: str) -> Path:
    git(place, "config", "--global", "filter.own.clean", clean)
    git(place, "config", "--global", "filter.own.smudge", smudge)
    git(place, "config", "--global", "filter.own.required", "true")
    root = make(place, attributes="*.md filter=own")
    init(root, cwd=root)
    return root


def test_an_encrypting_filter_keeps_plain_text_out_of_git(place: Path) -> None:
    turn = program(place, "turn", "tr A-Za-z N-ZA-Mn-za-m")
    root = with_filter(place, turn, turn)
    tour(root)
    assert b"Gur sreel yrnirf ng gra." in stored(root)
    assert "leaves at nine" in run(root, "read", page=NAME, at="HEAD~2").body
    shown = subprocess.run(["git", "-C", str(root), "log", "-p", "--format=%H"], capture_output=True, check=True)
    assert b"ferry" not in shown.stdout


def test_a_filter_that_stores_pointers_gets_pointers(place: Path) -> None:
    store = place / "store"
    store.mkdir()
    clean = program(
        place,
        "clean",
        f'cat >"{store}/$$"; h=$(sha256sum "{store}/$$" | cut -d" " -f1); mv "{store}/$$" "{store}/$h"\n'
        "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\n' $h",
    )
    root = with_filter(place, clean, program(place, "smudge", f"cat \"{store}/$(sed -n 's/oid sha256://p')\""))
    tour(root)
    assert stored(root).startswith(b"version https://git-lfs")
    assert "leaves at nine" in run(root, "read", page=NAME, at="HEAD~2").body


def test_an_identity_filter_changes_nothing(place: Path) -> None:
    root = with_filter(place, "cat", "cat")
    tour(root)
    assert stored(root) == PAGE.replace("nine", "ten").encode()


def test_a_filter_that_fails_refuses_the_write_and_nothing_else(place: Path) -> None:
    root = with_filter(place, "cat", "cat")
    git(place, "config", "--global", "filter.own.clean", "false")
    before = everything(root)
    for operation, arguments in (("remember", {"title": "x"}), ("edit", {"page": NAME, "replace": ["nine", "ten"]})):
        with pytest.raises(Refused, match="clean filter 'own' failed") as caught:
            run(root, operation, **arguments)
        assert "check-attr" in caught.value.hint
    shutil.rmtree(root / ".git" / "wikimem", ignore_errors=True)
    (root / ".git" / "wikimem.lock").unlink(missing_ok=True)
    assert everything(root) == before
    assert "nine" in run(root, "read", page=NAME).body
    assert run(root, "search", query="ferry").hits
    assert any("clean filter 'own' failed" in note for note in run(root, "status").notes)


@pytest.mark.parametrize(
    ("attributes", "setting", "page", "in_git"),
    [
        ("*.md text eol=crlf", "", CRLF, PAGE),
        ("*.md text eol=lf", "", PAGE, PAGE),
        ("* text=auto", "", CRLF, PAGE),
        ("*.md -text", "core.autocrlf=true", CRLF, CRLF),
        ("", "core.autocrlf=true", CRLF, PAGE),
        ("", "core.autocrlf=true", PAGE, PAGE),
        ("", "core.autocrlf=input", CRLF, PAGE),
        ("", "core.autocrlf=false", CRLF, CRLF),
    ],
)
def test_line_endings_are_what_they_were_on_disk_and_in_git(
    place: Path, attributes: str, setting: str, page: str, in_git: str
) -> None:
    if setting:
        git(place, "config", "--global", *setting.split("=", 1))
    root = make(place, page=page, attributes=attributes)
    init(root, cwd=root)
    tour(root)
    assert stored(root) == in_git.replace("nine", "ten").encode()
    assert (root / NAME).read_bytes() == page.replace("nine", "ten").encode()


def test_a_conversion_that_git_itself_refuses_is_refused(place: Path) -> None:
    root = make(place, page=PAGE.replace("\n", "\r\n", 3))
    init(root, cwd=root)
    git(root, "config", "core.autocrlf", "true")
    git(root, "config", "core.safecrlf", "true")
    before = (root / NAME).read_bytes()
    with pytest.raises(Refused, match="LF would be replaced by CRLF"):
        run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert (root / NAME).read_bytes() == before


def test_a_page_in_another_encoding_is_read_and_not_written(place: Path) -> None:
    page = ("\ufeff" + PAGE).encode("utf-16-le")
    root = make(place, page=page, attributes="ops/*.md working-tree-encoding=UTF-16LE-BOM eol=lf")
    init(root, cwd=root)
    assert "ferry" in run(root, "read", page=NAME).body
    with pytest.raises(WikimemError, match="not UTF-8"):
        run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert (root / NAME).read_bytes() == page
    assert git(root, "status", "--porcelain") == ""


def test_an_expanded_ident_is_not_stored(place: Path) -> None:
    root = make(place, page=PAGE + "$Id$\n", attributes="*.md ident")
    (root / NAME).unlink()
    git(root, "checkout", "--", NAME)
    assert b"$Id: " in (root / NAME).read_bytes()
    init(root, cwd=root)
    tour(root)
    assert stored(root).endswith(b"$Id$\n")
    assert b"$Id: " in (root / NAME).read_bytes()


# What a person has set apart


@pytest.mark.parametrize("mark", ["assume-unchanged", "skip-worktree"])
@pytest.mark.parametrize("change", ["private\n", ""])
def test_a_page_that_git_is_told_not_to_look_at_is_refused(root: Path, mark: str, change: str) -> None:
    init(root, cwd=root)
    git(root, "update-index", f"--{mark}", NAME)
    put(root, NAME, PAGE + change)
    tags = git(root, "ls-files", "-v")
    with pytest.raises(Refused, match=f"marked {mark}") as caught:
        run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert f"--no-{mark}" in caught.value.hint
    with pytest.raises(Refused, match=f"marked {mark}"):
        run(root, "forget", page=NAME)
    assert (root / NAME).read_text() == PAGE + change
    assert git(root, "ls-files", "-v") == tags
    assert subjects(root) == ["mine"]
    git(root, "update-index", f"--no-{mark}", NAME)
    run(root, "edit", page=NAME, replace=["nine", "ten"])


def test_a_page_outside_a_sparse_checkout_is_not_overwritten(place: Path) -> None:
    root, _ = sparse("--cone")(place)
    git(root, "sparse-checkout", "add", "global/facts")
    init(root, cwd=root)
    run(root, "remember", title="Kept elsewhere", text="The first.")
    git(root, "status")  # enters in the index when the file was written, without which git leaves it there
    git(root, "sparse-checkout", "set", "ops")
    assert not (root / "global").exists()
    with pytest.raises(Refused, match="skip-worktree"):
        run(root, "remember", title="Kept elsewhere", text="The second.")
    assert b"The first." in stored(root, "global/facts/Kept elsewhere.md")
    assert git(root, "status", "--porcelain") == ""


def test_a_page_that_was_only_announced_is_committed_as_the_persons(root: Path) -> None:
    init(root, cwd=root)
    put(root, "New.md")
    put(root, "Later.md", "later\n")
    git(root, "add", "-N", "New.md", "Later.md")
    run(root, "edit", page="New.md", replace=["nine", "ten"])
    assert subjects(root) == ["edit: Harbour (replace a passage)", "edit: New.md (by hand)", "mine"]
    assert git(root, "status", "--porcelain") == " A Later.md"


def test_a_tracked_page_that_git_ignores_is_a_page(root: Path) -> None:
    put(root, ".git/info/exclude", "ops/\n")
    init(root, cwd=root)
    tour(root)


def test_modes_are_kept(root: Path) -> None:
    init(root, cwd=root)
    (root / NAME).chmod(0o755)
    commit_all(root, "runs")
    put(root, "New.md")
    (root / "New.md").chmod(0o755)
    put(root, "Private.md")
    (root / "Private.md").chmod(0o600)
    for page in (NAME, "New.md", "Private.md"):
        run(root, "edit", page=page, replace=["nine", "ten"])
    modes = {line.split("\t")[1]: line[:6] for line in git(root, "ls-tree", "-r", "HEAD").split("\n")}
    assert (modes[NAME], modes["New.md"], modes["Private.md"]) == ("100755", "100755", "100644")
    assert [oct((root / page).stat().st_mode)[-3:] for page in (NAME, "New.md", "Private.md")] == ["755", "755", "600"]
    assert git(root, "status", "--porcelain") == ""


def test_a_mode_that_is_staged_or_unsaved_is_not_taken_back(root: Path) -> None:
    init(root, cwd=root)
    git(root, "update-index", "--chmod=+x", NAME)
    with pytest.raises(Refused, match="staged with another mode"):
        run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert git(root, "ls-files", "--stage", NAME).startswith("100755")
    git(root, "update-index", "--chmod=-x", NAME)
    (root / NAME).chmod(0o755)
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    assert git(root, "ls-tree", "HEAD", NAME).startswith("100644")
    assert git(root, "diff", "--summary") == f" mode change 100644 => 100755 {NAME}"


# What git is busy with


def conflicting(root: Path) -> None:
    git(root, "checkout", "-qb", "side")
    put(root, "Other.md", "side\n")
    commit_all(root, "side")
    git(root, "checkout", "-q", "main")
    put(root, "Other.md", "main\n")
    commit_all(root, "main")
    put(root, "Other.md", "main again\n")
    commit_all(root, "main again")


RESOLVED = (("add", "Other.md"), ("commit", "-qm", "resolved"))
BUSY: dict[str, tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]] = {
    "detached HEAD": ((("checkout", "-q", "--detach"),), (("checkout", "-q", "main"),)),
    "merge": ((("merge", "side"),), RESOLVED),
    "merge, swept up": ((("merge", "side"),), (("add", "-A"), ("commit", "-qm", "resolved"))),
    "merge, given up": ((("merge", "side"),), (("merge", "--abort"),)),
    "cherry-pick": ((("cherry-pick", "side"),), RESOLVED),
    "revert": ((("revert", "--no-edit", "HEAD~1"),), (("revert", "--abort"),)),
    "merge, reset": ((("merge", "side"),), (("reset", "-q", "--hard"),)),
    "rebase, given up": ((("rebase", "side"),), (("rebase", "--abort"),)),
    "rebase": (
        (("rebase", "--onto", "side", "HEAD~1"),),
        (
            ("add", "Other.md"),
            # Without which git continues no rebase while a tracked file has changes.
            ("stash", "push", "-q", "--", NAME),
            ("-c", "core.editor=true", "rebase", "--continue"),
            ("stash", "pop", "-q"),
        ),
    ),
    "git am": ((("am", "../side.patch"),), (("am", "--abort"),)),
    "bisect": ((("bisect", "start", "HEAD", "HEAD~2"),), (("bisect", "reset"),)),
}


@pytest.mark.parametrize("kind", BUSY)
def test_writes_wait_for_git_and_are_committed_afterwards(root: Path, kind: str) -> None:
    init(root, cwd=root)
    conflicting(root)
    begin, end = BUSY[kind]
    (root.parent / "side.patch").write_text(git(root, "format-patch", "-1", "side", "--stdout") + "\n")
    for command in begin:
        git(root, *command, check=False)
    assert kind.split(",")[0] == run(root, "status").git.operation
    head = git(root, "rev-parse", "HEAD")
    for title in ("Kept", "Dropped"):
        done = run(root, "remember", title=title)
        assert done.commit is None
        assert any(kind.split(",")[0] in note for note in done.notes)
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    run(root, "edit", page=NAME, replace=["at ten", "at eleven"])
    run(root, "edit", page="Kept", text="More of it.", mode="append")
    run(root, "forget", page="Dropped")
    assert git(root, "rev-parse", "HEAD") == head
    assert [hit.title for hit in run(root, "search", query="kept").hits][:1] == ["Kept"]
    if "<<<<<<<" in (root / "Other.md").read_text():
        with pytest.raises((Refused, Conflict)):
            run(root, "edit", page="Other.md", text="x", mode="append")
        put(root, "Other.md", "both\n")
    for command in end:
        git(root, *command)
    run(root, "remember", title="Afterwards")
    assert git(root, "status", "--porcelain") == ""
    assert stored(root) == PAGE.replace("nine", "eleven").encode()
    pages = git(root, "ls-tree", "-r", "--name-only", "HEAD", "--", "global").split("\n")
    assert pages == ["global/facts/Afterwards.md", "global/facts/Kept.md"]
    assert b"More of it." in stored(root, "global/facts/Kept.md")
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_a_page_that_is_unmerged_without_markers_is_refused(root: Path) -> None:
    init(root, cwd=root)
    git(root, "checkout", "-qb", "side")
    git(root, "rm", "-q", NAME)
    git(root, "commit", "-qm", "removed")
    git(root, "checkout", "-q", "main")
    put(root, NAME, PAGE + "changed\n")
    commit_all(root, "changed")
    git(root, "merge", "side", check=False)
    for operation, arguments in (("edit", {"replace": ["nine", "ten"]}), ("forget", {})):
        with pytest.raises(Conflict, match="unresolved merge conflict") as caught:
            run(root, operation, page=NAME, **arguments)
        assert "git status" in caught.value.hint
    assert (root / NAME).read_text() == PAGE + "changed\n"


def test_a_lock_that_git_left_behind_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init(root, cwd=root)
    monkeypatch.setattr(repository_module, "INDEX_WAIT_S", 0.2)
    (root / ".git/index.lock").write_text("")
    with pytest.raises(Conflict) as caught:
        run(root, "remember", title="Held up")
    assert "index.lock" in caught.value.hint
    assert "\n" not in caught.value.message
    assert not (root / "global").exists()
    (root / ".git/index.lock").unlink()
    tour(root)


# Where wikimem is called from


def test_variables_of_a_hook_point_nowhere_else(root: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoy = make(place, "decoy")
    init(root, cwd=root)
    before = everything(decoy)
    with monkeypatch.context() as patch:
        for name, value in (
            ("DIR", ".git"),
            ("WORK_TREE", ""),
            ("INDEX_FILE", ".git/index"),
            ("OBJECT_DIRECTORY", "x"),
        ):
            patch.setenv(f"GIT_{name}", str(decoy / value))
        patch.setenv("GIT_PREFIX", "ops/")
        patch.setenv("GIT_NAMESPACE", "other")
        done = run(root, "remember", title="From within a hook")
        run(root, "edit", page=NAME, replace=["nine", "ten"])
        assert run(root, "log").entries[1].commit == done.commit
        assert run(root, "status").git.dirty == 0
    assert everything(decoy) == before
    assert git(root, "status", "--porcelain") == ""
    assert subjects(root)[1] == "remember(fact): From within a hook"


# What lies in the vault and is no page of it


def test_links_and_pipes_are_left_alone(root: Path, place: Path) -> None:
    outside = place / "outside"
    put(outside, "Secret.md", "# Secret\n")
    for name, target in (
        ("link.md", "Other.md"),
        ("out.md", str(outside / "Secret.md")),
        ("dead.md", "nowhere.md"),
        ("folder-out", str(outside)),
        ("folder-in", "ops"),
        ("self", "."),
        ("loop", "loop"),
    ):
        (root / name).symlink_to(target)
    commit_all(root, "links")
    os.mkfifo(root / "pipe.md")
    init(root, cwd=root)
    tour(root)
    for page in ("link.md", "out.md", "dead.md", "folder-out/Secret.md", "folder-in/Harbour.md", "pipe.md"):
        for operation in ("read", "forget"):
            with pytest.raises(NotFound):
                run(root, operation, page=page)
    problems = {problem.path: problem.rule for problem in run(root, "status").problems}
    assert problems == {
        "dead.md": "broken-symlink",
        "folder-out": "link-leaves-vault",
        "loop": "broken-symlink",
        "out.md": "link-leaves-vault",
        "pipe.md": "not-a-file",
    }
    assert (outside / "Secret.md").read_text() == "# Secret\n"


@pytest.mark.parametrize("linked", ["global", "global/facts", "projects", "projects/ship"])
def test_nothing_is_written_through_a_linked_folder(root: Path, place: Path, linked: str) -> None:
    init(root, cwd=root)
    outside = place / "outside"
    outside.mkdir()
    (root / linked).parent.mkdir(parents=True, exist_ok=True)
    (root / linked).symlink_to(outside)
    project = {"project": "ship"} if linked.startswith("projects") else {}
    for kind in ("fact", "profile") if project else ("fact",):
        with pytest.raises(Refused, match="symbolic link"):
            run(root, "remember", title="Through the looking-glass", type=kind, **project)
    assert list(outside.iterdir()) == []


def test_a_repository_inside_the_vault_keeps_its_pages(root: Path) -> None:
    init(root, cwd=root)
    for folder in ("nested", "global/facts"):
        put(root, f"{folder}/Inner.md", "inner\n")
        git(root / folder, "init", "-q")
        commit_all(root / folder)
    with pytest.raises(Refused, match="repository of its own"):
        run(root, "remember", title="Tide table lives in the shed")
    with pytest.raises(NotFound):
        run(root, "read", page="nested/Inner.md")
    run(root, "edit", page=NAME, replace=["nine", "ten"])
    found = [problem.path for problem in run(root, "status").problems if problem.rule == "nested-repository"]
    assert found == ["global/facts", "nested"]
    assert git(root / "nested", "status", "--porcelain") == ""


@pytest.mark.parametrize("taken", ["global", "global/facts"])
def test_a_file_where_a_folder_belongs_is_named(root: Path, taken: str) -> None:
    init(root, cwd=root)
    put(root, taken, "a file of mine\n")
    with pytest.raises(Refused, match="global") as caught:
        run(root, "remember", title="No room")
    assert "folder" in caught.value.hint
    assert (root / taken).read_text() == "a file of mine\n"


def test_a_folder_named_like_the_page_is_named(root: Path) -> None:
    init(root, cwd=root)
    (root / NEW).mkdir(parents=True)
    with pytest.raises(Conflict):
        run(root, "remember", title="Tide table lives in the shed")
    assert (root / NEW).is_dir()


CLOSED = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_repositories as tests
warm, root = Path({warm!r}), Path({root!r})
for vault in (warm, root):
    tests.init(vault, cwd=vault)
tests.tour(warm)  # loads every module, while this process may still read them
assert len(tests.run(root, "list").pages) == 4
if os.geteuid() == 0:
    for folder, folders, files in os.walk(root.parent):
        for name in (folder, *(os.path.join(folder, name) for name in [*folders, *files])):
            os.lchown(name, 12345, 12345)
    os.setgid(12345)
    os.setuid(12345)
os.chmod(root / "closed", 0)
os.chmod(root / "Locked.md", 0)
assert len(tests.run(root, "list").pages) == 4
problems = {{each.path for each in tests.run(root, "status").problems}}
assert {{"closed", "Locked.md"}} <= problems, problems
tests.run(root, "remember", title="Beside it")
for page in ("closed/Page.md", "Locked.md"):
    for operation in ("read", "edit", "forget"):
        try:
            tests.run(root, operation, page=page, **({{"set": ["a=b"]}} if operation == "edit" else {{}}))
        except tests.WikimemError as error:
            assert page in error.message, error
            assert "permission" in error.hint, (operation, error.message, error.hint)
        else:
            raise AssertionError(operation + " of a closed page")
os.chmod(root / "ops", 0o555)
try:
    tests.run(root, "edit", page="ops/Harbour.md", replace=["nine", "ten"])
except tests.Refused as error:
    assert "ops" in error.message, error
    assert "permission" in error.hint, error
else:
    raise AssertionError("written into a closed folder")
for name, mode in (("ops", 0o755), ("closed", 0o755), ("Locked.md", 0o644)):
    os.chmod(root / name, mode)
assert tests.git(root, "status", "--porcelain") == ""
assert (root / "ops/Harbour.md").read_text() == tests.PAGE
assert len(tests.run(root, "list").pages) == 5
"""


def test_what_is_closed_is_named_and_keeps_its_pages(home: Home) -> None:
    # Not in tmp_path, whose parents only its owner may enter: root has to become somebody else to be shut out.
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        warm, root = make(place, "warm"), make(place)
        put(root, "closed/Page.md", "closed\n")
        put(root, "Locked.md", "locked\n")
        commit_all(root, "more")
        environment = {key: value for key, value in home.env.items() if not key.startswith("XDG_")}
        environment |= {"HOME": str(place), "GIT_CONFIG_GLOBAL": str(place / "gitconfig")}
        shutil.copyfile(home.path / ".gitconfig", place / "gitconfig")
        code = CLOSED.format(tests=str(Path(__file__).parent), warm=str(warm), root=str(root))
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=place, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr[-3000:]
