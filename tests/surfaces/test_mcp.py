"""MCP: the SDK's client against the real process, in both protocol eras."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from mcp import Client, MCPError, StdioServerParameters

import wikimem
from wikimem.operations import CORE, OPERATIONS, PLANNED
from wikimem.surfaces.mcp.tools import describe, offered

if TYPE_CHECKING:
    from tests.conftest import Home

ROOT = Path(wikimem.__file__).parents[1]
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@asynccontextmanager
async def connected(home: Home, mode: str = "auto", *arguments: str, cwd: Path | None = None) -> AsyncIterator[Client]:
    """A client of a server process that was started in `cwd`."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "wikimem", *arguments, "mcp"],
        env=home.env | {"PYTHONPATH": str(ROOT)},
        cwd=cwd or home.path / "work",
    )
    async with Client(server, mode=mode, raise_exceptions=True) as client:
        yield client


def in_session(home: Home, steps: Callable[[Client], Awaitable[None]], mode: str = "auto", **options: Any) -> None:
    async def play() -> None:
        async with connected(home, mode, **options) as client:
            await steps(client)

    asyncio.run(play())


def failure(result: Any) -> dict[str, Any]:
    """The error document of a result that says it failed."""
    assert result.is_error
    error = json.loads(result.content[1].text)["error"]
    assert result.content[0].text == "\n".join(filter(None, [error["message"], error["hint"]]))
    assert result.structured_content is None
    return error


@pytest.mark.parametrize("mode", ERAS)
def test_an_agent_remembers_finds_edits_and_packs(home: Home, vault: Path, mode: str) -> None:
    async def steps(client: Client) -> None:
        assert client.protocol_version == ERAS[mode]
        assert "search" in client.instructions
        assert [tool.name for tool in (await client.list_tools()).tools] == list(CORE)

        made = await client.call_tool(
            "remember", {"title": "The API runs on port 8080", "text": "Behind the proxy.", "tags": ["ops"]}
        )
        assert not made.is_error, made.content[0].text
        page = made.structured_content["page"]
        assert (vault / page["path"]).is_file()

        found = await client.call_tool("search", {"query": "which port does the API run on?"})
        assert found.structured_content["hits"][0]["id"] == page["id"]
        assert found.structured_content["hits"][0]["trust"] == "agent"
        assert len(found.content) == 1
        assert "The API runs on port 8080" in found.content[0].text

        first = (await client.call_tool("read", {"page": page["id"]})).structured_content["revision"]
        edit = {"page": page["id"], "base": first, "replace": ["Behind", "In front of"]}
        second = (await client.call_tool("edit", edit)).structured_content["revision"]
        assert second != first
        stale = failure(await client.call_tool("edit", edit | {"replace": ["proxy", "cache"]}))
        assert stale["kind"] == "conflict"
        assert stale["revision"] == second
        assert "In front of the proxy." in (vault / page["path"]).read_text()

        packed = await client.call_tool("context", {"query": "change the API's port", "budget": 500})
        assert page["id"] in [item["id"] for item in packed.structured_content["items"]]
        assert packed.structured_content["tokens"] <= 500
        assert "In front of the proxy." in packed.content[0].text

        log = (await client.call_tool("log", {"limit": 2})).structured_content["entries"]
        assert [(entry["op"], entry["agent"]) for entry in log] == [("edit", "mcp"), ("remember", "mcp")]

        gone = await client.call_tool("forget", {"page": page["id"], "reason": "a test"})
        assert [each["id"] for each in gone.structured_content["pages"]] == [page["id"]]
        assert not (vault / page["path"]).exists()

    in_session(home, steps, mode)


@pytest.mark.parametrize("mode", ERAS)
def test_pages_are_resources(home: Home, vault: Path, mode: str) -> None:
    (vault / "Note.md").write_text(
        '---\ntitle: "Ada: notes"\ntags: [a, b]\n---\n\nThe key is ghp_' + "a1B2" * 9 + ".\n"
    )

    async def steps(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["wikimem://page/{id}"]
        listed = (await client.list_resources()).resources
        note = next(resource for resource in listed if resource.name == "Note.md")
        assert (note.title, note.mime_type) == ("Ada: notes", "text/markdown")
        contents = (await client.read_resource(note.uri)).contents[0]
        assert contents.mime_type == "text/markdown"
        assert contents.text.startswith("---\n")
        assert "Ada: notes" in contents.text
        assert "ghp_" not in contents.text
        with pytest.raises(MCPError) as missing:
            await client.read_resource("wikimem://page/01JK4M8Z2Q7V5C1R6W0N3T9XYB")
        assert missing.value.error.code == (-32602 if mode == "auto" else -32002)
        with pytest.raises(MCPError):
            await client.read_resource("file:///etc/passwd")

    in_session(home, steps, mode)


def test_many_resources_come_in_pages(home: Home, vault: Path) -> None:
    for number in range(60):
        (vault / f"Note {number}.md").write_text(f"# Note {number}\n")

    async def steps(client: Client) -> None:
        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)
        names = [resource.name for resource in (*first.resources, *rest.resources)]
        assert rest.next_cursor is None
        assert len(first.resources) == 50
        assert len(names) == len(set(names)) >= 60
        with pytest.raises(MCPError):
            await client.list_resources(cursor="made up")

    in_session(home, steps)


def test_the_recall_prompt_asks_for_the_tools_and_for_citations(home: Home) -> None:
    async def steps(client: Client) -> None:
        prompt = (await client.list_prompts()).prompts[0]
        assert (prompt.name, prompt.arguments[0].name, prompt.arguments[0].required) == ("recall", "topic", True)
        said = (await client.get_prompt("recall", {"topic": "JWT"})).messages[0].content.text
        assert "JWT" in said
        assert "`search`" in said
        with pytest.raises(MCPError, match="topic"):
            await client.get_prompt("recall", {"topic": " "})
        with pytest.raises(MCPError, match="no prompt 'other'"):
            await client.get_prompt("other")

    in_session(home, steps)


def test_mistakes_are_answered_so_that_a_model_can_correct_them(home: Home, vault: Path) -> None:
    async def steps(client: Client) -> None:
        async def wrong(tool: str, **arguments: Any) -> dict[str, Any]:
            return failure(await client.call_tool(tool, arguments))

        error = await wrong("search", query="x", limit=999)
        assert error["kind"] == "invalid"
        assert "limit" in error["message"]
        assert "100" in error["message"]
        assert "missing parameter `query`" in (await wrong("search"))["message"]
        assert "`colour`" in (await wrong("search", query="x", colour="red"))["message"]
        assert "fact, decision" in (await wrong("remember", title="x", type="thought"))["message"]
        assert "`query`" in (await wrong("forget", query="everything"))["message"]
        assert (await wrong("read", page="no such page"))["kind"] == "not_found"
        assert (await wrong("graph", entity="library:nothing"))["kind"] == "not_found"
        with pytest.raises(MCPError, match="Unknown tool: nonsense"):
            await client.call_tool("nonsense", {})
        with pytest.raises(MCPError, match="Unknown tool: reindex"):
            await client.call_tool("reindex", {})
        assert not (await client.call_tool("search", {"query": "still here"})).is_error

    in_session(home, steps)


def test_an_untrusted_vault_is_refused_by_every_call_until_it_is_trusted(home: Home, run: Any, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    (clone / ".wikimem").mkdir()
    (clone / ".wikimem/config.toml").write_text("")
    (clone / "Trap.md").write_text("# Trap\n")

    async def steps(client: Client) -> None:
        assert (await client.list_tools()).tools
        error = failure(await client.call_tool("search", {"query": "trap"}))
        assert error["kind"] == "refused"
        assert "wikimem trust" in error["hint"]
        with pytest.raises(MCPError, match="never made or trusted"):
            await client.list_resources()
        trusted = await asyncio.to_thread(run, "trust", str(clone))
        assert trusted.code == 0, trusted.stderr
        found = (await client.call_tool("search", {"query": "trap"})).structured_content
        assert [hit["path"] for hit in found["hits"]] == ["Trap.md"]

    in_session(home, steps, cwd=clone)


def test_a_call_sees_what_changed_on_disk_since_the_last(home: Home, vault: Path) -> None:
    async def steps(client: Client) -> None:
        async def paths(query: str) -> list[str]:
            found = await client.call_tool("search", {"query": query, "streams": ["words"]})
            return [hit["path"] for hit in found.structured_content["hits"]]

        assert await paths("marmalade") == []
        (vault / "Breakfast.md").write_text("Marmalade on toast.\n")
        assert await paths("marmalade") == ["Breakfast.md"]
        (vault / "Breakfast.md").unlink()
        assert await paths("marmalade") == []

    in_session(home, steps)


def test_a_client_that_asks_hears_how_far_indexing_is(home: Home, vault: Path) -> None:
    for number in range(30):
        (vault / f"Note {number}.md").write_text(f"# Note {number}\n")
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async def steps(client: Client) -> None:
        assert not (await client.call_tool("search", {"query": "note"}, progress_callback=hear)).is_error

    in_session(home, steps)
    assert heard
    assert all(done <= total and message == "indexing" for done, total, message in heard)


def test_the_index_may_be_deleted_while_the_server_runs(home: Home, vault: Path) -> None:
    async def steps(client: Client) -> None:
        await client.call_tool("remember", {"title": "The API runs on port 8080"})
        shutil.rmtree(home.path / ".cache/wikimem/vaults")
        found = await client.call_tool("search", {"query": "which port?"})
        assert not found.is_error, found.content[0].text
        assert found.structured_content["hits"][0]["title"] == "The API runs on port 8080"
        assert not (await client.call_tool("remember", {"title": "The worker runs on port 9090"})).is_error

    in_session(home, steps)


def test_calls_at_the_same_time_all_succeed(home: Home, vault: Path) -> None:
    async def steps(client: Client) -> None:
        made = await asyncio.gather(
            *(client.call_tool("remember", {"title": f"Port {number} is taken"}) for number in range(5))
        )
        assert [result.is_error for result in made] == [False] * 5
        log = (await client.call_tool("log", {"op": "remember"})).structured_content["entries"]
        assert len(log) == 5

    in_session(home, steps)


def test_only_protocol_reaches_standard_output_and_the_end_of_input_ends_it(home: Home, vault: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "editor\n" + "x" * 300, "version": "1"},
        },
    }
    call = {"name": "remember", "arguments": {"title": "It works"}}
    lines = [
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    done = subprocess.Popen(
        [sys.executable, "-m", "wikimem", "mcp"],
        cwd=home.path / "work",
        env=home.env | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.stdin is not None
    assert done.stdout is not None
    for line in lines:
        done.stdin.write(json.dumps(line) + "\n")
    done.stdin.flush()
    answers = [json.loads(done.stdout.readline()) for _ in range(2)]
    rest, errors = done.communicate(timeout=60)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["isError"] is False, answers[1]
    assert (done.returncode, rest, errors) == (0, "", "")


def test_results_satisfy_their_schemas_and_schemas_are_self_contained() -> None:
    for name in offered(every_tool=True):
        tool = describe(name)
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert "$ref" not in json.dumps([tool.input_schema, tool.output_schema])
        assert (tool.output_schema is None) == (name in PLANNED)
        assert tool.annotations.open_world_hint is False


def test_annotations_follow_the_effect() -> None:
    hints = {
        operation.name: (
            describe(operation.name).annotations.read_only_hint,
            describe(operation.name).annotations.destructive_hint,
        )
        for operation in OPERATIONS
    }
    assert hints["search"] == (True, False)
    assert hints["remember"] == (False, False)
    assert hints["forget"] == (False, True)


def test_every_operation_is_offered_on_request_and_what_is_missing_says_so() -> None:
    names = offered(every_tool=True)
    assert set(names) == {operation.name for operation in OPERATIONS} | set(PLANNED)
    assert names[: len(CORE)] == CORE
    assert "Not built yet" in describe(next(iter(PLANNED))).description
    assert "query" not in describe("forget").input_schema["properties"]
