"""An agent that wikimem started does not report to wikimem, however it starts its hooks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wikimem.agents.recursion import CHILD_MARK, child_environment, is_child_of_wikimem

ROOT = Path(__file__).parents[2]
ASK = "from wikimem.agents.recursion import is_child_of_wikimem; print(is_child_of_wikimem())"
# A process that starts another with an environment of its own making, twice over.
SCRUBBING = """
import subprocess, sys
sys.exit(subprocess.call([sys.executable, "-c", {inner!r}], env={{"PYTHONPATH": {root!r}}}))
"""


def ask(script: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=env | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def test_the_mark_is_inherited() -> None:
    assert ask(ASK, {}) == "False"
    assert ask(ASK, child_environment({})) == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of another process cheaply")
def test_an_agent_that_hides_its_environment_from_its_hooks_is_known_by_its_ancestors() -> None:
    once = SCRUBBING.format(inner=ASK, root=str(ROOT))
    twice = SCRUBBING.format(inner=once, root=str(ROOT))
    assert ask(twice, {}) == "False"
    assert ask(twice, child_environment({})) == "True"


def test_this_process_is_no_child_and_its_environment_stays_as_it_is() -> None:
    environment = {"A": "b"}
    marked = child_environment(environment)
    assert environment == {"A": "b"}
    assert marked["A"] == "b"
    assert is_child_of_wikimem(marked)
    assert CHILD_MARK in child_environment()
