"""git is started so that a repository cannot make it run anything, and its failures are told apart."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from wikimem.errors import Conflict, Damaged, NotFound, Refused, Unavailable
from wikimem.vault.gitcommand import run_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    run_git(root, "init", "-q")
    run_git(root, "config", "user.name", "T")
    run_git(root, "config", "user.email", "t@example.org")
    return root


def program(path: Path, log: Path) -> Path:
    path.write_text(f"#!/bin/sh\necho ran >> '{log}'\nexit 1\n")
    path.chmod(0o755)
    return path


def test_output_is_bytes_and_names_are_not_quoted(repository: Path) -> None:
    (repository / "测试 🔥.md").write_text("x")
    assert run_git(repository, "ls-files", "--others").stdout == "测试 🔥.md\n".encode()


def test_paths_are_taken_literally(repository: Path) -> None:
    for name in ("a*.md", "ab.md", ":(top)x.md"):
        (repository / name).write_text("x")
    assert run_git(repository, "ls-files", "-z", "--others", "--", "a*.md").stdout == b"a*.md\0"
    assert run_git(repository, "ls-files", "-z", "--others", "--", ":(top)x.md").stdout == b":(top)x.md\0"


def test_a_repository_cannot_start_its_programs(repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    evil = program(tmp_path / "evil", log)
    for key in ("core.fsmonitor", "core.editor", "core.pager", "gpg.program", "core.sshCommand", "core.askPass"):
        run_git(repository, "config", key, str(evil))
    run_git(repository, "config", "commit.gpgSign", "true")
    run_git(repository, "config", "remote.origin.url", "ssh://example.invalid/x")
    for hook in ("pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction"):
        program(repository / ".git" / "hooks" / hook, log)
    (repository / "a.md").write_text("x")
    run_git(repository, "status", "--porcelain")
    run_git(repository, "update-index", "--add", "-z", "--stdin", stdin=b"a.md\0")
    run_git(repository, "commit", "-q", "-m", "one")
    run_git(repository, "log", "--oneline")
    assert run_git(repository, "fetch", "origin", check=False).returncode != 0
    assert not log.exists()
    assert run_git(repository, "rev-list", "--count", "HEAD").stdout == b"1\n"


def test_a_partial_clone_does_not_fetch_what_it_lacks(repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_git(repository, "config", "core.repositoryFormatVersion", "1")
    run_git(repository, "config", "extensions.partialClone", "origin")
    run_git(repository, "config", "remote.origin.url", "ssh://example.invalid/x")
    run_git(repository, "config", "remote.origin.promisor", "true")
    run_git(repository, "config", "core.sshCommand", str(program(tmp_path / "evil", log)))
    assert run_git(repository, "cat-file", "-p", "1" * 40, check=False).returncode != 0
    assert not log.exists()


def test_variables_of_a_surrounding_git_are_dropped(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run_git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    top = run_git(repository, "rev-parse", "--show-toplevel").stdout
    assert top.strip() == os.fsencode(repository.resolve())


def test_variables_of_the_caller_are_given(repository: Path, tmp_path: Path) -> None:
    env = {"GIT_AUTHOR_NAME": "An Agent", "GIT_AUTHOR_EMAIL": "a@example.org"}
    run_git(repository, "commit", "-q", "--allow-empty", "-m", "one", env=env)
    assert run_git(repository, "log", "-1", "--format=%an <%ae> %cn").stdout == b"An Agent <a@example.org> T\n"


def test_no_repository_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no git repository") as caught:
        run_git(tmp_path, "ls-files")
    assert "wikimem init" in caught.value.hint


def test_a_lock_of_another_git_is_a_conflict(repository: Path) -> None:
    (repository / "a.md").write_text("x")
    (repository / ".git" / "index.lock").touch()
    with pytest.raises(Conflict, match=r"index\.lock"):
        run_git(repository, "update-index", "--add", "a.md")


def test_a_damaged_index_is_named(repository: Path) -> None:
    (repository / ".git" / "index").write_bytes(b"garbage that is no index at all")
    with pytest.raises(Damaged, match=r"ls-files.*index"):
        run_git(repository, "ls-files")


def test_without_check_the_caller_reads_the_code(repository: Path) -> None:
    assert run_git(repository, "rev-parse", "--verify", "nothing", check=False).returncode == 128


def test_a_missing_git_is_unavailable(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(Unavailable, match="not installed"):
        run_git(repository, "status")


def test_a_git_that_hangs_is_unavailable(repository: Path) -> None:
    os.mkfifo(repository / "pipe")
    run_git(repository, "config", "core.excludesFile", str(repository / "pipe"))
    with pytest.raises(Unavailable, match=r"did not finish in 0\.5 s"):
        run_git(repository, "ls-files", "--others", "--exclude-standard", timeout_s=0.5)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_refused_with_the_way_out(repository: Path) -> None:
    subprocess.run(["chown", "-R", "12345:12345", str(repository)], check=True)
    with pytest.raises(Refused, match="another user") as caught:
        run_git(repository, "ls-files")
    assert f"safe.directory {repository}" in caught.value.hint
