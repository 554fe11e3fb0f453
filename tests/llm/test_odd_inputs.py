"""Pages, answers and settings that nobody would think of: nothing breaks, nothing is invented, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Unavailable
from wikimem.llm.ledger import Ledger
from wikimem.model.llm import LlmSpent
from wikimem.vault.folders import user_folders

Desk = Any
Model = Any
ROOT = Path(__file__).parents[2]


def edge(subject: str, object_: str, quote: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "relation": "uses", "object": object_, "quote": quote, "basis": "stated"} | more


def found(desk: Desk, page: str, **more: Any) -> list[tuple[str, str]]:
    return [(each.subject, each.object) for each in desk.run("extract", page=page, llm=True, **more).edges]


def test_names_in_other_scripts_with_particles_and_with_signs(desk: Desk, model: Model) -> None:
    desk.configure(model)
    words = "우리 게이트웨이는 Keycloak을 쓴다. 網關使用Keycloak。 The C++ part talks to .NET and C# and @scope/pkg."
    desk.put("Odd.md", words + "\n")
    model.says = [
        {
            "edges": [
                edge("concept:게이트웨이", "library:Keycloak", "우리 게이트웨이는 Keycloak을 쓴다"),
                edge("concept:網關", "library:keycloak", "網關使用Keycloak"),
                edge("concept:C++", "concept:.NET", "The C++ part talks to .NET"),
                edge("concept:C#", "library:@scope/pkg", "and C# and @scope/pkg."),
                edge("concept:C", "concept:NET", "and C# and @scope/pkg."),
            ]
        }
    ]
    assert found(desk, "Odd") == [
        ("concept:게이트웨이", "library:Keycloak"),
        ("concept:網關", "library:keycloak"),
        ("concept:C++", "concept:.NET"),
        ("concept:C#", "library:@scope/pkg"),
        ("concept:C", "concept:NET"),
    ]


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r"])
def test_a_quote_may_run_over_lines_of_any_ending(desk: Desk, model: Model, ending: str) -> None:
    desk.configure(model)
    text = ending.join(["# Gateway", "", "> The gateway", "talks\tto", "", "Keycloak and to nothing else."])
    (desk.root / "Lines.md").write_bytes(text.encode())
    model.says = [{"edges": [edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak and")]}]
    assert found(desk, "Lines") == [("concept:gateway", "library:Keycloak")]
    assert len(desk.run("graph", entity="library:Keycloak").edges) == 1


def test_bytes_that_are_no_text_are_sent_as_something_readable(desk: Desk, each_model: Model) -> None:
    desk.configure(each_model)
    (desk.root / "Bytes.md").write_bytes(b"The gateway talks to Keycloak \xff\xfe\x00\xed\xa0\x80 in the end.\n")
    each_model.says = [{"edges": [edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak")]}]
    assert found(desk, "Bytes") == [("concept:gateway", "library:Keycloak")]


def test_a_page_that_changes_while_the_model_thinks_keeps_only_what_it_still_says(desk: Desk, model: Model) -> None:
    desk.configure(model)
    desk.put("Live.md", "The gateway talks to Keycloak. The gateway talks to Redis.\n")

    def meanwhile(_: Any) -> dict[str, Any]:
        desk.put("Live.md", "The gateway talks to Redis.\n")
        return {
            "edges": [
                edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak"),
                edge("concept:gateway", "library:Redis", "The gateway talks to Redis"),
            ]
        }

    model.says = [meanwhile]
    done = desk.run("extract", page="Live", llm=True)
    assert [each.object for each in done.edges] == ["library:Redis"]
    assert done.llm.dropped == {"a quote that is not in the page": 1}


def test_a_page_that_goes_while_the_model_thinks_states_nothing(desk: Desk, model: Model) -> None:
    desk.configure(model)
    desk.put("Gone.md", "The gateway talks to Keycloak, for now at least.\n")

    def meanwhile(_: Any) -> dict[str, Any]:
        (desk.root / "Gone.md").unlink()
        return {"edges": [edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak")]}

    model.says = [meanwhile]
    assert desk.run("extract", page="Gone", llm=True).new == 0


def test_a_vault_without_text_asks_nothing(desk: Desk, model: Model) -> None:
    desk.configure(model)
    for file in desk.root.rglob("*.md"):
        file.unlink()
    desk.put("Short.md", "jose\n")
    desk.put("Empty.md", "")
    desk.put("Picture.md", "---\ntitle: x\n---\n\n\n")
    done = desk.run("extract", page="all", llm=True)
    assert (done.llm.calls, done.llm.parts, model.asked) == (0, 0, [])


def test_counts_that_are_no_counts_are_estimated(desk: Desk, each_model: Model) -> None:
    desk.configure(each_model)
    desk.put("Page.md", "The gateway talks to Keycloak, for now at least.\n")
    right = each_model.wrapped
    wrong: dict[str, Any] = {
        "usage": {"prompt_tokens": -5, "completion_tokens": "many", "input_tokens": None, "output_tokens": 1e400},
        "prompt_eval_count": True,
        "eval_count": [7],
    }
    each_model.wrapped = lambda text: right(text) | wrong
    told = desk.run("extract", page="Page", llm=True).llm
    assert told.estimated
    assert 500 < told.asked < 5_000
    assert 0 < told.answered < 100
    assert told.tokens_today == told.asked + told.answered


def test_an_answer_full_of_the_same_edge_gives_it_once_and_a_flood_is_cut(desk: Desk, model: Model) -> None:
    desk.configure(model)
    names = [f"lib{number}" for number in range(150)]
    desk.put("Many.md", "The gateway uses " + ", ".join(names) + ".\n")
    same = edge("concept:gateway", "library:lib0", "The gateway uses lib0")
    model.says = [
        {"edges": [same] * 50},
        {"edges": [edge("concept:gateway", f"library:{name}", "The gateway uses") for name in names]},
    ]
    assert len(found(desk, "Many")) == 1
    done = desk.run("extract", page="Many", llm=True, again=True)
    assert (len(done.edges), done.llm.dropped) == (100, {"more than 100 edges in one answer": 50})


def test_a_url_that_is_already_whole_fails_with_what_to_write(desk: Desk, model: Model) -> None:
    desk.configure(model, url=f"{model.url}/chat/completions")
    desk.put("Page.md", "The gateway talks to Keycloak, for now at least.\n")
    with pytest.raises(Unavailable, match="status 404") as caught:
        desk.run("extract", page="Page", llm=True)
    assert "url is the base address" in caught.value.hint


def test_a_model_by_an_odd_name_can_be_named(desk: Desk, model: Model) -> None:
    desk.configure(model, model='hf.co/ünïcode/modèl 🦙:Q4_K_M <x> "y"')
    desk.put("Page.md", "The gateway talks to Keycloak, for now at least.\n")
    model.says = [{"edges": [edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak")]}]
    assert found(desk, "Page") == [("concept:gateway", "library:Keycloak")]
    assert len(desk.run("graph", entity="library:Keycloak").edges) == 1
    assert desk.run("check").problems == () or all("graph" not in each.rule for each in desk.run("check").problems)


def test_a_run_that_is_broken_off_counts_what_it_may_have_cost(desk: Desk, model: Model, fault: Any, home: Any) -> None:
    desk.configure(model)
    desk.put("Page.md", "The gateway talks to Keycloak, for now at least.\n")
    model.says = [fault(hang=True)]
    command = [sys.executable, "-m", "wikimem", "extract", "Page", "--llm"]
    env = home.env | {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with subprocess.Popen(command, env=env, cwd=desk.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not model.asked and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    spent = Ledger(user_folders().state).spent_today()
    assert spent.calls == 1
    assert spent.answered == 4_000
    assert spent != LlmSpent()


def test_an_edge_may_be_asked_about_by_two_processes_at_once(desk: Desk, model: Model, home: Any) -> None:
    desk.configure(model)
    desk.put("Page.md", "The gateway talks to Keycloak, for now at least.\n")
    model.says = [{"edges": [edge("concept:gateway", "library:Keycloak", "The gateway talks to Keycloak")]}]
    command = [sys.executable, "-m", "wikimem", "extract", "Page", "--llm", "--json"]
    env = home.env | {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    running = [
        subprocess.Popen(command, env=env, cwd=desk.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [each.communicate(timeout=120) for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert sorted(json.loads(out)["new"] for out, _ in told) in ([0, 1], [1, 1])
    (known,) = desk.run("graph", entity="library:Keycloak").edges
    assert known.evidence == 1
