"""Files of questions with the pages that answer them: one JSON object a line, a CSV table, or a Markdown list.

    questions.jsonl   {"question": "Which library verifies our JWTs?", "pages": ["Use jose for JWT verification"]}
    questions.csv     question,pages,type        pages are separated by `;`
    questions.md      - Which library verifies our JWTs? -> [[Use jose for JWT verification]]

In Markdown, a heading above a list is the type of its questions; whatever is no list item is passed over.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from wikimem.errors import Invalid
from wikimem.model.evaluation import EvalQuestion
from wikimem.text.lazyregex import lazily

ENDINGS: Final = (".jsonl", ".csv", ".md")
"""The kinds of file, by the end of their names."""

_KEYS: Final = tuple(name for name in EvalQuestion.__struct_fields__ if name != "line")
_TEXTS: Final = tuple(key for key in _KEYS if key != "pages")
_ITEM: Final = lazily(r"\s*[-*+]\s+(?:\[[ xX]\]\s+)?(.*\S)\s*\Z")
_ARROW: Final = lazily(r"\s(?:->|=>|→)\s")
_WIKILINK: Final = lazily(r"\[\[[^\[\]\n]+\]\]")
_HEADING: Final = lazily(r"#{1,6}\s+(.*?)\s*#*\s*\Z")

Row = tuple[int, Mapping[str, Any]]
"""The line that a question begins on, and what it says."""


def read_questions(name: str, data: bytes) -> list[EvalQuestion]:
    """The questions of a file called `name` with these bytes.

    Raises Invalid, naming file and line, for what is no question, and for a file without any.
    """
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    if ending is None:
        raise Invalid(
            f"{name}: not known what kind of file this is", hint=f"Name it by its kind: {', '.join(ENDINGS)}."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid(f"{name}:{line}: this is not UTF-8", hint="Save the file in UTF-8.") from error
    rows = {".jsonl": _json_rows, ".csv": _csv_rows, ".md": _markdown_rows}[ending](name, text)
    questions = [_question(name, line, row) for line, row in rows]
    if not questions:
        raise Invalid(f"{name}: there is no question in it", hint="See `wikimem help eval` for what such a file holds.")
    return questions


def _json_rows(name: str, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"{name}:{number}: not JSON: {error}", hint="Each line is one JSON object.") from error
        if not isinstance(row, dict):
            raise Invalid(f"{name}:{number}: not a JSON object", hint='Such as {"question": "...", "pages": ["..."]}.')
        yield number, row


def _csv_rows(name: str, text: str) -> Iterator[Row]:
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    keys: list[str] = []
    begun = 1
    try:
        for cells in table:
            line, begun = begun, table.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not keys:
                keys = [cell.strip() for cell in cells]
                continue
            if len(cells) > len(keys):
                raise Invalid(
                    f"{name}:{line}: {len(cells)} cells under {len(keys)} columns",
                    hint="Put a cell with a comma in double quotes.",
                )
            row: dict[str, Any] = {key: cell.strip() for key, cell in zip(keys, cells, strict=False) if cell.strip()}
            if "pages" in row:
                row["pages"] = [page.strip() for page in row["pages"].split(";") if page.strip()]
            yield line, row
    except csv.Error as error:
        raise Invalid(f"{name}:{begun}: not CSV: {error}", hint="Put a cell with quotes in double quotes.") from error


def _markdown_rows(name: str, text: str) -> Iterator[Row]:
    kind = ""
    for number, line in enumerate(text.splitlines(), start=1):
        heading = _HEADING.match(line)
        if heading:
            kind = heading[1]
            continue
        item = _ITEM.match(line)
        if not item:
            continue
        question, *rest = _ARROW.split(item[1])
        if len(rest) != 1:
            raise Invalid(f"{name}:{number}: no pages are named", hint="Write `- question -> [[Page]] [[Other page]]`.")
        # A link's label says nothing about which page is meant.
        pages = [link[2:-2].partition("|")[0].rstrip("\\") for link in _WIKILINK.findall(rest[0])]
        yield number, {"question": question, "pages": pages, "type": kind}


def _question(name: str, line: int, row: Mapping[str, Any]) -> EvalQuestion:
    where = f"{name}:{line}"
    unknown = next((key for key in row if key not in _KEYS), None)
    if unknown is not None:
        raise Invalid(f"{where}: there is no key '{unknown[:40]}'", hint=f"Known are {', '.join(_KEYS)}.")
    for key in _TEXTS:
        if not isinstance(row.get(key, ""), str | None):
            raise Invalid(f"{where}: {key}: a text is expected", hint="Put it in quotes.")
    question, pages = row.get("question") or "", row.get("pages")
    if not question.strip():
        raise Invalid(f"{where}: the question is missing", hint='Give it as "question".')
    if isinstance(pages, str):
        pages = [pages]
    if not isinstance(pages, list) or not all(isinstance(page, str) and page.strip() for page in pages) or not pages:
        raise Invalid(f"{where}: pages: the pages that answer it are expected", hint='Such as "pages": ["Page"].')
    said = {key: row.get(key) or None for key in ("project", "now", "as_of")}
    return EvalQuestion(question.strip(), tuple(dict.fromkeys(pages)), line, row.get("type") or "", **said)
