"""One exchange over HTTP has one deadline, whatever the server does with it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from wikimem.httppost import PostError, TooLarge, TooSlow, post

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that reads a request and sends pieces, one every `pause_s` seconds; gives its address."""
    ended = threading.Event()
    threads: list[threading.Thread] = []

    def start(*pieces: bytes, pause_s: float = 0.0, stay: bool = False) -> str:
        listening = socket.create_server(("127.0.0.1", 0))

        def work() -> None:
            with listening, listening.accept()[0] as connection:
                while b"\r\n\r\n" not in (got := connection.recv(65536)) and got:
                    pass
                try:
                    for piece in pieces:
                        connection.sendall(piece)
                        if pause_s and ended.wait(pause_s):
                            return
                except OSError:
                    return  # whoever asked has gone
                if stay:
                    ended.wait()

        threads.append(threading.Thread(target=work, daemon=True))
        threads[-1].start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}/x"

    yield start
    ended.set()
    for thread in threads:
        thread.join()


def ask(url: str, *, timeout_s: float = 20.0, most_bytes: int = 1000) -> bytes:
    return post(url, b"{}", {"A": "b"}, timeout_s=timeout_s, most_bytes=most_bytes).body


def test_headers_that_come_byte_by_byte_do_not_prolong_the_wait(serve: Serve) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000
    url = serve(*(head[at : at + 1] for at in range(len(head))), pause_s=0.05)
    with pytest.raises(TooSlow, match=r"did not answer in 0\.4 s") as caught:
        ask(url, timeout_s=0.4)
    assert caught.value.sent


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"])
def test_a_body_that_comes_byte_by_byte_does_not_either(serve: Serve, head: bytes) -> None:
    with pytest.raises(TooSlow):
        ask(serve(head, *[b"x"] * 900, pause_s=0.05), timeout_s=0.4)


def test_a_connection_that_stays_open_after_the_answer_is_not_waited_for(serve: Serve) -> None:
    assert ask(serve(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone", stay=True)) == b"done"


def test_an_answer_in_chunks_is_put_together(serve: Serve) -> None:
    url = serve(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"2\r\ndo\r\n2\r\nne\r\n0\r\n\r\n")
    assert ask(url) == b"done"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndone",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndone",
        b"220 mail.example.org ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_whole_answer_is_said_so(serve: Serve, answer: bytes) -> None:
    with pytest.raises(PostError, match="broke off") as caught:
        ask(serve(answer))
    assert caught.value.sent


def test_an_answer_of_any_status_is_an_answer_and_its_headers_are_known(serve: Serve) -> None:
    answer = post(
        serve(b"HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"),
        b"",
        {},
        timeout_s=20,
        most_bytes=10,
    )
    assert (answer.status, answer.headers["retry-after"], answer.body) == (429, "3", b"")


def test_an_answer_that_is_too_large_is_not_read_to_its_end(serve: Serve) -> None:
    with pytest.raises(TooLarge):
        ask(serve(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 200_000, stay=True))


def test_a_name_that_no_server_has_is_not_reached() -> None:
    with pytest.raises(PostError, match="cannot be reached") as caught:
        ask("http://nowhere.invalid/x")
    assert not caught.value.sent
