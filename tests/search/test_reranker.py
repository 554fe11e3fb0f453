"""The reranker, against a real server: what it is sent, what its order does, and that its failure changes nothing."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from wikimem.model.reranker import RerankerAddress
from wikimem.search.reranker import MOST_DOCUMENTS, HttpReranker, RerankError
from wikimem.text.reranker import read_reranker


@dataclass
class Server:
    """Answers with `answer` (bytes, or a function of the request), after noting what it was asked."""

    url: str = ""
    answer: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip_s: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)
    authorization: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append(body)
            made.authorization.append(self.headers["Authorization"])
            data = made.answer(body) if callable(made.answer) else made.answer
            data = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(made.status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                for byte in data if made.drip_s else ():
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(made.drip_s)
                if not made.drip_s:
                    self.wfile.write(data)
            except OSError:
                pass  # whoever asked has gone

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{http.server_port}/v1/rerank?x=1"
    yield made
    http.shutdown()
    http.server_close()
    thread.join()


def backwards(body: dict[str, Any]) -> dict[str, Any]:
    count = len(body["documents"])
    return {"results": [{"index": place, "relevance_score": place / count} for place in range(count)]}


def test_the_order_is_that_of_the_scores_and_what_is_left_out_follows(server: Server) -> None:
    server.answer = {"results": [{"index": 2, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]}
    ordered = HttpReranker(RerankerAddress(server.url, "m")).order("q", ["a", "b", "c", "d"])
    assert ordered == [1, 2, 0, 3]
    assert server.asked == [{"model": "m", "query": "q", "documents": ["a", "b", "c", "d"], "top_n": 4}]
    assert server.authorization == [None]


def test_the_other_dialect_is_read_too(server: Server) -> None:
    server.answer = {"data": [{"index": 1, "score": 3}, {"index": 0, "score": -2.5}]}
    assert HttpReranker(RerankerAddress(server.url)).order("q", ["a", "b"]) == [1, 0]
    assert "model" not in server.asked[0]


def test_a_key_is_sent_from_a_file_that_only_its_owner_reads(server: Server, tmp_path: Path) -> None:
    server.answer = backwards
    key = tmp_path / "key"
    key.write_text("abc\n")
    key.chmod(0o600)
    HttpReranker(RerankerAddress(server.url, key_file=key)).order("q", ["a"])
    assert server.authorization == ["Bearer abc"]
    key.chmod(0o644)
    with pytest.raises(RerankError, match="its key cannot be read"):
        HttpReranker(RerankerAddress(server.url, key_file=key)).order("q", ["a"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"<html>", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ([], "no list of results"),
        ({"results": [{"index": 7, "relevance_score": 1}]}, "not sent, or one twice"),
        ({"results": [{"index": True, "relevance_score": 1}]}, "not sent, or one twice"),
        ({"results": [{"index": 0, "relevance_score": 1}] * 2}, "not sent, or one twice"),
        ({"results": ["x"]}, "not sent, or one twice"),
        ({"results": [{"index": 0, "relevance_score": math.nan}]}, "no number"),
        ({"results": [{"index": 0}]}, "no number"),
        (b" " * 1_100_000, "too large"),
    ],
)
def test_an_answer_that_makes_no_sense_is_said_so(server: Server, answer: Any, said: str) -> None:
    server.answer = answer
    with pytest.raises(RerankError, match=said):
        HttpReranker(RerankerAddress(server.url)).order("q", ["a", "b"])


@pytest.mark.parametrize("status", [204, 302, 401, 500])
def test_any_other_status_is_a_failure_and_no_redirect_is_followed(server: Server, status: int) -> None:
    server.status, server.headers = status, {"Location": server.url}
    with pytest.raises(RerankError, match=str(status)):
        HttpReranker(RerankerAddress(server.url)).order("q", ["a"])
    assert len(server.asked) == 1


def test_a_server_that_answers_byte_by_byte_is_not_waited_for(server: Server) -> None:
    """Each byte comes in time; the whole never would."""
    server.answer, server.drip_s = b" " * 10_000, 0.05
    with pytest.raises(RerankError, match=r"did not answer in 0\.5 s"):
        HttpReranker(RerankerAddress(server.url, timeout_s=0.5)).order("q", ["a"])


def test_a_server_that_is_not_there_is_said_so(server: Server) -> None:
    away = RerankerAddress("http://127.0.0.1:1/rerank")
    with pytest.raises(RerankError, match="cannot be reached"):
        HttpReranker(away).order("q", ["a"])


# In a search


def test_the_best_hits_come_in_its_order_and_the_trace_still_adds_up(vault: Any, server: Server) -> None:
    vault.add(**{f"Page_{number}": f"The gateway has quota number {number}." for number in range(25)})
    before = vault.search("gateway quota", limit=25).hits
    server.answer = backwards
    outcome = vault.search("gateway quota", limit=25, reranker=HttpReranker(RerankerAddress(server.url)))
    ordered = [hit.path for hit in outcome.hits]
    head = [hit.path for hit in before[:MOST_DOCUMENTS]]
    assert ordered == [*reversed(head), *(hit.path for hit in before[MOST_DOCUMENTS:])]
    assert outcome.answered["reranker"] == "ok"
    for rank, hit in enumerate(outcome.hits[:MOST_DOCUMENTS], start=1):
        assert hit.trace.ranks["reranker"] == rank
        parts = (*hit.trace.parts.values(), *hit.trace.boosts.values())
        assert math.fsum(parts) == pytest.approx(hit.score)
    scores = [hit.score for hit in outcome.hits]
    assert scores == sorted(scores, reverse=True)
    assert server.asked[0]["query"] == "gateway quota"


def test_only_masked_text_is_sent(vault: Any, server: Server) -> None:
    vault.add(Token="The secretword of the gateway.", secretword_here="The gateway again.")
    vault.mask = lambda text: text.replace("secretword", "[masked]")
    server.answer = backwards
    vault.search("gateway secretword", reranker=HttpReranker(RerankerAddress(server.url)))
    assert "secretword" not in json.dumps(server.asked)
    assert "[masked] of the gateway" in json.dumps(server.asked)


def test_a_failure_changes_nothing_and_is_told(vault: Any, server: Server) -> None:
    vault.add(One="The gateway has a quota.", Two="The quota of the gateway.")
    before = vault.search("gateway quota")
    server.status = 503
    outcome = vault.search("gateway quota", reranker=HttpReranker(RerankerAddress(server.url)))
    assert outcome.hits == before.hits
    assert outcome.answered["reranker"] == "it answered with status 503"
    assert "reranker" not in before.answered


def test_a_page_that_is_gone_is_not_sent(vault: Any, server: Server) -> None:
    vault.add(One="The gateway has a quota.", Two="The quota of the gateway.")
    (vault.root / "One.md").unlink()
    server.answer = backwards
    outcome = vault.search("gateway quota", reranker=HttpReranker(RerankerAddress(server.url)))
    assert [hit.path for hit in outcome.hits] == ["Two.md"]
    assert len(server.asked[0]["documents"]) == 1


# The configuration


def test_a_table_with_everything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    table = {"url": "https://example.org/rerank", "model": "m", "key_file": "~/key", "timeout": 5}
    assert read_reranker(table) == RerankerAddress(table["url"], "m", Path("/home/ada/key"), 5.0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("http://x", "a table with url"),
        ({"url": "http://x", "command": "rm"}, "a table with url"),
        ({"model": "m"}, "url is needed"),
        ({"url": "ftp://x"}, "http or https"),
        ({"url": "https://me:pw@x"}, "without a user name"),
        ({"url": "http://x/a b"}, "a space"),
        ({"url": "http://x/a\r\nHost: y"}, "a space or a control character"),
        ({"url": "http://x:99999"}, "ort"),
        ({"url": "http://x", "timeout": 0}, "up to 60"),
        ({"url": "http://x", "timeout": True}, "up to 60"),
        ({"url": "http://x", "key_file": "/k"}, "over https only"),
        ({"url": "https://x", "key_file": "k"}, "absolute"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_reranker(table)
