"""Settings: of a vault (`.wikimem/config.toml`, comes with a clone) and of this user (`config.toml`, law 12).

What could do harm in a stranger's hands (a command, a model, a path, a URL) is read from the user's file only, and is
refused in a vault's. Rules of redaction add up: a vault can have more taken out, never less. Every key stands in one
of the two tables below, with its default, a line of explanation, and the field that it fills.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.model.llm import LlmSettings
from wikimem.model.reranker import RerankerAddress, RerankerFolder
from wikimem.text.homepath import expand_home
from wikimem.text.llm import EXAMPLE as LLM_EXAMPLE
from wikimem.text.llm import read_llm
from wikimem.text.redact_rulecost import least_width, why_costly
from wikimem.text.reranker import EXAMPLE as RERANKER_EXAMPLE
from wikimem.text.reranker import FOLDER_EXAMPLE, BadFolderError, read_reranker

CONFIG_NAME: Final = "config.toml"
_MAX_BYTES: Final = 256_000
_LEAST_MATCH: Final = 6
_MOST_MINUTES: Final = 10_080
_MOST_REST_S: Final = 604_800
MOST_INJECTED: Final = 2000
"""Tokens: about the 8,000 characters that agents pass on whole from a hook."""


class VaultConfig(Struct, frozen=True):
    """A vault's own settings. `commit_after` in seconds: 0 leaves it to each user, infinity is `off`. `redact` holds
    in addition to the user's.

    `inject_at_start` and `inject_at_prompt` are the most tokens that hooks give; a user's own setting may be less.
    """

    exclude: tuple[str, ...] = ("/templates/",)
    context_budget: int = 2000
    commit_after: float = 0
    inject_at_start: int = MOST_INJECTED
    inject_at_prompt: int = MOST_INJECTED
    redact: Mapping[str, str] = field(default_factory=dict)


class UserConfig(Struct, frozen=True):
    """This user's settings. `redact` maps a name for the placeholder to a regular expression.

    `resident` is after how many idle minutes the resident process ends; 0 where there is to be none. `commit_after` in
    seconds: None where it is not set, infinity is `off`. `inject_at_start` and `inject_at_prompt`: tokens; 0: `off`.
    """

    default_vault: Path | None = None
    model: Path | None = None
    redact: Mapping[str, str] = field(default_factory=dict)
    resident: float = 15.0
    commit_after: float | None = None
    inject_at_start: int = 1000
    inject_at_prompt: int = 500
    reranker: RerankerAddress | RerankerFolder | None = None
    llm: LlmSettings | None = None


class ConfigKey(Struct, frozen=True):
    """One key: `example` is TOML for the manual, `read` turns the TOML value into the field's or raises ValueError."""

    name: str
    doc: str
    example: str
    read: Callable[[Any], Any]


def read_vault_config(root: Path) -> VaultConfig:
    """The settings of the vault at `root`; the defaults where it has no file.

    Invalid for an unknown key or a bad value, Refused for a key that only the user's own file may hold or where the
    file is not a plain file, Damaged where it is not TOML; each names the file and the line.
    """
    folder = root / ".wikimem"
    path = folder / CONFIG_NAME
    if folder.is_symlink():
        raise Refused(f"{folder} is a symbolic link", hint="A vault's settings lie in the vault itself.")
    values = _read_file(path, VAULT_KEYS, from_vault=True)
    return VaultConfig(**values)


def read_user_config(folder: Path) -> UserConfig:
    """This user's settings from the configuration folder; the defaults where there is no file. Errors as above."""
    return UserConfig(**_read_file(folder / CONFIG_NAME, USER_KEYS, from_vault=False))


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of patterns is expected, as in a .gitignore")
    if any("\n" in item or "\0" in item for item in value):
        raise ValueError("a pattern is one line")
    return tuple(value)


def _budget(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 200_000:
        raise ValueError("a whole number of tokens from 100 to 200000 is expected")
    return value


def _injected(value: Any) -> int:
    if value == "off" or value is False:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= MOST_INJECTED:
        raise ValueError(f'a whole number of tokens from 100 to {MOST_INJECTED}, or "off", is expected')
    return value


def _rest(value: Any) -> float:
    if value == "off" or value is False:
        return math.inf
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1 <= value <= _MOST_REST_S:
        raise ValueError(f'a number of seconds from 1 to {_MOST_REST_S}, or "off", is expected')
    return value


def _least_rest(value: Any) -> float:
    return 0 if value == 0 and not isinstance(value, bool) else _rest(value)


def _minutes(value: Any) -> float:
    if value == "off" or value is False:
        return 0.0
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _MOST_MINUTES:
        raise ValueError(f'a number of minutes up to {_MOST_MINUTES}, or "off", is expected')
    return float(value)


def _path(value: Any) -> Path:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("a path is expected")
    path = expand_home(value)
    if not path.is_absolute():
        raise ValueError("an absolute path, or one that begins with ~, is expected")
    return path


class _BadEntryError(ValueError):
    """A bad value in a table; `entry` is its name there, for the line."""

    def __init__(self, entry: str, reason: str) -> None:
        super().__init__(f"'{entry}' {reason}")
        self.entry = entry


def _expressions(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("a table of names and regular expressions is expected")
    for name, expression in value.items():
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
            raise _BadEntryError(name, "is not made of lower-case letters, digits and -")
        if not isinstance(expression, str):
            raise _BadEntryError(name, "is not a regular expression in quotes")
        try:
            compiled = re.compile(expression)
        except (re.error, OverflowError, RecursionError) as error:
            raise _BadEntryError(name, f"is not a regular expression: {error}") from error
        if compiled.search(""):
            raise _BadEntryError(name, "matches the empty text, so it would redact everything")
        if reason := why_costly(expression):
            raise _BadEntryError(name, f"could run away: {reason}")
    return dict(value)


def _narrow_expressions(value: Any) -> dict[str, str]:
    """Of a vault, which may be somebody else's work: a rule for single letters would blind this user's memory."""
    rules = _expressions(value)
    for name, expression in rules.items():
        if least_width(expression) < _LEAST_MATCH:
            raise _BadEntryError(name, f"can match less than {_LEAST_MATCH} characters; only a user's own rule may")
    return rules


VAULT_KEYS: Final = (
    ConfigKey(
        "exclude",
        "Pages that are not indexed: patterns as in a .gitignore, from the vault's top. "
        "A file .wikimemignore there does the same.",
        'exclude = ["/templates/"]',
        _patterns,
    ),
    ConfigKey(
        "context_budget", "Tokens that `context` fills where the caller names no budget.", "context_budget = 2000",
        _budget,
    ),
    ConfigKey(
        "commit_after",
        "Seconds of rest after which `wikimem watch` commits what people edited, at the least; 0 leaves that to each "
        'user, "off" switches it off. See [Watching](watching.md).',
        'commit_after = "off"',
        _least_rest,
    ),
    ConfigKey(
        "inject_at_start",
        'The most tokens that hooks give an agent when a session starts, or "off"; a user may ask for less. '
        "See [Hooks](hooks.md).",
        'inject_at_start = "off"',
        _injected,
    ),
    ConfigKey(
        "inject_at_prompt", "The same at a prompt.", "inject_at_prompt = 300", _injected,
    ),
    ConfigKey(
        "redact",
        "More that is never stored in this vault, by anybody: as your own setting of that name, and in addition to it. "
        "A rule matches six characters or more.",
        "[redact]\nbadge-number = 'BN-[0-9]{8}'",
        _narrow_expressions,
    ),
)  # fmt: skip

USER_KEYS: Final = (
    ConfigKey(
        "default_vault",
        "The vault that is meant where neither an option nor the working directory names one.",
        'default_vault = "~/wikimem"',
        _path,
    ),
    ConfigKey("model", "A folder with another static embedding model.", 'model = "~/models/potion"', _path),
    ConfigKey(
        "redact",
        "More that is never stored: a name for the placeholder, and a regular expression.",
        "[redact]\nbadge-number = 'BN-[0-9]{8}'",
        _expressions,
    ),
    ConfigKey(
        "resident",
        'After how many idle minutes the resident process of a vault ends; "off": none. See [Resident](resident.md).',
        "resident = 15",
        _minutes,
    ),
    ConfigKey(
        "commit_after",
        'Seconds of rest after which `wikimem watch` commits what you edited (120), or "off". A vault can only make it '
        "longer. See [Watching](watching.md).",
        "commit_after = 120",
        _rest,
    ),
    ConfigKey(
        "inject_at_start",
        'Tokens that hooks give an agent when a session starts (1000), or "off". See [Hooks](hooks.md).',
        "inject_at_start = 600",
        _injected,
    ),
    ConfigKey(
        "inject_at_prompt",
        'Tokens that hooks give an agent at a prompt (500), or "off".',
        'inject_at_prompt = "off"',
        _injected,
    ),
    ConfigKey(
        "reranker",
        "A model that orders the best twenty hits of `search` anew: over HTTP, or on this machine with `path`; none "
        "unless you name one. `key_file` names a file with its key. See [Search](search.md#reranking).",
        RERANKER_EXAMPLE,
        read_reranker,
    ),
    ConfigKey(
        "llm",
        "A language model that `extract --llm` may ask, over HTTP; none unless you name one. `key_env` names the "
        "environment variable with its key. See [Language models](llm.md).",
        LLM_EXAMPLE,
        read_llm,
    ),
)

_HARMFUL: Final = (
    "command", "commands", "hook", "hooks", "llm", "url", "remote", "editor", "token", "key", "path", "index", "cache",
    "socket", "log", "author", "trust", "plugins",
    "name", "email",
)  # fmt: skip
"""Names that no version of wikimem takes from a vault; said so, where a mere "unknown" would invite a typo hunt."""


def _read_file(path: Path, keys: tuple[ConfigKey, ...], *, from_vault: bool) -> dict[str, Any]:
    data = _read_plain(path, follow=not from_vault)
    if data is None:
        return {}
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Damaged(f"{path}, line {line}: not UTF-8", hint="Save the file as UTF-8.") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Damaged(f"{path}: {error}", hint="Correct the file; it is TOML (https://toml.io).") from error
    values: dict[str, Any] = {}
    known = {key.name: key for key in keys}
    for name, value in document.items():
        if name not in known:
            raise _unknown(path, text, name, known, from_vault=from_vault)
        try:
            values[name] = known[name].read(value)
        except ValueError as error:
            entry = error.entry if isinstance(error, _BadEntryError) and "\n" not in error.entry else name
            place = _place(path, text, entry if _line_of(text, entry) else name)
            example = FOLDER_EXAMPLE if isinstance(error, BadFolderError) else known[name].example
            raise Invalid(f"{place}: {name}: {error}", hint=f"For example: {example}") from error
    return values


def _unknown(
    path: Path, text: str, name: str, known: Mapping[str, ConfigKey], *, from_vault: bool
) -> Invalid | Refused:
    place = _place(path, text, name)
    if from_vault and (name in _HARMFUL or name in {key.name for key in USER_KEYS}):
        return Refused(
            f"{place}: a vault may not set '{name}'",
            hint="Take the line out; what comes with a vault names no command, model or path. "
            "Such settings belong in your own configuration.",
        )
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"The keys are: {', '.join(known)}."
    return Invalid(f"{place}: unknown setting '{name}'", hint=hint)


def _place(path: Path, text: str, name: str) -> str:
    line = _line_of(text, name)
    return f"{path}, line {line}" if line else os.fspath(path)


def _line_of(text: str, name: str) -> int:
    """The line that sets `name`; 0 where none does at its start."""
    found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?{re.escape(name)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _read_plain(path: Path, *, follow: bool) -> bytes | None:
    """The bytes of a regular file, None where there is none; no FIFO is waited for.

    A link is followed for the user's own file only (people keep such files among their dotfiles).
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise Refused(f"{path} is a symbolic link", hint="Put the file itself there.") from error
        raise Damaged(f"cannot read {path}: {error.strerror}", hint="Check the file's permissions.") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"{path} is not a regular file", hint="Put a file of settings there, or nothing.")
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise Invalid(f"{path} is larger than {_MAX_BYTES} bytes", hint="Settings are a few lines of TOML.")
    return data
