"""Names that every file system, git client and Obsidian can carry, and paths that cannot leave the vault."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from wikimem.errors import Refused
from wikimem.text.lazyregex import lazily

MAX_NAME_BYTES: Final = 200
"""Of a file name without its ending; leaves room for `.md` and for what sync tools append, within 255."""

MAX_PART_BYTES: Final = 255
MAX_PATH_BYTES: Final = 1000
"""A part of a path on ext4 and APFS; a whole path on macOS (1,024) less a little for the vault's own place."""

UNTITLED: Final = "untitled"

# Not drawn, and dropped from names: zero-width space, bidirectional marks, byte order mark. The joiners U+200C and
# U+200D stay: Persian words and many emoji need them.
_INVISIBLE: Final = lazily("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")

# Ignored by HFS+ when names are compared (git's utf8.c, next_hfs_char): `.g<U+200C>it` is `.git` there.
_HFS_IGNORED: Final = lazily("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")

_JOINERS: Final = "\u200c\u200d\ufe0e\ufe0f"
_EDGE: Final = " ." + _JOINERS

_RESERVED: Final = lazily(
    r"(?P<device>con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?P<rest> *(?:\..*)?)",
    re.IGNORECASE | re.DOTALL,
)
"""Names that Windows keeps for devices, with any ending (docs.microsoft.com, Naming Files, Paths, and Namespaces)."""


def portable_name(title: str) -> str:
    r"""The file name, without ending, for a page of this title. Deterministic and idempotent.

    Separators (`\ / : |`) and a `#` after a letter become `-`; what else Windows forbids or a wikilink cannot hold
    (`* ? " < > # ^ [ ]`, `%%`, control characters) becomes a space. Letters of every script, emoji and other symbols
    stay. Cut to 200 bytes where a character ends; `untitled` where nothing that can be seen is left.
    """
    name, before = title, None
    while name != before:
        # What one step removes can bring together what another step replaces.
        name, before = _fit_once(name), name
    if all(unicodedata.category(char)[0] in "ZCM" for char in name):
        return UNTITLED
    return name


def _fit_once(name: str) -> str:
    name = _INVISIBLE.sub("", unicodedata.normalize("NFC", name))
    name = re.sub(r"(?<=\w)#+(?!\w)", "-", name)
    name = re.sub(r"(?<=\S)[\\/:|]+(?=\s)", " -", name)
    name = re.sub(r"[\\/:|]", "-", name)
    name = re.sub(r"%{2,}", "%", name)
    name = "".join(" " if _is_unfit(char) else char for char in name)
    name = _trim_edges(re.sub(r"\s+", " ", name))
    name = _trim_edges(_cut(name, MAX_NAME_BYTES))
    if name.casefold() == "git~1":
        return name.replace("~", "-")  # the short name that NTFS gives to `.git`
    if reserved := _RESERVED.fullmatch(name):
        return f"{reserved['device']}_{reserved['rest'].lstrip(' ')}"
    return name


def check_path(text: str) -> str:
    """`text` where it is a path inside a vault that a page may have (POSIX, relative), else Refused with the reason.

    Refused: absolute paths, `..`, empty and `.` parts, control characters, names that are not UTF-8, hidden folders
    and files, `.git` in any disguise that HFS+ or NTFS would see through, and what is too long.
    """
    reason = _path_fault(text)
    if reason:
        raise Refused(
            f"{_shown(text)} is not a path for a page: {reason}",
            hint="Give a path below the vault, such as `global/facts/Title.md`.",
        )
    return text


def folded(name: str) -> str:
    """Equal for names that a case-insensitive or normalising file system takes for one (APFS, NTFS, HFS+)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def _path_fault(text: str) -> str:
    if not text:
        return "it is empty"
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return "it is not UTF-8"
    if size > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    if any(unicodedata.category(char) == "Cc" or char in "\u2028\u2029" for char in text):
        return "it holds a control character"
    if text.startswith(("/", "\\")) or re.match(r"[A-Za-z]:[\\/]", text):
        return "it is absolute"
    for part in text.split("/"):
        if not part:
            return "a part of it is empty"
        if len(part.encode("utf-8")) > MAX_PART_BYTES:
            return f"a part of it is longer than {MAX_PART_BYTES} bytes"
        # On Windows and in git's NTFS checks a backslash separates parts too.
        for piece in part.split("\\"):
            if fault := _part_fault(piece):
                return fault
    return ""


def _part_fault(part: str) -> str:
    seen = _HFS_IGNORED.sub("", unicodedata.normalize("NFC", part)).strip(" ")
    if seen in (".", "..") or (seen and not seen.strip(". ")):
        return "`.` and `..` are no names"
    stem = seen.casefold().split(":")[0].rstrip(" .")
    if stem in (".git", "git~1"):
        return "it is in git's own folder"
    if seen.startswith("."):
        return "it is in a hidden folder, or is a hidden file"
    return ""


def _is_unfit(char: str) -> bool:
    if char in '*?"<>#^[]':
        return True
    if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
        return True
    code = ord(char)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noncharacters: refused by APFS


def _trim_edges(name: str) -> str:
    """Without what may not stand at either end: a leading dot hides, a trailing dot or space is lost on Windows.

    A joiner at the end of an emoji belongs to it, so it goes only where a dot or space follows.
    """
    name = name.lstrip(_EDGE)
    name = re.sub(rf"[ .]+[{_EDGE}]*\Z", "", name)
    return name[:-2].rstrip(" .") if name.endswith(" -") else name


def _cut(name: str, limit: int) -> str:
    """The longest beginning of `name` within `limit` bytes that does not break a character as people see it."""
    if len(name.encode("utf-8")) <= limit:
        return name
    end = size = 0
    for end, char in enumerate(name):  # noqa: B007  (used after the loop)
        size += len(char.encode("utf-8"))
        if size > limit:
            break
    whole = end
    while whole > 0 and _continues(name, whole):
        whole -= 1
    return name[: whole or end]


def _continues(name: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it (combining mark, joined emoji, flag)."""
    char, before = name[at], name[at - 1]
    if unicodedata.category(char)[0] == "M" or char in _JOINERS or before == "\u200d":
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    if _is_flag_half(char) and _is_flag_half(before):
        start = at
        while start > 0 and _is_flag_half(name[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    return False


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _shown(text: str) -> str:
    shown = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return f"'{shown[:120]}...'" if len(shown) > 120 else f"'{shown}'"
