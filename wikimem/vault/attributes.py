"""What git's attributes make of a file's bytes on their way into the repository and out of it.

Filters (git-crypt, LFS), encodings, `$Id$` and line endings are git's to apply: it is asked wherever they may hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import Damaged, Refused, Unavailable
from wikimem.vault.gitcommand import run_git

_CONVERTING: Final = ("filter", "working-tree-encoding", "ident")
_LINE_ENDINGS: Final = ("text", "eol", "crlf")


class Attributes(Struct, frozen=True):
    """The attributes of one work tree. `autocrlf` is whether core.autocrlf is on, as true or input.

    Names of files are from the top of the work tree.
    """

    top: Path
    common_dir: Path
    has_git: bool
    autocrlf: bool

    def stored(self, name: str, data: bytes, *, write: bool) -> bytes | None:
        """The id of the blob that git makes of these bytes, written where asked; None where it is the bytes as they
        are. Raises Refused where git cannot convert them, Unavailable where that needs a git that is not there."""
        if not self._may_convert(name, line_breaks=b"\r" in data):
            return None
        if not self.has_git:
            raise Unavailable(f"git attributes convert '{name}', which needs git", hint="Install git.")
        flags = ["-w"] if write else []
        try:
            return run_git(self.top, "hash-object", *flags, f"--path={name}", "--stdin", stdin=data).stdout.strip()
        except Damaged as error:
            raise _refused(name, error) from error

    def checked_out(self, name: str, blob: bytes) -> bytes | None:
        """The bytes that git checks out for a blob; None where they are the blob's own. Raises Refused as `stored`."""
        if not self.has_git or not self._may_convert(name, line_breaks=True):
            return None
        try:
            return run_git(self.top, "cat-file", "--filters", f"--path={name}", blob.decode()).stdout
        except Damaged as error:
            raise _refused(name, error) from error

    def _may_convert(self, name: str, *, line_breaks: bool) -> bool:
        """`line_breaks`: whether settings about line endings alone could change anything."""
        if not self.has_git:
            folders = [self.top / folder for folder in Path(name).parents]
            places = [self.common_dir / "info" / "attributes", *(folder / ".gitattributes" for folder in folders)]
            return any(_names_conversion(place) for place in places)
        wanted = (*_CONVERTING, *_LINE_ENDINGS)
        answer = run_git(self.top, "check-attr", "-z", *wanted, "--", name).stdout.split(b"\0")
        states = {answer[at + 1].decode(): answer[at + 2] for at in range(0, len(answer) - 2, 3)}
        off = (b"unspecified", b"unset")
        if any(states.get(attribute, b"unspecified") not in off for attribute in _CONVERTING):
            return True
        endings = any(states.get(attribute, b"unspecified") not in off for attribute in _LINE_ENDINGS)
        return line_breaks and (endings or self.autocrlf)


def _names_conversion(place: Path) -> bool:
    """Whether a file of attributes sets any that converts, for whatever path: without git, none is matched."""
    try:
        lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return False
    said = (word.partition("=")[0] for line in lines if not line.startswith("#") for word in line.split()[1:])
    return any(attribute in (*_CONVERTING, *_LINE_ENDINGS) for attribute in said)


def _refused(name: str, error: Damaged) -> Refused:
    said = error.message.partition(": ")[2].splitlines()
    return Refused(
        f"git cannot convert '{name}' as its attributes say: {said[-1] if said else error.message}",
        hint=f"See `git check-attr -a -- '{name}'`, and the filter or encoding that it names. Nothing was written.",
    )
