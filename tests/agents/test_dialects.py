"""How an answer is written for each agent, and what is printed where there is nothing to say."""

from __future__ import annotations

import json

import pytest

from wikimem.agents.agent import MODULES, Agent, agent_named
from wikimem.agents.dialects import MOST_CHARACTERS, answer_for, takes_text

TEXT = 'It is "data":\nline two'


def named(name: str) -> Agent:
    agent = agent_named(name)
    assert agent is not None
    return agent


@pytest.mark.parametrize(
    ("agent", "event", "answer"),
    [
        ("claude", "SessionStart",
         {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}}),
        ("codex", "UserPromptSubmit",
         {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": TEXT}}),
        ("gemini", "BeforeAgent", {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": TEXT}}),
        ("qwen", "SessionStart", {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}}),
        ("vscode", "SessionStart",
         {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}}),
        ("cursor", "sessionStart", {"additional_context": TEXT}),
        ("copilot-cli", "sessionStart", {"additionalContext": TEXT}),
        ("hermes", "pre_llm_call", {"context": TEXT}),
        ("cline", "UserPromptSubmit", {"cancel": False, "contextModification": TEXT, "errorMessage": ""}),
    ],
)  # fmt: skip
def test_text_for_the_model_is_written_as_the_agent_reads_it(agent: str, event: str, answer: object) -> None:
    assert takes_text(named(agent), event)
    assert json.loads(answer_for(named(agent), event, TEXT)) == answer


def test_an_agent_that_takes_plain_text_gets_it_as_it_is() -> None:
    assert answer_for(named("kiro"), "SessionStart", TEXT) == TEXT


@pytest.mark.parametrize(
    ("agent", "event"), [("claude", "PreCompact"), ("claude", "SessionEnd"), ("codex", "Stop"),
                         ("goose", "SessionStart"), ("windsurf", "pre_user_prompt"),
                         ("copilot-cli", "userPromptSubmitted")]
)  # fmt: skip
def test_text_is_not_printed_where_it_would_not_reach_the_model(agent: str, event: str) -> None:
    assert not takes_text(named(agent), event)
    assert answer_for(named(agent), event, TEXT) == ""


@pytest.mark.parametrize("agent", sorted(MODULES))
def test_with_nothing_to_say_the_output_is_empty_or_an_object_that_decides_nothing(agent: str) -> None:
    table = named(agent)
    for event in table.events:
        said = answer_for(table, event, None)
        assert bool(said) == table.wants_answer
        answer = json.loads(said or "{}")
        assert not {"permission", "decision", "continue"} & set(answer)
        assert not answer.get("cancel")


def test_the_event_is_named_as_the_agent_spells_it() -> None:
    answer = json.loads(answer_for(named("claude"), "session_start", TEXT))
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_a_long_text_is_cut_to_what_agents_pass_on_whole() -> None:
    assert len(answer_for(named("kiro"), "SessionStart", "x" * 20_000)) == MOST_CHARACTERS
