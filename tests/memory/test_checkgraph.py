"""check reports what is odd in the graph's files, by file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikimem.memory.checkgraph import GRAPH_RULES
from wikimem.memory.checkrules import RULES
from wikimem.operations import OPERATIONS
from wikimem.wiki import Caller, open_wiki

if TYPE_CHECKING:
    from tests.conftest import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
FILE = "graph/links/ab.nt"


def check(vault: Path, **arguments: Any) -> list[tuple[str, str, int | None]]:
    wiki = open_wiki(str(vault), cwd=vault, caller=Caller(cwd=vault))
    try:
        found = BY_NAME["check"].run(wiki, arguments)
    finally:
        wiki.close()
    return [(each.rule, each.path, each.line) for each in found.problems if each.path.startswith("graph/")]


def test_odd_lines_and_statements_of_the_graph_are_reported(home: Home, vault: Path) -> None:
    del home
    assert check(vault) == []
    thing = "<urn:wikimem:concept:a>"
    (vault / FILE).parent.mkdir(parents=True)
    (vault / FILE).write_text(
        f"no triple at all\n{thing} <urn:wikimem:ns:uses> {thing} .\n{thing} <urn:x:likes> <urn:wikimem:concept:b> .\n"
    )
    assert check(vault) == [
        ("graph-self-edge", FILE, None),
        ("graph-unknown-predicate", FILE, None),
        ("graph-triple", FILE, 1),
    ]
    assert check(vault, rule=["graph-triple"]) == [("graph-triple", FILE, 1)]
    assert check(vault, rule=["orphan"]) == []


def test_every_rule_of_the_graph_says_what_to_do() -> None:
    assert set(GRAPH_RULES) <= RULES.keys()
