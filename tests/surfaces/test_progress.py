"""The progress bar: late, on standard error, and gone when the work is done."""

from __future__ import annotations

import io

import pytest

from wikimem.surfaces.cli.progress import DELAY_S, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("wikimem.surfaces.cli.progress.time.monotonic", lambda: now[0])
    return now


def test_what_is_done_soon_shows_no_bar(terminal: Terminal, clock: list[float]) -> None:
    progress = Progress(terminal)
    for done in (1, 2, 3):
        clock[0] += DELAY_S / 4
        progress("indexing", done, 3)
    progress.close()
    assert terminal.getvalue() == ""


def test_what_takes_longer_shows_how_far_it_is(terminal: Terminal, clock: list[float]) -> None:
    progress = Progress(terminal)
    progress("indexing", 10, 100)
    assert terminal.getvalue() == ""
    clock[0] = DELAY_S
    progress("indexing", 40, 100)
    assert "indexing" in terminal.getvalue()
    assert "40/100" in terminal.getvalue()
    clock[0] += 1
    progress("indexing", 100, 100)
    assert "100/100" in terminal.getvalue()
    assert terminal.getvalue().rstrip("\x1b[?25h").endswith("\n")


def test_the_delay_counts_anew_for_the_next_thing(terminal: Terminal, clock: list[float]) -> None:
    progress = Progress(terminal)
    clock[0] = DELAY_S
    progress("indexing", 1, 2)
    progress("indexing", 2, 2)
    before = terminal.getvalue()
    progress("comparing", 1, 2)
    assert terminal.getvalue() == before
    assert "comparing" not in before
