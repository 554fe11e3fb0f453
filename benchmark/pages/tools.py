"""The three tools, each as people use it: bytes and an edit in, bytes out, or an error."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmark.pages.edits import Value
from wikimem.errors import WikimemError
from wikimem.text.frontmatter import set_properties

Tool = Callable[[bytes, str, Value | None], bytes]
_BLOCK: Final = re.compile(
    r"(---[ \t]*(?:\r\n|\n|\r))(.*?)((?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z))", re.DOTALL
)
_END_MARK: Final = re.compile(r"^\.\.\.\n\Z", re.MULTILINE)
"""What ruamel.yaml writes after a literal that keeps its line breaks."""
_OTHER_BLOCK: Final = re.compile(r"\+\+\+\s|\{\s*\"")


class RefusedByTool(Exception):
    """The tool says, with a reason, that it does not make the edit."""


def with_wikimem(data: bytes, key: str, value: Value | None) -> bytes:
    """The function behind `wikimem edit --set`."""
    try:
        if value is None:
            return set_properties(data, {}, remove=[key], path="page.md")
        return set_properties(data, {key: value}, path="page.md")
    except WikimemError as error:
        raise RefusedByTool(error.message) from error


def with_python_frontmatter(data: bytes, key: str, value: Value | None) -> bytes:
    """Load a file, set, dump it to the file."""
    import frontmatter
    import yaml

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.md"
        file.write_bytes(data)
        try:
            post = frontmatter.load(file)
            if _set(post.metadata, key, value):
                frontmatter.dump(post, file)
        except (yaml.YAMLError, UnicodeError) as error:
            raise RefusedByTool(f"{type(error).__name__}: {error}") from error
        return file.read_bytes()


def with_ruamel(data: bytes, key: str, value: Value | None) -> bytes:
    """ruamel.yaml's round trip of what stands between the fences, quotes preserved; fences and body stay bytes.

    ruamel knows no pages. These lines find the fences, whatever the line ends, keep a byte order mark in front, put a
    block there where there is none, and refuse TOML and JSON: kinder than most such code that one meets.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    try:
        text = data.decode("utf-8")
        mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
        if _OTHER_BLOCK.match(text):
            raise RefusedByTool("TOML or JSON, which ruamel.yaml does not read")
        found = _BLOCK.match(text)
        values: Any = yaml.load(found[2]) if found else None
        if values is not None and not isinstance(values, dict):
            found = None  # prose or a list between two rules
        values = values if found and values is not None else {}
        if not _set(values, key, value):
            return data
        out = io.StringIO()
        if values:
            yaml.dump(values, out)
        block = _END_MARK.sub("", out.getvalue())
        parts = (found[1], block, found[3], text[found.end() :]) if found else ("---\n", block, "---\n", text)
        return (mark + "".join(parts)).encode("utf-8")
    except (YAMLError, UnicodeError) as error:
        raise RefusedByTool(f"{type(error).__name__}: {error}") from error


TOOLS: Final[Mapping[str, Tool]] = {
    "wikimem": with_wikimem,
    "python-frontmatter": with_python_frontmatter,
    "ruamel.yaml": with_ruamel,
}


def _set(values: Any, key: str, value: Value | None) -> bool:
    """Set or remove a key; False where there was nothing to remove."""
    if value is None:
        if key not in values:
            return False
        del values[key]
    else:
        values[key] = list(value) if isinstance(value, tuple) else value
    return True
