"""Errors, and the first file of the project in which each was thrown, from stack traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.vocabulary import STATED

_NAME: Final = r"((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Panic|Exit|Interrupt)|[A-Z]\w*Error)(?:\s*\[[A-Z_]+\])?"
_HEAD: Final = re.compile(
    rf"^[ \t]*(?:Uncaught\s+|Unhandled\s+|Caused by:\s*|E\s+)?{_NAME}(?::[ \t]*([^\n]*))?[ \t]*$", re.MULTILINE
)
_CODE: Final = re.compile(r"\b(E[A-Z]{4,}|ERR_[A-Z][A-Z0-9_]{3,})\b")
_FRAME_JS: Final = re.compile(
    r"^[ \t]*at[ \t]+(?:async[ \t]+)?(?:([\w$.<>]+)[ \t]+(?:\[as[^\]]*\][ \t]*)?\()?(?:file://)?([^\s()]+?):(\d+):\d+\)?",
    re.MULTILINE,
)
_FRAME_PYTHON: Final = re.compile(r"^[ \t]*File \"([^\"\n]+)\", line \d+(?:, in ([\w<>.]+))?", re.MULTILINE)
_FRAME_RUST: Final = re.compile(r"panicked at (?:'[^'\n]*', )?([\w./-]+\.rs):\d+")
_FRAME_GO: Final = re.compile(r"^[ \t]+([\w./-]+\.go):\d+", re.MULTILINE)
_FOREIGN: Final = re.compile(
    r"node_modules/|site-packages/|dist-packages/|^node:|^internal/|/lib/python|\.cargo/|/go/pkg/|<frozen|/usr/"
)
_ROOT: Final = re.compile(r"^.*?/(?=(?:src|lib|app|apps|packages|tests?|server|client|cmd|internal|pkg)/)")


def thrown(text: str, setting: Setting) -> Iterator[Extracted]:
    """Where each error of a block of output was thrown: the first frame that is the project's own."""
    heads = list(_HEAD.finditer(text))
    python = list(_FRAME_PYTHON.finditer(text))
    if python and heads:
        # The innermost frame comes last, and the error after it.
        own = [match for match in python if not _FOREIGN.search(match[1])]
        if own:
            yield _located(heads[-1][1], own[-1][1], f"{own[-1][0].strip()}", setting)
        return
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        for frame in _FRAME_JS.finditer(text, head.end(), end):
            if not _FOREIGN.search(frame[2]):
                yield _located(head[1], frame[2], frame[0].strip(), setting)
                break
    for pattern, name in ((_FRAME_RUST, "panic"), (_FRAME_GO, "panic")):
        match = pattern.search(text)
        if match and ("panic" in text) and not heads:
            yield _located(name, match[1], match[0].strip(), setting)


def errors_in(text: str) -> list[Named]:
    """The errors that a line of output reports: their types and codes."""
    found = [
        Named("error", match)
        for match in re.findall(r"(?<![\w.])((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception))(?![\w(])", text)
    ]
    found += [Named("error", match) for match in _CODE.findall(text) if match != "ERROR"]
    return list(dict.fromkeys(found))


def _located(error: str, file: str, quote: str, setting: Setting) -> Extracted:
    path = _ROOT.sub("", file.removeprefix("file://")).removeprefix("./")
    return Extracted(setting.error or Named("error", error), "located_in", Named("file", path), STATED, quote)
