"""The commits of a code base that a session made: where they are found, and the lines that they become.

Found in the reflog of the clone that the session works in, which tells what was committed here from what was fetched;
where there is none, in what `git commit` printed. The code base is only read, and its settings run nothing.

    - 09:31:12 **commit** `a1b2c3d4e5f6` Add JWT auth: `src/middleware/auth.ts` `test/auth.test.ts` ^o-…
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import WikimemError
from wikimem.text.oneline import as_code, as_line, as_written, code_spans, flatten
from wikimem.text.sessionpage import Observation, observation_id

if TYPE_CHECKING:
    from wikimem.model.event import Event

COMMIT: Final = "commit"
"""The label of a commit whose message was written here."""

MERGE: Final = "merge"
PICK: Final = "pick"
"""Labels of commits whose message may be somebody else's: merges; cherry-picks, rebased, reverted, mailed ones."""

PRINTED: Final = "printed commit"
"""The label of a commit that only a command's output tells of, in words that the command line did not hold."""

LABELS: Final = frozenset({COMMIT, MERGE, PICK, PRINTED})

PAUSE_S: Final = 3600.0
"""Between two events that are further apart nothing is taken to be the session's."""

MOST_COMMITS: Final = 40
"""Of one flush; the latest count."""

MOST_FILES: Final = 12
MOST_CLONES: Final = 4
HASH_LENGTH: Final = 12
LEAST_HASH: Final = 7
"""As many digits tell two commits of one session apart."""

_NEAR_S: Final = 5.0
"""A commit that is so near to an event belongs to it, however long nothing was heard: a command may run for hours."""

_REFLOG_BYTES: Final = 262_144
_GIT_S: Final = 10.0
_SUBJECT_LENGTH: Final = 200
_FILE_LENGTH: Final = 200
_ENTRY: Final = re.compile(
    rb"(?P<old>[0-9a-f]{40,64}) (?P<new>[0-9a-f]{40,64}) [^\t\n]* (?P<time>\d{1,12}) [+-]\d{4}\t(?P<said>[^\n]*)"
)
_KINDS: Final = (
    (COMMIT, re.compile(r"commit(?: \((?:initial|amend)\))?: ")),
    (MERGE, re.compile(r"commit \(merge\): |(?:merge|pull)\b[^:\n]*: Merge made by ")),
    (PICK, re.compile(r"commit \(cherry-pick\): |(?:cherry-pick|revert|am): |rebase: (?!checkout|aborting)")),
    (PICK, re.compile(r"(?:rebase|pull)\b[^:\n]*\((?:pick|reword|edit|squash|fixup|continue)\): ")),
)
_COMMITTING: Final = re.compile(r"\bgit\b[^|;&\n]*\s(?:commit|cherry-pick|revert|am|merge)\b")
_SAID: Final = re.compile(
    r"^\[[^\n]{1,200}? (?:\(root-commit\) )?(?P<hash>[0-9a-f]{7,64})\] (?P<subject>[^\n]{1,500})$", re.MULTILINE
)
_LINE: Final = re.compile(
    r"`(?P<hash>[0-9a-f]{7,64})` (?P<subject>.*?)(?:: (?P<files>`.+`)(?: and \d+ more)?)?"
    r"(?: \(instead of `(?P<old>[0-9a-f]{7,64})`\))?"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the code base: its hash (at least 7 digits), when it was made (local time), how (a label), its
    subject, the files that it changed, and the hash of the commit that it was made instead of."""

    hash: str
    when: datetime
    label: str
    subject: str
    files: tuple[str, ...] = ()
    instead_of: str = ""


def observe_commits(
    session: str,
    events: Sequence[Event],
    *,
    known: Collection[str],
    last: datetime | None,
    vault: Path,
    mask: Callable[[str], str],
) -> tuple[Observation, ...]:
    """The commits that a session made while these events happened, as observations whose ids are not `known`.

    `last` is when the session was seen last before (local time), None where it is new. A clone that cannot be read
    gives what its commands printed. Never raises what a code base may do.
    """
    found: dict[str, Commit] = {}
    for commit in (*_recorded(session, events, known, last, vault), *_printed(events)):
        found.setdefault(_block(session, commit.hash), commit)
    return tuple(
        Observation(block, commit.when, commit.label, _body(commit, mask))
        for block, commit in found.items()
        if block not in known
    )


def commit_of(seen: Observation) -> Commit | None:
    """The commit that an observation tells of; None where it tells of none, or a person has rewritten it."""
    if seen.label not in LABELS:
        return None
    line = _LINE.fullmatch(seen.body)
    if line is None:
        return None
    files = tuple(code_spans(line["files"])) if line["files"] else ()
    return Commit(line["hash"], seen.when, seen.label, as_written(line["subject"]), files, line["old"] or "")


def is_same_commit(one: str, other: str) -> bool:
    """Whether two hashes, either of them shortened, name one commit as far as they say."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return len(short) >= LEAST_HASH and long.startswith(short)


def latest(commits: Iterable[Commit]) -> list[Commit]:
    """Commits without those that another was made instead of: amended, or picked again under the same subject, as a
    rebase does. Several of one subject are replaced in their order."""
    told = list(commits)
    amended = [commit.instead_of for commit in told if commit.instead_of]
    kept: dict[str, Commit] = {}
    for commit in told:
        if any(is_same_commit(commit.hash, each) for each in amended):
            continue
        before = next((each for each in kept.values() if each.subject == commit.subject), None)
        if before is None or commit.label != PICK:
            kept[commit.hash] = commit
        else:
            del kept[before.hash]
            kept[commit.hash] = replace(commit, label=before.label)
    return list(kept.values())


def _block(session: str, commit: str) -> str:
    return observation_id(session, "commit", commit[:LEAST_HASH])


def _body(commit: Commit, mask: Callable[[str], str]) -> str:
    """The line of a commit. Code marks in the subject would pass for files."""
    files = " ".join(as_code(file, _FILE_LENGTH) for file in commit.files[:MOST_FILES])
    if len(commit.files) > MOST_FILES:
        files += f" and {len(commit.files) - MOST_FILES} more"
    subject = as_line(commit.subject.replace("`", "'"), _SUBJECT_LENGTH)
    # Two harmless texts may make a secret when they stand side by side.
    told = flatten(mask(f"{commit.label} {subject}{': ' if files else ''}{files}")).removeprefix(commit.label).strip()
    instead = f" (instead of {as_code(commit.instead_of[:HASH_LENGTH], HASH_LENGTH)})" if commit.instead_of else ""
    return f"`{commit.hash[:HASH_LENGTH]}` {told}{instead}".rstrip()


# What the clone recorded


@dataclass(frozen=True, slots=True)
class _Told:
    """What git says of a commit: `ours` where wikimem itself made it, in a vault that is a part of the code base."""

    subject: str
    files: tuple[str, ...]
    ours: bool


def _recorded(
    session: str, events: Sequence[Event], known: Collection[str], last: datetime | None, vault: Path
) -> Iterator[Commit]:
    """What the reflogs of the clones that the events happened in say was made between them, oldest first."""
    try:
        span = _Span(events, last)
    except (OverflowError, ValueError, OSError):
        return  # a time that no clock of this system can show
    for top, reflog in _clones(events):
        made = [each for each in _entries(reflog, span) if _block(session, each.hash) not in known][-MOST_COMMITS:]
        if not made:
            continue
        try:
            told = _ask(top, [each.hash for each in made])
        except WikimemError:
            # Without git nobody can say which of them wikimem itself made.
            if vault == top or top in vault.parents:
                continue
            told = {}
        for each in made:
            said = told.get(each.hash)
            if said is None:
                # A merge's entry says how it was made, and not its subject.
                yield each if each.label != MERGE else replace(each, subject="merge")
            elif not said.ours:
                yield replace(each, subject=said.subject or each.subject, files=said.files)


class _Span:
    """The time in which a session was at work, as far as its events say."""

    def __init__(self, events: Sequence[Event], last: datetime | None) -> None:
        moments = sorted(datetime.fromisoformat(event.time).astimezone() for event in events)
        self.zone = datetime.fromisoformat(events[-1].time).tzinfo
        self.times = [moment.timestamp() for moment in moments]
        before = last.replace(tzinfo=self.zone).timestamp() if last is not None else self.times[0]
        self.times = [min(before, self.times[0]), *self.times]

    def holds(self, time_s: int) -> bool:
        """Whether a moment (seconds, cut to whole ones) lies between two events that are not far apart."""
        if not self.times[0] - 1 < time_s <= self.times[-1]:
            return False
        after = bisect_left(self.times, time_s)
        before = self.times[after - 1] if after else self.times[0]
        return self.times[after] - before <= PAUSE_S or min(self.times[after] - time_s, time_s - before) <= _NEAR_S

    def local(self, time_s: int) -> datetime:
        return datetime.fromtimestamp(time_s, self.zone).replace(tzinfo=None)


def _clones(events: Sequence[Event]) -> list[tuple[Path, Path]]:
    """The work trees that the events happened in, and the reflog of each: only those that are this user's."""
    from wikimem.vault.project import find_work_tree

    found: dict[Path, Path] = {}
    for folder in dict.fromkeys(event.cwd or event.ran_in for event in events):
        tree = find_work_tree(Path(folder)) if os.path.isabs(folder) and "\0" not in folder else None
        if tree is not None and _is_mine(tree.git_dir) and len(found) < MOST_CLONES:
            found[tree.top] = tree.git_dir / "logs" / "HEAD"
    return list(found.items())


def _is_mine(folder: Path) -> bool:
    """Whether a folder is this user's: git would not work in another's either, unless it is told to."""
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _entries(reflog: Path, span: _Span) -> list[Commit]:
    """The commits that a reflog says were made in that span, each once, in its order."""
    found: dict[str, Commit] = {}
    for line in _end_of(reflog).split(b"\n"):
        entry = _ENTRY.fullmatch(line)
        if entry is None or not span.holds(int(entry["time"])):
            continue
        said = entry["said"].decode("utf-8", "replace")
        kind = next(((label, match) for label, pattern in _KINDS if (match := pattern.match(said))), None)
        if kind is None:
            continue
        label, match = kind
        amends = match[0].startswith("commit (amend)")
        made = Commit(
            entry["new"].decode(),
            span.local(int(entry["time"])),
            label,
            said[match.end() :],
            instead_of=entry["old"].decode() if amends else "",
        )
        found[made.hash] = made
    # A reflog tells whole seconds; what was made later in one of them stays the later.
    return [replace(each, when=each.when.replace(microsecond=at)) for at, each in enumerate(found.values())]


def _end_of(file: Path) -> bytes:
    """The last lines of a plain file; nothing where it is none. No link is followed, and nothing waits."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode):
            return b""
        start = max(0, seen.st_size - _REFLOG_BYTES)
        data = os.pread(descriptor, _REFLOG_BYTES, start)
        return data.partition(b"\n")[2] if start else data
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _ask(top: Path, hashes: Sequence[str]) -> dict[str, _Told]:
    """What git says of commits; those that are gone are left out. Raises what `run_git` does."""
    from wikimem.vault.gitcommand import run_git

    # No message can hold a mark that was made up just now.
    mark = secrets.token_hex(8)
    record, field = f"<{mark}>", f"<{mark}|>"
    told = "%(trailers:key=Wikimem-Op,valueonly,separator=%x20)"
    options = ["--no-walk=unsorted", "--stdin", "--ignore-missing", "-z", "--name-only", "--no-renames"]
    options += ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-notes", "--no-mailmap", "-O/dev/null"]
    options += ["--encoding=UTF-8", "--format=" + record + field.join(("%H", "%s", told, ""))]
    names = "".join(f"{name}\n" for name in hashes).encode()
    output = run_git(top, "log", *options, stdin=names, timeout_s=_GIT_S).stdout.decode("utf-8", "replace")
    found: dict[str, _Told] = {}
    for part in output.split(record)[1:]:
        name, subject, ours, files = part.split(field, 3)
        listed = tuple(file for file in (each.strip("\n") for each in files.split("\0")) if file)
        found[name] = _Told(subject, listed, bool(ours.strip()))
    return found


# What commands printed


def _printed(events: Sequence[Event]) -> Iterator[Commit]:
    """What `git commit` and its like said they made. Anything can print such a line: a subject is taken to be the
    session's own only where the command line says it."""
    for event in events:
        if event.action != "run" or not _COMMITTING.search(event.command):
            continue
        command = flatten(event.command)
        for line in list(_SAID.finditer(event.output))[:MOST_COMMITS]:
            label = COMMIT if flatten(line["subject"]) in command else PRINTED
            when = datetime.fromisoformat(event.time).replace(tzinfo=None)
            yield Commit(line["hash"], when, label, line["subject"])
