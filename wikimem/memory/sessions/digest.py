"""The digest of a session, by rules alone: what was wanted, what came of it, what was changed, run, mended, decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from wikimem.memory.sessions.commands import command_key, is_test
from wikimem.memory.sessions.commits import COMMIT, commit_of, latest
from wikimem.memory.sessions.observations import CHANGES, DECISION, FAILED, PROMPT, RUN, SAID, UNTOLD
from wikimem.memory.sessions.wordings import decisions, open_ends
from wikimem.text.oneline import as_code, as_line, as_written, code_spans, shorten
from wikimem.text.sessionpage import ENDED, SUBAGENT, Observation

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

STALE: Final = "without a word"
"""Begins how a session ended that was never said to end."""

MOST_TITLE: Final = 80
_GOAL_LENGTH: Final = 300
_OUTCOME_LENGTH: Final = 300
_LINE_LENGTH: Final = 240
_MOST: Final = 12
_RAN: Final = (RUN, "Shell", "Run")
_SMALL_TALK: Final = re.compile(
    r"(?:/\w*|\W*|hi|hello|hey|ok(?:ay)?|yes|no|continue|go on|thanks?|안녕\S*|네|계속\S*)\W*", re.IGNORECASE
)
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+")
_LEADING: Final = re.compile(r"(?:(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`) ?)+")
_SCRIPT: Final = re.compile(r"(?:npm|pnpm|yarn|bun) run ")
_PLACEHOLDER: Final = re.compile(r"\[redacted:[^\]\s]*\]")


@dataclass(frozen=True, slots=True)
class Noted:
    """A line of the digest, Markdown, and the observations that it rests on."""

    text: str
    ids: tuple[str, ...]


@dataclass(slots=True)
class _Runs:
    """The runs of one command."""

    shown: str
    passed: int = 0
    failed: int = 0
    untold: int = 0
    last: str = ""
    open: Observation | None = None
    edits: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Digest:
    """A session in short. Texts are inline Markdown; empty where there is nothing to say."""

    goal: str
    outcome: str
    ending: str
    changed: tuple[Noted, ...]
    commits: tuple[Noted, ...]
    ran: tuple[str, ...]
    mended: tuple[Noted, ...]
    decided: tuple[Noted, ...]
    open: tuple[Noted, ...]


def make_digest(seen: Sequence[Observation]) -> Digest:
    """The digest of a session's observations, which are in the order of its pages."""
    flat = [each for each in in_time(seen) if each.label != SUBAGENT]
    commands, mended = _commands(flat)
    changed = _changed(flat)
    first = _first_prompt(flat)
    return Digest(
        goal=_cut(first.body, _GOAL_LENGTH) if first else "",
        outcome=_outcome(flat, changed, commands),
        ending=_ending(flat),
        changed=tuple(Noted(f"{as_code(file, _LINE_LENGTH)} {_often(len(ids))}", tuple(ids)) for file, ids in changed),
        commits=_commits_of(flat),
        ran=tuple(_run_in_words(runs) for runs in list(commands.values())[:_MOST]),
        mended=tuple(mended[:_MOST]),
        decided=_decided(flat),
        open=_open(flat, commands),
    )


def in_time(seen: Iterable[Observation]) -> list[Observation]:
    """Observations in the order of their times; those of one second stay in the order in which they are given."""
    return sorted(seen, key=lambda each: each.when.replace(microsecond=0))


def title_of(seen: Iterable[Observation]) -> str:
    """The title that a session's page has by itself: its first prompt that says something; else empty."""
    first = _first_prompt(seen)
    if first is None:
        return ""
    text = _PLACEHOLDER.sub("…", as_written(first.body))
    text = re.sub(r"\[\[|\]\]|[`<>|{}]", "", _SENTENCE.split(text, maxsplit=1)[0])
    return shorten(" ".join(text.split()), MOST_TITLE).rstrip(".!?: ")


def files_of(seen: Observation) -> list[str]:
    """The files that an observation says were changed."""
    leading = _LEADING.match(seen.body)
    return code_spans(leading[0]) if leading and seen.label in CHANGES.values() else []


def has_failed(seen: Observation) -> bool:
    """Whether an observation says that what ran has failed."""
    return re.search(rf"(?:\A|` ){FAILED}(?::|\Z)", seen.body) is not None


def said_of(seen: Observation) -> str:
    """What a run said, Markdown: all but the command."""
    return re.sub(rf"\A(`+).*?\1 ?(?:{FAILED}:? ?)?", "", seen.body)


def _first_prompt(seen: Iterable[Observation]) -> Observation | None:
    prompts = [each for each in in_time(seen) if each.label == PROMPT and not each.group]
    telling = (each for each in prompts if not _SMALL_TALK.fullmatch(as_written(each.body)))
    return next(telling, prompts[0] if prompts else None)


def _changed(flat: Sequence[Observation]) -> list[tuple[str, list[str]]]:
    """Each changed file with the observations that changed it, most changed first."""
    found: dict[str, list[str]] = {}
    for each in flat:
        if not has_failed(each):
            for file in files_of(each):
                found.setdefault(file, []).append(each.id)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST]


def _commits_of(flat: Sequence[Observation]) -> tuple[Noted, ...]:
    """The commits that stand, the latest last. A subject that somebody else may have written is not repeated."""
    told = [(commit, each.id) for each in flat if (commit := commit_of(each)) is not None]
    ids = {commit.hash: block for commit, block in told}
    found: list[Noted] = []
    for commit in latest(commit for commit, _ in told):
        subject = as_line(commit.subject, _LINE_LENGTH) if commit.label == COMMIT else f"({commit.label})"
        found.append(Noted(f"{as_code(commit.hash, _LINE_LENGTH)} {subject}", (ids[commit.hash],)))
    return tuple(found[-_MOST:])


def _commands(flat: Sequence[Observation]) -> tuple[dict[str, _Runs], list[Noted]]:
    """The commands that ran, and the errors that were gone when one ran again after an edit."""
    commands: dict[str, _Runs] = {}
    mended: list[Noted] = []
    for each in flat:
        for file in files_of(each) if not has_failed(each) else ():
            for runs in commands.values():
                if runs.open is not None:
                    runs.edits.append((file, each.id))
        spans = code_spans(each.body)
        if each.label not in _RAN or not spans:
            continue
        key = command_key(spans[0])
        shown = key.replace(" ", " run ", 1) if _SCRIPT.search(spans[0]) else key
        runs = commands.setdefault(key, _Runs(shown))
        runs.last = said_of(each)
        if has_failed(each):
            runs.failed += 1
            runs.open = each
            continue
        if runs.last.startswith(f"{UNTOLD}:"):
            runs.untold += 1
            continue
        runs.passed += 1
        if runs.open is not None:
            if runs.edits:
                mended.append(_mended(runs, each))
            runs.open, runs.edits = None, []
    return commands, mended


def _mended(runs: _Runs, passing: Observation) -> Noted:
    assert runs.open is not None
    files = ", ".join(as_code(file, _LINE_LENGTH) for file in dict.fromkeys(file for file, _ in runs.edits))
    edits = tuple(dict.fromkeys(edit for _, edit in runs.edits))
    error = _cut(said_of(runs.open), _LINE_LENGTH) or f"{as_code(runs.shown, _LINE_LENGTH)} failed"
    return Noted(f"{error}: gone after a change of {files}", (runs.open.id, *edits[-2:], passing.id))


def _run_in_words(runs: _Runs) -> str:
    passed = "passed" if is_test(runs.shown) or runs.failed else "ran"
    counts = [f"{verb} {_often(count)}" for verb, count in ((passed, runs.passed), ("failed", runs.failed)) if count]
    counts += [f"ran {_often(runs.untold)} with an outcome that is not known"] if runs.untold else []
    last = f"; last: {_cut(runs.last, 120)}" if runs.last else ""
    return f"{as_code(runs.shown, _LINE_LENGTH)} {', '.join(counts)}{last}"


def _often(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


def _outcome(flat: Sequence[Observation], changed: Sequence[tuple[str, list[str]]], commands: dict[str, _Runs]) -> str:
    said = next((each for each in reversed(flat) if each.label == SAID and not each.group), None)
    if said is not None:
        return _cut(" ".join(_SENTENCE.split(said.body)[:2]), _OUTCOME_LENGTH)
    tests = [runs for key, runs in commands.items() if is_test(key)]
    parts = [f"{len(changed)} {'file' if len(changed) == 1 else 'files'} changed"] if changed else []
    parts += [f"{as_code(runs.shown, 80)}: {_cut(runs.last, 120)}" for runs in tests if runs.last]
    return "; ".join(parts)


def _ending(flat: Sequence[Observation]) -> str:
    ends = [each for each in flat if each.label == ENDED]
    return ends[-1].body if ends and ends[-1].body.startswith(STALE) else ""


def _decided(flat: Sequence[Observation]) -> tuple[Noted, ...]:
    found: dict[str, Noted] = {}
    for each in flat:
        if each.label in (DECISION, "decided"):
            lines = [each.body]
        elif each.label in (PROMPT, SAID, "summary"):
            lines = [as_line(sentence, _LINE_LENGTH) for sentence in decisions(as_written(each.body))]
        else:
            lines = []
        for line in lines:
            key = re.sub(r"\W+", "", as_written(line).casefold())
            found.setdefault(key, Noted(_cut(line, _LINE_LENGTH), (each.id,)))
    return tuple(found.values())[:_MOST]


def _open(flat: Sequence[Observation], commands: dict[str, _Runs]) -> tuple[Noted, ...]:
    found: list[Noted] = []
    for runs in commands.values():
        if runs.open is not None:
            error = _cut(said_of(runs.open), _LINE_LENGTH)
            found.append(
                Noted(f"{as_code(runs.shown, 120)} still failed{': ' if error else ''}{error}", (runs.open.id,))
            )
    done = Counter(each.body for each in flat if each.label == "done")
    for each in flat:
        name = re.split(r"(?<!\\): ", each.body, maxsplit=1)[0]
        if each.label == "task" and not each.group and not done[name]:
            found.append(Noted(f"task: {_cut(each.body, _LINE_LENGTH)}", (each.id,)))
    said = next((each for each in reversed(flat) if each.label == SAID and not each.group), None)
    if said is not None:
        lines = open_ends(as_written(said.body))
        found += [Noted(as_line(line, _LINE_LENGTH), (said.id,)) for line in lines]
    asked = next((each for each in reversed(flat) if each.label not in (ENDED, "compacted", "summary")), None)
    if asked is not None and asked.label == PROMPT and asked is not _first_prompt(flat):
        found.append(Noted(f"no answer yet: {_cut(asked.body, _LINE_LENGTH)}", (asked.id,)))
    return tuple(found[:_MOST])


def _cut(markdown: str, limit: int) -> str:
    """Inline Markdown made shorter: what is cut is what a reader sees, never half of an escape."""
    return markdown if len(markdown) <= limit else as_line(as_written(markdown), limit)


def render_digest(digest: Digest, cite: Callable[[str], str]) -> str:
    """The digest as Markdown, from its template; `cite` gives the link to an observation."""
    return render_template("digest.md.j2", digest=digest, cite=cite)


def render_template(name: str, **values: object) -> str:
    """A template of session pages as Markdown; every text that it is given is escaped for that already."""
    text = _environment().get_template(name).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    from wikimem.vault.create import templates_folder

    return SandboxedEnvironment(
        loader=FileSystemLoader(templates_folder() / "sessions"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
