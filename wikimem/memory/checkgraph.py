"""What is odd in the files of the graph: lines that are no triples, statements that say nothing or cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wikimem.graph.files import FOLDER
from wikimem.model.page import Problem
from wikimem.search.graphview import open_store

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

PREFIX: Final = "graph-"
GRAPH_RULES: Final = tuple(
    PREFIX + name
    for name in (
        "triple", "edge", "assertion", "entity", "unknown-predicate", "self-edge", "ends-before-start", "weight",
        "time", "date",
    )
)  # fmt: skip
"""The rules of `check` that are about the graph; without the prefix they are those of the reader of its files."""


def check_graph(wiki: Wiki) -> Iterator[Problem]:
    """The problems of all files of the graph; none, and nothing is opened, where there is no such folder."""
    if not (wiki.root / FOLDER).is_dir():
        return
    with open_store(wiki) as store:
        for each in store.problems():
            yield replace(each, rule=PREFIX + each.rule)
