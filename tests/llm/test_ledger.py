"""What was spent is counted before it is spent, by every process, and survives what ends a process."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from wikimem.errors import Damaged, Refused, Unavailable
from wikimem.llm.ledger import LEDGER_FILE, Ledger
from wikimem.model.llm import LlmLimits, LlmSpent

ROOT = Path(__file__).parents[2]
LIMITS = LlmLimits(calls_per_day=4, tokens_per_day=1000)


def test_a_call_counts_as_dear_as_it_may_be_until_it_is_known(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    reserved = ledger.reserve("tiny", 100, 300, LIMITS)
    assert ledger.spent_today() == LlmSpent(1, 100, 300)
    ledger.settle(reserved, 90, 5)
    assert ledger.spent_today() == LlmSpent(1, 90, 5)


def test_a_limit_counts_all_models_together(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.reserve("tiny", 100, 400, LIMITS)
    with pytest.raises(Refused, match="of 1000 tokens of language models a day 500 are spent, and the next call may"):
        ledger.reserve("other", 100, 401, LIMITS)
    ledger.reserve("other", 100, 400, LIMITS)
    assert [(model, spent.tokens) for _, model, spent in ledger.by_day()] == [("other", 500), ("tiny", 500)]


def test_a_call_that_ends_after_midnight_is_settled_on_its_own_day(tmp_path: Path) -> None:
    day = [date(2025, 9, 12)]
    ledger = Ledger(tmp_path, today=lambda: day[0])
    reserved = ledger.reserve("tiny", 100, 300, LIMITS)
    day[0] = date(2025, 9, 13)
    ledger.settle(reserved, 100, 10)
    assert ledger.spent_today() == LlmSpent()
    assert ledger.by_day() == [("2025-09-12", "tiny", LlmSpent(1, 100, 10))]


def test_processes_at_once_do_not_spend_the_same_rest(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from wikimem.llm.ledger import Ledger\n"
        "from wikimem.model.llm import LlmLimits; from wikimem.errors import Refused\n"
        "done = 0\n"
        "for _ in range(20):\n"
        "    try: Ledger(Path(sys.argv[1])).reserve('tiny', 1, 1, LlmLimits(calls_per_day=30)); done += 1\n"
        "    except Refused: pass\n"
        "print(done)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(each.communicate()[0]) for each in running) == 30
    assert Ledger(tmp_path).spent_today().calls == 30


def test_what_cannot_be_counted_is_not_spent(tmp_path: Path) -> None:
    (tmp_path / LEDGER_FILE).mkdir()
    with pytest.raises(Unavailable, match="cannot count"):
        Ledger(tmp_path).reserve("tiny", 1, 1, LIMITS)


def test_a_damaged_ledger_is_said_so_and_not_begun_anew(tmp_path: Path) -> None:
    (tmp_path / LEDGER_FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(Damaged, match=LEDGER_FILE) as caught:
        Ledger(tmp_path).reserve("tiny", 1, 1, LIMITS)
    assert "Delete the file" in caught.value.hint
    with pytest.raises(Damaged):
        Ledger(tmp_path).spent_today()


def test_where_nothing_was_spent_no_file_is_made(tmp_path: Path) -> None:
    assert (Ledger(tmp_path).spent_today(), Ledger(tmp_path).by_day()) == (LlmSpent(), [])
    assert list(tmp_path.iterdir()) == []
