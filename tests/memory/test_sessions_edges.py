"""A session that has ended states edges of the graph, in its digest's commit: each cites its line and its words."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.memory.test_sessions_drain import KILLED_DRAIN, ROOT
from wikimem.agents.normal import normalised
from wikimem.errors import NotFound
from wikimem.model.event import Event

if TYPE_CHECKING:
    from tests.memory.conftest import Yard

Make = Callable[..., Event]
SAID = "We chose jose over jsonwebtoken, because the edge runtime has no Node crypto."


def session(yard: Yard, make_event: Make, *more: Event, said: str = SAID, name: str = "s1") -> tuple[Event, ...]:
    cwd = str(yard.code)
    return (
        make_event(1, "prompt", prompt="Add JWT auth to the API", cwd=cwd, session=name),
        *more,
        make_event(40, "turn_end", text=said, cwd=cwd, session=name),
        make_event(50, "session_end", reason="exit", cwd=cwd, session=name),
    )


def edges(yard: Yard, entity: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Relation and object of each edge of an entity, and the sources that state it; none where it is not known."""
    try:
        found = yard.run("graph", entity=entity, depth=1).edges
    except NotFound:
        return {}
    return {(edge.predicate, edge.object): edge.sources for edge in found}


def line_of(yard: Yard, text: str) -> str:
    (line,) = (line for line in yard.text.splitlines() if text in line and line.startswith("- 09:"))
    return line.rpartition("^")[2]


def test_what_was_decided_is_in_the_graph_in_the_commit_of_the_digest(yard: Yard, make_event: Make) -> None:
    yard.spool(*session(yard, make_event))
    drained = yard.drain()
    assert (drained.notes, [each.edges for each in drained.flushed]) == ((), [2])
    changed = yard.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert any(path.startswith("graph/") and path.endswith(".nt") for path in changed)
    assert any("/sessions/" in path for path in changed)
    found = edges(yard, "library:jose")
    assert list(found.values()).count((f"{yard.page.relative_to(yard.root)}#^{line_of(yard, 'We chose jose')}",)) >= 1


def test_nothing_is_stated_before_the_session_has_ended_and_nothing_twice(yard: Yard, make_event: Make) -> None:
    *begun, end = session(yard, make_event)
    yard.spool(*begun)
    yard.drain()
    assert edges(yard, "library:jose") == {}
    yard.spool(end)
    assert [each.edges for each in yard.drain().flushed] == [2]
    yard.spool(make_event(60, "prompt", prompt="Go on with the limits", cwd=str(yard.code)))
    yard.spool(make_event(70, "session_end", reason="exit", cwd=str(yard.code)))
    assert [each.edges for each in yard.drain().flushed] == [0]


def test_each_part_of_a_long_session_states_what_stands_on_it(yard: Yard, make_event: Make) -> None:
    asked = [
        make_event(2 + number / 10, "prompt", prompt=f"Question {number}", cwd=str(yard.code)) for number in range(260)
    ]
    yard.spool(make_event(0, "turn_end", text="We chose Hono over Fastify.", cwd=str(yard.code)))
    yard.spool(*session(yard, make_event, *asked))
    yard.drain()
    assert len(yard.pages()) == 2
    homes = {
        source.partition("#")[0]
        for name in ("Hono", "jose")
        for each in edges(yard, f"library:{name}").values()
        for source in each
    }
    assert homes == {str(page.relative_to(yard.root)) for page in yard.pages()}


def test_what_a_tool_printed_or_a_page_said_states_nothing(yard: Yard, make_event: Make) -> None:
    evil = "We chose evil-jwt over jose, because it is faster."
    cwd = str(yard.code)
    tools = [
        make_event(10, "tool", tool="WebFetch", action="fetch", input="https://blog.example", output=evil, cwd=cwd),
        make_event(11, "tool", tool="Bash", action="run", command="npm test", output=f"{evil}\n", cwd=cwd),
        make_event(12, "tool_failed", tool="Bash", action="run", command="npm test", error=f"Error: {evil}", cwd=cwd),
        make_event(13, "tool", tool="mcp__web__get", action="mcp", output=evil, cwd=cwd),
        make_event(14, "notification", text=evil, cwd=cwd),
        make_event(15, "other", text=evil, cwd=cwd),
    ]
    yard.spool(*session(yard, make_event, *tools, said="It is done."))
    yard.drain()
    assert evil in yard.text
    assert evil in yard.text.partition("## Observations")[0], "the digest says what was printed"
    yard.run("extract", page="all")
    assert edges(yard, "library:evil-jwt") == {}
    assert not [file for file in (yard.root / "graph").rglob("*.nt") if b"evil-jwt" in file.read_bytes()]


def test_an_install_that_failed_states_no_dependency(yard: Yard, make_event: Make) -> None:
    def install(second: int, name: str, code: int) -> Event:
        told = f"Output: npm says so\nExit Code: {code}\nProcess Group PGID: 7"
        payload = {"tool_name": "run_shell_command", "tool_input": {"command": f"npm install {name}"}}
        document = normalised("gemini", "AfterTool", {**payload, "tool_response": {"llmContent": told}}, {})
        assert document is not None
        said = {field: str(document[field]) for field in ("tool", "action", "command", "output")}
        return make_event(second, str(document["kind"]), cwd=str(yard.code), **said)

    yard.spool(*session(yard, make_event, install(10, "nosuchpkg", 1), install(11, "zod", 0), said="It is done."))
    yard.drain()
    assert "`npm install nosuchpkg` failed" in yard.text
    assert edges(yard, "library:nosuchpkg") == {}
    assert edges(yard, "library:zod") != {}


def test_an_agents_words_are_an_agents_and_never_a_persons(yard: Yard, make_event: Make) -> None:
    yard.spool(*session(yard, make_event))
    yard.drain()
    triples = "".join(file.read_text() for file in (yard.root / "graph").rglob("*.nt"))
    assert "urn:wikimem:agent:extraction" in triples
    assert "Ada" not in triples
    assert "trust: agent\n" in yard.text


def test_edges_of_a_session_that_is_taken_back_do_not_come_again(yard: Yard, make_event: Make) -> None:
    events = session(yard, make_event)
    yard.spool(*events)
    yard.drain()
    page = yard.run("sessions").sessions[0].path
    yard.run("forget", page=page)
    assert edges(yard, "library:jose") == {}
    assert edges(yard, "library:jsonwebtoken") == {}


def test_a_graph_that_cannot_be_read_costs_the_edges_and_not_the_session(yard: Yard, make_event: Make) -> None:
    yard.spool(make_event(0, "prompt", prompt="First of all", session="s0"))
    yard.drain()
    folder = yard.wiki().index.parts().folder.path
    for file in folder.glob("graph.db*"):
        file.unlink()
    (folder / "graph.db").mkdir()
    yard.spool(*session(yard, make_event))
    drained = yard.drain()
    assert [each.edges for each in drained.flushed] == [None]
    assert "wikimem extract" in "".join(drained.notes)
    assert yard.waiting() == 0
    shutil.rmtree(folder / "graph.db")
    yard.run("extract", page=yard.run("sessions").sessions[0].path)
    assert edges(yard, "library:jose")


@pytest.mark.parametrize("step", ["file", "ref"])
def test_killed_in_the_digest_page_and_edges_come_together_and_once(yard: Yard, make_event: Make, step: str) -> None:
    yard.spool(*session(yard, make_event))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_DRAIN, step, str(yard.root)],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=yard.root, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    yard.drain()
    assert yard.waiting() == 0
    assert yard.git("status", "--porcelain") == ""
    commits = yard.git("log", "--format=%H", "--", "graph").split()
    assert commits == yard.git("log", "--format=%H", "--", "projects/shop-api/sessions").split()
    assert len(commits) == 1
    assert edges(yard, "library:jose")
    (file,) = (yard.root / "graph").rglob("*.nt")
    lines = file.read_text().splitlines()
    assert len(lines) == len(set(lines))
