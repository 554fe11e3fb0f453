"""A page as Markdown, from what `read` gave: the form in which MCP hands out pages as resources."""

from __future__ import annotations

from wikimem.model.results import ReadResult
from wikimem.text.frontmatter import render_frontmatter


def markdown(result: ReadResult) -> str:
    """Frontmatter and body, with secrets masked as `read` masked them.

    The block says what the page's own says, not byte for byte: comments and the person's quoting are on disk.
    """
    properties = {key: value for key, value in result.frontmatter.items() if value is not None}
    return render_frontmatter(properties) + result.body
