"""The markers that a git merge leaves in a text where both sides changed it."""

from __future__ import annotations

import re
from typing import Final

from wikimem.errors import Refused
from wikimem.text.markdown import code_spans, within
from wikimem.text.yamlblock import line_of

_MARKER: Final = re.compile(r"(?:\A\ufeff?|(?<=[\r\n]))(<{7}|={7}|>{7})(?=[ \r\n]|\Z)")


def conflict_start(text: str, body_start: int) -> int | None:
    """The offset of a `<<<<<<<` that a `=======` and a `>>>>>>>` follow, each at the start of a line.

    Where all three lie in code they are an example. One of them alone may: the sides of a merge open and close fences
    as they like.
    """
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return None
    code = code_spans(text, body_start)
    opened: int | None = None
    parted: int | None = None
    for found in _MARKER.finditer(text):
        at, mark = found.start(1), found[1][0]
        if mark == "<":
            opened, parted = at, None
        elif mark == "=":
            parted = at if opened is not None else None
        elif opened is not None and parted is not None:
            if not all(within(code, place) for place in (opened, parted, at)):
                return opened
            opened = parted = None
    return None


def refuse_conflict(text: str, body_start: int, path: str) -> None:
    """Raises Refused, with file and line, where the text holds a conflict: wikimem never commits its markers."""
    start = conflict_start(text, body_start)
    if start is not None:
        raise Refused(
            f"{place(path, line_of(text, start))}: the page holds conflict markers of a git merge",
            hint="Resolve the merge first.",
        )


def place(path: str, line: int) -> str:
    """`file:line` for messages, or the line alone where the file's name is not known."""
    return f"{path}:{line}" if path else f"line {line}"
