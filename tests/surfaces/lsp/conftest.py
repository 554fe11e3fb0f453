"""A language server as a process, a client that speaks to it as an editor does, and a vault for a module of tests."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import wikimem

ROOT = Path(wikimem.__file__).parents[1]
WAIT_S = 60.0
SECRET = "ghp_" + "a1B2" * 9

PAGES = {
    "Jose library.md": "---\n"
    "id: 01JDZK3V9Q4T8M2X7B5C1R6W0N\n"
    "type: decision\n"
    "title: Use jose for JWT verification\n"
    "aliases: [jose, Größe 😀]\n"
    "confidence: 0.9\n"
    "valid_from: 2025-09-12\n"
    'sources: ["file:src/auth.ts@a1b2c3d"]\n'
    "tags: [auth, edge runtime]\n"
    "---\n"
    "# Why\n\nThe edge runtime has no Node crypto.\n\n## Größe 😀 of it\n\nSmall.\n\n- one block ^b1\n",
    "Deploy.md": "# Deploy\n\nSee [[Jose library]] and [[Jose library#Why]].\n",
    "notes/Leak.md": f"# Leak\n\nThe key is {SECRET}.\n",
    "projects/shop/topics/Auth.md": "---\ntype: topic\nproject: shop\n---\n# Auth\n\nAs in [[jose]].\n",
    "sp ace/Größe 100%.md": "# Größe\n\n😀😀 [[Deploy]] here\n",
}


class Editor:
    """Speaks the protocol to a server process. `open`, `change`, `save` and `close` are what a person does."""

    def __init__(self, env: dict[str, str], cwd: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wikimem", *arguments, "lsp"],
            env=env | {"PYTHONPATH": str(ROOT)},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stderr: list[bytes] = []
        self.messages: list[dict[str, Any]] = []
        self._arrived: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._ids = itertools.count(1)
        self._versions = itertools.count(1)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.partition(b":")[2])
            while stream.readline().strip():
                pass
            self._arrived.put(json.loads(stream.read(length)))
        self._arrived.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr += self.process.stderr

    def send_raw(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def send(self, **message: Any) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message, of those that have come or will, which is wanted; it is taken out of `messages`."""
        deadline = time.monotonic() + WAIT_S
        while True:
            for message in self.messages:
                if wanted(message):
                    self.messages.remove(message)
                    return message
            arrived = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            assert arrived is not None, f"the server ended: {b''.join(self.stderr).decode()}"
            self.messages.append(arrived)

    def ask(self, method: str, params: Any = None) -> Any:
        """The result of a request. Its error, where it has one, is raised."""
        number = next(self._ids)
        self.send(id=number, method=method, params=params)
        answer = self.wait_for(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer
        return answer["result"]

    def initialize(self, **capabilities: Any) -> Any:
        result = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.send(method="initialized", params={})
        return result

    def open(self, file: Path, text: str | None = None, *, uri: str | None = None) -> str:
        uri = uri or file.as_uri()
        said = file.read_text(encoding="utf-8") if text is None else text
        document = {"uri": uri, "languageId": "markdown", "version": next(self._versions), "text": said}
        self.send(method="textDocument/didOpen", params={"textDocument": document})
        return uri

    def change(self, uri: str, text: str) -> int:
        version = next(self._versions)
        document = {"uri": uri, "version": version}
        self.send(
            method="textDocument/didChange", params={"textDocument": document, "contentChanges": [{"text": text}]}
        )
        return version

    def save(self, uri: str) -> None:
        self.send(method="textDocument/didSave", params={"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        self.send(method="textDocument/didClose", params={"textDocument": {"uri": uri}})

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position, **more})

    def diagnostics(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """The next diagnostics of a document that are published, of this version where one is named."""

        def wanted(message: dict[str, Any]) -> bool:
            params = message.get("params")
            published = message.get("method") == "textDocument/publishDiagnostics"
            return published and params["uri"] == uri and version in (None, params.get("version"))

        found: list[dict[str, Any]] = self.wait_for(wanted)["params"]["diagnostics"]
        return found

    def end(self) -> int:
        """Shut down in order; the exit code."""
        self.ask("shutdown")
        self.send(method="exit")
        return self.process.wait(WAIT_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(WAIT_S)
        for thread in self._threads:
            thread.join(WAIT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                pass


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home for a module's server."""
    folder = tmp_path_factory.mktemp("lsp")
    (folder / "home").mkdir()
    return folder


@pytest.fixture(scope="module")
def env(place: Path) -> dict[str, str]:
    """The environment of a user whose home is in `place`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV") if name in os.environ}
    home = place / "home"
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "WIKIMEM_RESIDENT": "off",
    }


@pytest.fixture(scope="module")
def notes(place: Path, env: dict[str, str]) -> Path:
    """A vault of somebody's notes."""
    root = place / "my notes"
    for path, text in PAGES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "wikimem", "init", str(root)],
        env=env | {"PYTHONPATH": str(ROOT)},
        cwd=place,
        check=True,
        capture_output=True,
    )
    return root


@pytest.fixture(scope="module")
def editor(notes: Path, env: dict[str, str], place: Path) -> Iterator[Editor]:
    """An editor whose server is ready, for a module of tests."""
    editor = Editor(env, place)
    editor.initialize(textDocument={"hover": {"contentFormat": ["markdown"]}})
    yield editor
    editor.kill()
