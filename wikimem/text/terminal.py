"""What programs print for a terminal's eyes: colours, links and cursor moves, which are no part of the text.

    without_sequences("\\x1b[31m1 failed\\x1b[0m")  # "1 failed"

A text without them is redacted as it would have been without colours: a sequence within a secret would hide it.
"""

from __future__ import annotations

from wikimem.text.redact_values import compiled

_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, the cursor, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x9d])[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)"  # OSC and the like: links, titles
    r"|\x1b[()][0-9AB]|\x1b[78=>]|\x1b"
)


def without_sequences(text: str) -> str:
    """`text` without escape sequences (ECMA-48). One that is never closed loses its escape alone."""
    if "\x1b" not in text and (text.isascii() or ("\x9b" not in text and "\x9d" not in text)):
        return text
    return compiled(_SEQUENCE).sub("", text)
