"""The graph as a source of pages for search, with the way to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from wikimem.graph.validity import moment_of
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.search.edges import related_pages, walk_from_pages
from wikimem.search.graphview import open_view
from wikimem.wiki import Caller, Wiki, open_wiki

if TYPE_CHECKING:
    from tests.conftest import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}


@pytest.fixture
def wiki(home: Home) -> Iterator[Wiki]:
    vault = home.path / "wikimem"
    init(vault, cwd=home.path)
    (vault / "jose.md").write_text("---\ntype: entity\ntitle: jose\ntags: [library]\n---\nA library.\n")
    (vault / "Use.md").write_text("---\ntype: decision\ntitle: Use jose\n---\nuses:: [[jose]]\n")
    (vault / "Other.md").write_text("---\ntype: fact\ntitle: Other\nproject: bank\n---\n[[jose]]\n")
    opened = open_wiki(str(vault), cwd=vault, caller=Caller(cwd=vault))
    said = {"subject": "concept:auth", "relation": "depends_on", "object": "library:jose", "source": "Use.md"}
    BY_NAME["link"].run(opened, said)
    opened.refresh()
    yield opened
    opened.close()


def test_pages_that_the_named_entities_lead_to(wiki: Wiki) -> None:
    moment = moment_of(None, wiki.clock())
    with open_view(wiki) as view:
        found = related_pages(view, {view.find("concept:auth"): 1.0}, moment)
        assert [page.path for page in found] == ["Use.md", "jose.md", "Other.md"]
        assert found[0].score == found[1].score == 0.5
        assert found[1].graph_path == "[concept] auth --depends_on--> [library] jose"
        assert found[2].graph_path == "[concept] auth --depends_on--> [library] jose <--related_to-- [fact] Other"
    with open_view(wiki, "shop") as view:
        found = related_pages(view, {view.find("concept:auth"): 1.0}, moment)
        assert [page.path for page in found] == ["Use.md", "jose.md"], "another project's page is not walked to"


def test_pages_beside_those_that_other_streams_found(wiki: Wiki) -> None:
    with open_view(wiki) as view:
        found = walk_from_pages(view, {"Use.md": 0.8}, moment_of(None, wiki.clock()))
        assert [(page.path, page.score) for page in found] == [("jose.md", 0.2)]
        assert found[0].graph_path == "[decision] Use jose --uses--> [library] jose"
