"""From an agent's payload to an event in the spool of its vault.

    outcome = capture("claude", "PostToolUse", data)

Redaction comes before anything reaches the disk; what is kept of each field is limited (`LIMITS`).
"""

from __future__ import annotations

import json
import os
import time

from wikimem.agents.clean import Cleaner
from wikimem.agents.normal import TOOL_KINDS, normalised, plain_name
from wikimem.agents.payload import read_payload
from wikimem.errors import WikimemError
from wikimem.vault.locate import NoVault, Place, digest, place_for, private_folder, state_folder, user_key
from wikimem.vault.spool import NO_ID, NOT_KEPT, SPOOL, event_name, put

LIMITS: dict[str, int] = {
    "prompt": 16_000,
    "text": 8000,
    "command": 4000,
    "input": 4000,
    "output": 4000,
    "error": 4000,
}
"""Characters kept of the long fields, two thirds from the beginning and one from the end."""

SHORT_LIMIT = 1000
"""Characters kept of every other field."""

MOST_FILES = 50
"""Files that are kept of one event."""

NOTHING = "it says nothing"
PRIVATE = "all of it is private, or wikimem's own"
"""Why an event is left out that could have been kept."""

_SPOKEN = frozenset({"prompt", "response"})
_SAYS_ENOUGH = frozenset(
    {"session_start", "session_end", "pre_compact", "turn_end", "turn_failed", "subagent_start", "subagent_end"}
)
_CONTENT = ("prompt", "text", "title", "error", "command", "action", "subagent")
_ALWAYS = ("kind", "agent", "event")


class Outcome:
    """What became of an event: the file it was kept as (or None), why it was not, and what was wrong with its payload.

    `document` is the event as it was kept, as in `wikimem.model.event.Event` without time and key; else empty. `place`
    is where it was kept.
    """

    __slots__ = ("document", "file", "flaws", "place", "reason")

    def __init__(
        self,
        file: str | None,
        reason: str = "",
        flaws: tuple[str, ...] = (),
        document: dict[str, object] | None = None,
        place: Place | None = None,
    ) -> None:
        self.file = file
        self.reason = reason
        self.flaws = flaws
        self.document = document or {}
        self.place = place

    def said(self) -> str:
        """For the log: why the event was not kept, and what was wrong with its payload; empty for neither."""
        chosen = self.reason in (NOTHING, PRIVATE) and not self.flaws
        reason = ("left out: " if chosen else NOT_KEPT) + self.reason if self.reason else ""
        return "; ".join(part for part in (reason, *self.flaws) if part)


def capture(agent: str, event: str, data: bytes, tail: bytes = b"", vault: str | None = None) -> Outcome:
    """Keep an event, durably, in the spool of the vault that its folder means; `vault` is one that was named.

    `tail` is the end of a payload whose middle was too much to read. Where the event cannot be kept the outcome says
    why; what is damaged is kept as far as it can be read.
    """
    fields, flaws = read_payload(data, tail)
    if tail:
        flaws.append("too large")
    document = normalised(agent, event, fields, os.environ)
    if document is None:
        return Outcome(None, "", tuple(flaws))
    if not _says_something(document):
        return Outcome(None, NOTHING, tuple(flaws))
    try:
        return _keep(document, flaws, vault)
    except (NoVault, WikimemError) as error:
        return Outcome(None, str(error), tuple(flaws))
    except OSError as error:
        return Outcome(None, error.strerror or type(error).__name__, tuple(flaws))


def _says_something(document: dict[str, object]) -> bool:
    if document["kind"] in _SAYS_ENOUGH and document["session"]:
        return True
    return any(document.get(name) for name in (*_CONTENT, "tool", "files", "extra"))


def _keep(document: dict[str, object], flaws: list[str], vault: str | None) -> Outcome:
    state = private_folder(state_folder())
    ran_in = "" if document["cwd"] else _working_directory()
    place = place_for(vault, str(document["cwd"] or ran_in or "/"), state)
    kept = _kept({**document, "ran_in": ran_in}, place, state)
    if document["kind"] in _SPOKEN and not (kept.get("prompt") or kept.get("text")):
        return Outcome(None, PRIVATE, tuple(flaws))
    return Outcome(_put(kept, flaws, place), "", tuple(flaws), kept, place)


def _put(kept: dict[str, object], flaws: list[str], place: Place) -> str:
    now = time.time_ns()
    content = _content(kept)
    ident = _ident(kept)
    unique = f"{content}\0{ident if ident != NO_ID else now}"
    document = {
        "format": 1,
        **kept,
        "time": _iso(now),
        "key": digest(unique.encode("utf-8", "replace"), 16),
        **({"flaws": flaws} if flaws else {}),
    }
    # Anything that is not ASCII is escaped: a file name or a text that is no valid Unicode cannot fail here.
    data = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    vaults = private_folder(os.path.dirname(place.state))
    folder = private_folder(f"{private_folder(os.path.join(vaults, os.path.basename(place.state)))}/{SPOOL}")
    name = event_name(now, content, ident, plain_name(str(kept["agent"])))
    put(folder, name, data)
    return f"{folder}/{name}"


def _kept(document: dict[str, object], place: Place, state: str) -> dict[str, object]:
    """The document with every text redacted and shortened, empty fields left out."""
    from wikimem.text.redact import Redactor

    cleaner = Cleaner(Redactor(user_key(state), place.redact))
    kept: dict[str, object] = {}
    short: dict[str, str] = {}
    for name, value in document.items():
        if name in LIMITS:
            kept[name] = cleaner.text(name, str(value), LIMITS[name])
        elif name == "files":
            assert isinstance(value, list)
            short.update({f"file{number}": str(file) for number, file in enumerate(value[:MOST_FILES])})
        elif name != "extra":
            short[name] = str(value)
    lines = _short_texts(cleaner, short)
    files = [lines.pop(name) for name in short if name.startswith("file")]
    kept.update(lines)
    kept.update(
        files=files, extra=_extras(cleaner, document["extra"]), cut=cleaner.cut, redacted=dict(cleaner.redacted)
    )
    return {name: value for name, value in kept.items() if value or name in _ALWAYS}


def _short_texts(cleaner: Cleaner, short: dict[str, str]) -> dict[str, str]:
    """Many short texts through one pass of the redactor, where none of them is more than a line."""
    flat = {name: value for name, value in short.items() if value}
    joined = "\n\n".join(flat.values())
    before = cleaner.redacted.copy()
    if all(len(value) <= SHORT_LIMIT and "\n" not in value for value in flat.values()):
        parts = cleaner.text("", joined, len(joined) + 1).split("\n\n") if flat else []
        if len(parts) == len(flat):
            return {name: part.strip() for name, part in zip(flat, parts, strict=True)}
        cleaner.redacted = before
    return {name: cleaner.text(name, value, SHORT_LIMIT) for name, value in flat.items()}


def _extras(cleaner: Cleaner, extras: object) -> dict[str, object]:
    """Extras as they are, or none of those in which anything looks like a secret by its value or by its name."""
    if not isinstance(extras, dict) or not extras:
        return {}
    if _is_clean(cleaner, extras):
        return extras
    return {name: value for name, value in extras.items() if _is_clean(cleaner, {name: value})}


def _is_clean(cleaner: Cleaner, extras: dict[str, object]) -> bool:
    try:
        written = json.dumps(extras, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return False
    return cleaner.text("", written, len(written) + 1) == written


def _content(kept: dict[str, object]) -> str:
    """Digest of what makes an event the same event, whichever agent reports it: not its ids, and not its output."""
    parts = [str(kept.get(name, "")) for name in ("kind", "session", *_CONTENT)]
    files = kept.get("files")
    if isinstance(files, list):
        parts += [os.path.normpath(os.path.join(str(kept.get("cwd", "")), file)) for file in files]
    if kept.get("kind") == "session_start":
        parts.append(str(kept.get("source", "")))
    if not kept.get("command"):
        parts.append(str(kept.get("input", "")))
        parts.append("" if files else str(kept.get("tool", "")))
    return digest("\0".join(parts).encode("utf-8", "replace"), 8)


def _ident(kept: dict[str, object]) -> str:
    """The agent's own id of the event: of the tool's run, else of the turn, else its time."""
    by = (("c", "call"),) if kept["kind"] in TOOL_KINDS else (("t", "turn"), ("s", "stamp"))
    for letter, name in by:
        if kept.get(name):
            return letter + digest(str(kept[name]).encode("utf-8", "replace"), 4)
    return NO_ID


def _iso(now_ns: int) -> str:
    seconds, rest = divmod(now_ns, 1_000_000_000)
    local = time.localtime(seconds)
    sign, minutes = ("-" if local.tm_gmtoff < 0 else "+"), abs(local.tm_gmtoff) // 60
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', local)}.{rest // 1000:06d}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
