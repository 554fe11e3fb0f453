"""A language model on this machine: a small HTTP server of our own that speaks each dialect, faults included."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from wikimem.llm.client import LlmClient
from wikimem.llm.ledger import Ledger
from wikimem.model.llm import LlmSettings
from wikimem.operations import OPERATIONS
from wikimem.wiki import Caller, Wiki, open_wiki

BY_NAME = {operation.name: operation for operation in OPERATIONS}
PATHS = {"openai": "/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat"}


@dataclass(frozen=True)
class Fault:
    """An answer that is no answer: a status, headers and a body as it is sent. `cut`: of which the end is missing."""

    status: int = 500
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    hang: bool = False


@dataclass
class Asked:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        if "system" in self.body:
            return str(self.body["system"])
        return str(self.body["messages"][0]["content"])

    @property
    def said(self) -> list[str]:
        """What the user's side said, turn by turn."""
        return [message["content"] for message in self.body["messages"] if message["role"] == "user"]


class Model:
    """Says what is in `says`, one after the other, the last one again and again: texts, faults, or functions of the
    request that give one."""

    def __init__(self, dialect: str = "openai") -> None:
        self.dialect = dialect
        self.says: list[Any] = ['{"edges": []}']
        self.asked: list[Asked] = []
        self.usage = True
        self.ended = "stop"
        self.url = ""
        self.released = threading.Event()

    def answer(self, asked: Asked) -> Fault:
        self.asked.append(asked)
        said = self.says[min(len(self.asked), len(self.says)) - 1]
        said = said(asked) if callable(said) else said
        if isinstance(said, Fault):
            return said
        if asked.path != PATHS[self.dialect]:
            return Fault(404, b'{"error": {"message": "no such path"}}')
        return Fault(200, json.dumps(self.wrapped(said if isinstance(said, str) else json.dumps(said))).encode())

    def wrapped(self, text: str) -> dict[str, Any]:
        """The text as this dialect answers it; it counts 100 tokens asked and 10 answered."""
        if self.dialect == "anthropic":
            ended = {"stop": "end_turn", "length": "max_tokens", "declined": "refusal"}[self.ended]
            usage = {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 10}
            message: dict[str, Any] = {"type": "message", "stop_reason": ended}
            message["content"] = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
            return message | ({"usage": usage} if self.usage else {})
        if self.dialect == "ollama":
            counts = {"prompt_eval_count": 100, "eval_count": 10} if self.usage else {}
            return {"message": {"role": "assistant", "content": text}, "done_reason": self.ended, **counts}
        ended = {"declined": "content_filter"}.get(self.ended, self.ended)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": ended}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return {"choices": [choice], **({"usage": usage} if self.usage else {})}


def serve(model: Model) -> Callable[[], None]:
    """Start the model's server; what is returned stops it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            given = model.answer(Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            if given.hang:
                model.released.wait()
                return
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            try:
                self.wfile.write(given.body[: len(given.body) - given.cut])
            except OSError:
                pass  # whoever asked has gone

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{http.server_port}"

    def stop() -> None:
        model.released.set()
        http.shutdown()
        http.server_close()
        thread.join()

    return stop


@pytest.fixture(params=list(PATHS))
def each_model(request: pytest.FixtureRequest) -> Iterator[Model]:
    """A model of each dialect."""
    model = Model(request.param)
    stop = serve(model)
    yield model
    stop()


@pytest.fixture
def model() -> Iterator[Model]:
    """A model that speaks as OpenAI does."""
    made = Model()
    stop = serve(made)
    yield made
    stop()


@pytest.fixture
def make_model() -> Iterator[Callable[[str], Model]]:
    """Further models: `make_model("ollama")`."""
    stops: list[Callable[[], None]] = []

    def make(dialect: str) -> Model:
        made = Model(dialect)
        stops.append(serve(made))
        return made

    yield make
    for stop in stops:
        stop()


@dataclass
class Proxy:
    """A proxy that makes no tunnel, and what it heard."""

    port: int
    heard: list[str] = field(default_factory=list)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """A proxy that refuses every tunnel."""
    made = Proxy(0)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines = []
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                lines.append(line.decode("latin-1"))
            made.heard.append("".join(lines))
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def fault() -> type[Fault]:
    """The class of answers that are none."""
    return Fault


@pytest.fixture
def settings_of() -> Callable[..., LlmSettings]:
    """Settings that name a model, with no waits: `settings_of(model, attempts=1)`."""

    def make(model: Model, **more: Any) -> LlmSettings:
        given = {"timeout_s": 20.0, "backoff_s": 0.001} | more
        return LlmSettings(model.dialect, model.url, "tiny", **given)  # type: ignore[arg-type]

    return make


@pytest.fixture
def client_of(tmp_path: Path, settings_of: Callable[..., LlmSettings]) -> Callable[..., LlmClient]:
    """A client with a ledger of its own; `waits` of it are the pauses that it made."""

    def make(model: Model, environment: dict[str, str] | None = None, **more: Any) -> LlmClient:
        waits: list[float] = []
        client = LlmClient(
            settings_of(model, **more), Ledger(tmp_path), environment=environment or {}, sleep=waits.append
        )
        client.waits = waits  # type: ignore[attr-defined]
        return client

    return make


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and breaks them off."""

    class Rude(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(10)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Rude) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


class Desk:
    """The user's vault and configuration, and the operations of wikimem on it."""

    def __init__(self, root: Path, config: Path) -> None:
        self.root = root
        self.config = config
        self._open: list[Wiki] = []

    def configure(self, model: Model, /, **more: Any) -> None:
        """Name the model in this user's configuration."""
        table = {"dialect": model.dialect, "url": model.url, "model": "tiny", "backoff": 0.001, "timeout": 20} | more
        lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
        self.config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.config.write_text("\n".join(["[llm]", *lines]) + "\n")

    def run(self, name: str, by: str | None = None, **arguments: Any) -> Any:
        wiki = open_wiki(str(self.root), cwd=self.root, caller=Caller(agent=by, cwd=self.root))
        self._open.append(wiki)
        return BY_NAME[name].run(wiki, arguments)

    def put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def close(self) -> None:
        for wiki in self._open:
            wiki.close()


@pytest.fixture
def desk(vault: Path, home: Any) -> Iterator[Desk]:
    made = Desk(vault, home.path / ".config/wikimem/config.toml")
    yield made
    made.close()
