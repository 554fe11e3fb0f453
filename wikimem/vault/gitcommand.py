"""The one place that starts `git`: settings that a repository brings along cannot make it run anything (law 12).

A repository that was cloned or copied is somebody else's. Its `.git/config` can name programs that git would start:
a file-system monitor, hooks, an editor, a pager, a signing program, an ssh command. The options and variables below
switch off those that plumbing commands reach. Filters (`filter.<name>.clean`) are not switched off here, because
git-crypt and LFS are of no use without them: callers that hash content decide whether the repository is trusted.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wikimem.errors import Conflict, Damaged, NotFound, Refused, Unavailable, WikimemError
from wikimem.vault.lock import held_locks

SAFE_OPTIONS: Final = (
    "--no-pager",
    *("-c", "core.quotePath=false"),
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.untrackedCache=keep"),
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "submodule.recurse=false"),
    *("-c", "color.ui=false"),
    *("-c", "advice.detachedHead=false"),
)
"""Given to every git call, before the subcommand. The names are from git-config(1)."""

_KEPT_GIT_VARIABLES: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
)
"""`GIT_*` variables that say how this machine's git is set up and who its user is. Every other one (`GIT_DIR`,
`GIT_INDEX_FILE`, `GIT_CONFIG_COUNT`, ...) is dropped: inside somebody's hook they would point git elsewhere."""

_FIXED_VARIABLES: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    # A partial clone fetches what it lacks, by the ssh command or helper that its own config names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    # Failures are told apart by git's English words.
    "LC_ALL": "C",
    "LANGUAGE": "",
}
"""Set for every call; `env` may change them: a fetch names the protocols that it wants, and `check-ignore` takes no
literal pathspecs."""

_LOCK_WORDS: Final = (b"index.lock", b".lock': file exists", b"unable to lock", b"cannot lock ref")
_DISK_WORDS: Final = (
    *(b"permission denied", b"read-only file system", b"no space left", b"disk quota exceeded"),
    b"input/output error",
)
_MORE_HANDLES: Final = "End programs that hold many files or much memory, or raise `ulimit -n`; then try again."
_NO_REPOSITORY_WORDS: Final = (b"not a git repository", b"must be run in a work tree")


def run_git(
    cwd: Path,
    *args: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    check: bool = True,
    timeout_s: float = 60,
) -> subprocess.CompletedProcess[bytes]:
    """Run `git -C cwd <args>` without pager, prompts, hooks, file-system monitor or network; its output is bytes.

    `env` adds variables to the cleaned environment (`GIT_INDEX_FILE`, author and committer). Pathspecs in `args`
    are taken literally. With `check` a failure raises: NotFound where `cwd` is in no repository, Refused where git
    does not trust the folder's owner or the disk is full or closed to it, Conflict where another git holds a lock,
    Damaged otherwise, each with what git said. Without `check` the caller reads `returncode`. Unavailable where git
    is missing, cannot be started, or takes longer than `timeout_s` seconds.
    """
    command = ["git", "-C", str(cwd), *SAFE_OPTIONS, *args]
    subcommand = next((word for word in args if not word.startswith("-")), "")
    try:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=_environment(env or {}),
            timeout=timeout_s,
            check=False,
            pass_fds=held_locks(),
        )
    except FileNotFoundError as error:
        raise Unavailable("git is not installed or not on the PATH", hint="Install git 2.20 or newer.") from error
    except PermissionError as error:
        raise Unavailable(f"git cannot be started: {error.strerror}", hint="Check the git on your PATH.") from error
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM):
            raise
        raise Unavailable(f"git cannot be started: {error.strerror}", hint=_MORE_HANDLES) from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"`git {subcommand}` in {cwd} did not finish in {timeout_s:g} s",
            hint="Check the disk and any other git process working there, then try again.",
        ) from error
    if check and done.returncode != 0:
        raise failure(cwd, subcommand, done)
    return done


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept |= {name: os.environ[name] for name in _KEPT_GIT_VARIABLES if name in os.environ}
    return kept | _FIXED_VARIABLES | dict(extra)


def failure(cwd: Path, subcommand: str, done: subprocess.CompletedProcess[bytes]) -> WikimemError:
    """The error that a failed git call means; see `run_git`."""
    said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
    low = done.stderr.lower()
    message = f"`git {subcommand}` failed in {cwd}: {said}"
    if b"dubious ownership" in low or b"safe.directory" in low:
        return Refused(
            f"git does not trust {cwd}: the repository belongs to another user",
            hint=f"If it is yours, run `git config --global --add safe.directory {cwd}`.",
        )
    if b"unknown repository extension" in low or b"expected git repo version" in low:
        return Refused(
            f"the git on your PATH does not know this kind of repository: {' '.join(said.split())}",
            hint="Install a newer git, or use a repository in git's default formats (sha1 objects, files refs).",
        )
    if b"lazy fetching disabled" in low or b"promisor remote" in low:
        return Unavailable(
            f"{cwd} is a partial clone, and not all that this needs has been fetched yet",
            hint=f"Run `git -C {cwd} log --stat`, which fetches it, then try again.",
        )
    if any(words in low for words in _NO_REPOSITORY_WORDS):
        return NotFound(f"{cwd} is in no git repository", hint="Run `wikimem init` there.")
    if any(words in low for words in _DISK_WORDS):
        return Refused(message, hint="Check the free space, and the permissions of the repository's .git folder.")
    if b"too many open files" in low:
        return Unavailable(message, hint=_MORE_HANDLES)
    if any(words in low for words in _LOCK_WORDS):
        return Conflict(message, hint="Another git process is at work there; try again when it has finished.")
    return Damaged(message, hint=f"Run `git -C {cwd} fsck` to see what is wrong.")
