"""What a command line was, and how it went: whether it only looked, the test summary, the line that says the error."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from wikimem.text.commandline import commands_in, program_of

_LOOKS: Final = frozenset(
    [
        "ls",
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "ack",
        "find",
        "fd",
        "tree",
        "pwd",
        "cd",
        "pushd",
        "popd",
        "echo",
        "printf",
        "which",
        "type",
        "file",
        "stat",
        "wc",
        "sort",
        "uniq",
        "awk",
        "jq",
        "cut",
        "nl",
        "tr",
        "diff",
        "cmp",
        "du",
        "df",
        "date",
        "env",
        "printenv",
        "ps",
        "whoami",
        "id",
        "uname",
        "hostname",
        "test",
        "[",
        "true",
        "false",
        "sleep",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "column",
        "xxd",
        "read",
        "[[",
        "xargs",
        "command",
        "$",
        "exit",
        "return",
        "export",
        "unset",
        "set",
        "source",
        ".",
        ":",
        "wait",
        "hexdump",
        "bat",
        "eza",
    ]
)
_GIT_LOOKS: Final = frozenset(
    ["status", "diff", "log", "show", "branch", "blame", "remote", "rev-parse", "ls-files", "grep", "describe"]
)
_WRITES: Final = re.compile(r"(?<![0-9&=-])>{1,2}(?!&)\s*(?!/dev/null)\S|\btee\b|\s-delete\b|\s-exec\b")
_SCRIPTS: Final = frozenset(("npm", "pnpm", "yarn", "bun"))
_CLIENTS: Final = frozenset(("curl", "wget", "http", "https", "xh"))
_NO_NAME: Final = re.compile(r"[-$]|.*\s")

_TESTS: Final = re.compile(
    r"\b(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|playwright|cypress|rspec|phpunit|ctest"
    r"|(?:npm|pnpm|yarn|bun|deno|go|cargo|dotnet|mvn|gradle|gradlew|make|just|mix|swift|flutter|dart|sbt|bazel|rails)"
    r"\s+(?:run\s+)?(?:[\w:-]*test\w*|check)|cargo nextest)\b"
)
_SUMMARIES: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^=*\s*((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)(?:, )?)+)\b.*?=*$",
        r"^\s*Tests:?\s+(.*\b\d+ (?:passed|failed).*)$",
        r"^\s*test result: (.*?\d+ passed; \d+ failed)",
        r"^\s*(\d+ passing.*)$",
        r"^\s*(\d+ examples?, \d+ failures?.*)$",
        r"^\s*(Tests run: \d+, Failures: \d+, Errors: \d+)",
        r"^\s*((?:FAILED|OK) ?\(.*\)|OK|FAILED)\s*$",
        r"^\s*(\d+ (?:tests? )?failed(?:, \d+ passed)?|\d+ tests? passed)\b",
        r"^((?:ok|FAIL|---? FAIL:?)\s+\S+.*)$",
        r"^\s*(Found \d+ errors?.*)$",
    )
)
_FAILED: Final = re.compile(
    r"\b(?!0+\b)\d+ (?:failed|failures?|failing|errors?)\b|\b(?:Failures|Errors): (?!0+\b)\d+"
    r"|^(?:FAIL(?:ED)?|---? FAIL)\b"
)
_EXIT_CODE: Final = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: status)?(?: code)?|returned)[: ]+(?!0\b)(\d{1,3})\b", re.IGNORECASE
)
_TELLING: Final = re.compile(
    r"\b(?:\w*(?:error|exception)|failed|failure|fatal|panic(?:ked)?|assert\w*|cannot|can't|could not|couldn't|unable"
    r"|not found|no such|denied|refused|undefined|unexpected|timed? ?out|unresolved|missing|invalid)\b",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(r"\s*(?:at |File \"|\.{3}|\^+|~+|[│|>]|\d+ ?[|:]|-+$|=+$)")


def only_looks(command: str) -> bool:
    """Whether a command line does nothing but look at files and at git: what it said is noise a week later."""
    if _WRITES.search(command):
        return False
    parts = commands_in(command)
    return bool(parts) and all(_looks(words) for words in parts)


def _looks(words: list[str]) -> bool:
    program = program_of(words)
    if program == "git":
        plain = [word for word in words[1:] if not word.startswith("-")]
        return bool(plain) and plain[0] in _GIT_LOOKS
    if program == "sed":
        return not any(re.match(r"-\w*i|--in-place", word) for word in words[1:])
    return program in _LOOKS


def is_test(command: str) -> bool:
    """Whether a command line runs tests or checks."""
    return _TESTS.search(command) is not None


def command_key(command: str) -> str:
    """What two runs of one thing have in common: the program and what it was told to do, without its options."""
    found = commands_in(command)
    words = next((words for words in reversed(found) if not _looks(words)), found[-1] if found else [])
    if not words:
        return ""
    program = program_of(words)
    # A word with blanks is a text that the program was given, not what it was told to do.
    told = [
        word
        for before, word in pairwise(words)
        if not _NO_NAME.match(word) and not (program == "git" and before in ("-C", "-c"))
    ]
    if program in _SCRIPTS and told[:1] in (["run"], ["exec"]):
        told = told[1:]
    if program in _CLIENTS:
        told = [word.partition("?")[0] for word in told if "://" in word]
    if is_test(command) and told and re.search(r"[/.]", told[0]):
        told = []
    return " ".join([program, *told[:1]])


def summary_of(output: str) -> str:
    """The line in which a test runner or a checker sums up, or nothing."""
    for pattern in _SUMMARIES:
        found = list(pattern.finditer(output))
        if found:
            # A runner that says a line for each package failed if one of them did.
            return next((each[1] for each in found if _FAILED.search(each[1])), found[-1][1]).strip(" =")
    return ""


def says_failed(output: str) -> bool:
    """Whether an output tells of failure though its host reported none."""
    return _FAILED.search(summary_of(output)) is not None or _EXIT_CODE.match(output.lstrip()) is not None


def error_line(output: str) -> str:
    """The line that says best what went wrong: the last that names an error and is no stack frame, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _EXIT_CODE.fullmatch(line.strip())]
    telling = [line for line in lines if _TELLING.search(line) and not _FRAME.match(line)]
    named = [line for line in telling if re.search(r"\w*(?:Error|Exception|panic)\w*\b", line)]
    return (named or telling or lines or [output.strip()])[-1]


def last_line(output: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
