"""Every error that wikimem raises on purpose.

    WikimemError            exit  HTTP
      Invalid                 2    400   the request makes no sense
      NotFound                3    404   the thing named is not there
      Conflict                4    409   someone else changed it first, or holds it
      Refused                 5    403   understood, and will not be done
      Unavailable             6    503   a part that this needs is missing or not built yet
      Damaged                 7    500   stored data cannot be read; names file and line

Anything else that reaches a door is a bug (exit 70).
A class of its own exists only where a caller tells it apart from its parent.
"""

from __future__ import annotations

# Hooks load this module, and `typing` alone takes a fifth of the time in which Python starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


MOST_CHARACTERS = 2_000
"""Of a message or a hint: one that repeats what it was given must not repeat a pasted log."""


class WikimemError(Exception):
    """What happened (`message`), what to do next (`hint`), and data for a caller that can act on it.

    A message or hint that is too long for anybody to read is cut, and says so.
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "", data: Mapping[str, Any] | None = None) -> None:
        message = _cut(message)
        super().__init__(message)
        self.message = message
        self.hint = _cut(hint)
        self.data: dict[str, Any] = dict(data or {})


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2 - 50
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"


class Invalid(WikimemError):
    """The request makes no sense: a bad value, an unknown name, options that exclude each other."""

    kind, exit_code, http_status = "invalid", 2, 400


class NotFound(WikimemError):
    """The thing that was named is not there."""

    kind, exit_code, http_status = "not_found", 3, 404


class Conflict(WikimemError):
    """Someone else changed it first: a stale revision, a lock that is held, a page that exists."""

    kind, exit_code, http_status = "conflict", 4, 409


class StaleRevision(Conflict):
    """An edit was based on a revision that is no longer on disk; `data` carries the current one and its text."""


class Locked(Conflict):
    """Another live process holds the vault's write lock; `data` names it."""


class Refused(WikimemError):
    """Understood, and will not be done: a secret, an untrusted vault, a path outside the vault."""

    kind, exit_code, http_status = "refused", 5, 403


class Unavailable(WikimemError):
    """A part that this needs is missing, or is not built yet."""

    kind, exit_code, http_status = "unavailable", 6, 503


class Damaged(WikimemError):
    """Stored data cannot be read; the message names the file, and the line where there is one."""

    kind, exit_code, http_status = "damaged", 7, 500


ERROR_KINDS: tuple[type[WikimemError], ...] = (Invalid, NotFound, Conflict, Refused, Unavailable, Damaged)
