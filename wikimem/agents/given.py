"""What a session was given already, so that hooks never give the same twice: one small file for a session.

It lies in the state folder of the vault and holds no text of a page and no name of a session: ids of pages, their
revisions, and when the session began. Two agents that report one session share it.
"""

from __future__ import annotations

import json
import os
import time

from wikimem.vault.locate import digest, private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

FOLDER = "given"
"""Its name in a vault's state folder."""

MOST_KEYS = 4000
"""Of one session; the oldest go first."""

KEEP_S = 30 * 24 * 3600
"""How long the file of a session is kept after its last use."""

REPEAT_S = 10.0
"""A session that begins in the same way twice within this time was reported twice."""

FRESH = frozenset({"", "clear", "compact", "fork"})
"""Sources of a session's start after which the model has nothing of what it was given before."""

_PAUSE_S = 0.01
_MOST_BYTES = 1_000_000


class Given:
    """The keys of what one session has, for one hook alone while it is entered.

    Entering raises TimeoutError where another hook of the session holds it until `deadline` (of `time.monotonic`).
    """

    def __init__(self, state: str, session: str, deadline: float) -> None:
        folder = private_folder(f"{private_folder(state)}/{FOLDER}")
        self.path = f"{folder}/{digest(session.encode('utf-8', 'replace'), 16)}.json"
        self.keys: list[str] = []
        self._began: tuple[str, float] = ("", 0.0)
        self._deadline = deadline
        self._file = -1

    def __enter__(self) -> Self:
        import fcntl

        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > self._deadline:
                        raise TimeoutError from None
                    time.sleep(_PAUSE_S)
            self._load()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def begin(self, source: str) -> None:
        """The session begins, or goes on: what it had is forgotten where its model has forgotten it."""
        now = time.time()
        repeated = self._began[0] == source and 0 <= now - self._began[1] < REPEAT_S
        if source in FRESH and not repeated:
            self.keys = []
        self._began = (source, now)
        self._write()
        _prune(os.path.dirname(self.path), now - KEEP_S)

    def add(self, keys: list[str]) -> None:
        """Remember what is about to be given."""
        self.keys = [*self.keys, *keys][-MOST_KEYS:]
        self._write()

    def _load(self) -> None:
        try:
            document = json.loads(os.read(self._file, _MOST_BYTES).partition(b"\n")[0])
            keys, (source, moment) = document["given"], document["began"]
            if all(isinstance(key, str) for key in (*keys, source)):
                self.keys, self._began = list(keys), (source, float(moment))
        except (ValueError, TypeError, KeyError):
            pass  # new, or cut short by a crash: at worst something is given twice

    def _write(self) -> None:
        data = json.dumps({"began": self._began, "given": self.keys}, separators=(",", ":")).encode("ascii") + b"\n"
        os.pwrite(self._file, data, 0)
        os.ftruncate(self._file, len(data))


def forget(state: str, session: str) -> None:
    """The model of this session forgets what it was given: its context is about to be shortened."""
    try:
        os.truncate(f"{state}/{FOLDER}/{digest(session.encode('utf-8', 'replace'), 16)}.json", 0)
    except OSError:
        pass  # it was given nothing


def _prune(folder: str, before_s: float) -> None:
    for name in os.listdir(folder):
        try:
            if os.stat(f"{folder}/{name}").st_mtime < before_s:
                os.unlink(f"{folder}/{name}")
        except OSError:
            pass  # another hook was first
