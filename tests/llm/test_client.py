"""The client against a real server: each dialect, what goes over the wire, and every way in which it can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Refused, Unavailable
from wikimem.llm.client import MOST_ANSWER_BYTES, LlmClient
from wikimem.llm.ledger import Ledger
from wikimem.llm.prompt import Prompt, Turn
from wikimem.model.llm import LlmLimits, LlmSettings, LlmSpent

Model = Any
Make = Callable[..., LlmClient]
SCHEMA = {"type": "object", "properties": {"edges": {"type": "array"}}}
PROMPT = Prompt("You list edges.", "src/auth.ts uses jose.", SCHEMA)
KEY = "sk-test-0123456789abcdef0123456789abcdef"
ROOT = Path(__file__).parents[2]


# Dialects


def test_each_dialect_is_asked_in_its_own_way_and_its_answer_read(each_model: Model, client_of: Make) -> None:
    each_model.says = ['{"edges": [1]}']
    client = client_of(each_model)
    reply = client.ask(PROMPT)
    assert (reply.text, reply.asked, reply.answered, reply.cut, reply.declined) == (
        '{"edges": [1]}',
        100,
        10,
        False,
        False,
    )
    assert client.spent == LlmSpent(1, 100, 10)
    (asked,) = each_model.asked
    assert (asked.system, asked.said, asked.body["model"]) == (PROMPT.system, [PROMPT.user], "tiny")
    assert json.dumps(SCHEMA) in json.dumps(asked.body), "the schema of the answer is sent"
    assert "authorization" not in asked.headers
    assert "x-api-key" not in asked.headers


def test_the_limit_of_the_answer_goes_where_each_dialect_has_it(each_model: Model, client_of: Make) -> None:
    client_of(each_model, max_tokens=321).ask(PROMPT)
    body = each_model.asked[0].body
    where = {"openai": body, "anthropic": body, "ollama": body.get("options", {})}[each_model.dialect]
    assert where["num_predict" if each_model.dialect == "ollama" else "max_tokens"] == 321


def test_an_earlier_answer_goes_back_as_the_models_own(each_model: Model, client_of: Make) -> None:
    asked_again = Prompt(PROMPT.system, PROMPT.user, SCHEMA, (Turn("nonsense", "Once more."),))
    client_of(each_model).ask(asked_again)
    body = each_model.asked[0].body
    turns = [(each["role"], each["content"]) for each in body["messages"] if each["role"] != "system"]
    assert turns == [("user", PROMPT.user), ("assistant", "nonsense"), ("user", "Once more.")]


def test_ollama_gets_a_context_that_holds_prompt_and_answer(client_of: Make, make_model: Callable[..., Model]) -> None:
    model = make_model("ollama")
    client = client_of(model, max_tokens=1000)
    client.ask(PROMPT)
    client.ask(Prompt("s", "word " * 9000, SCHEMA))
    small, large = (asked.body["options"]["num_ctx"] for asked in model.asked)
    assert small == 4096
    assert large > 9000 + 1000


@pytest.mark.parametrize(("ended", "cut", "declined"), [("length", True, False), ("declined", False, True)])
def test_an_answer_that_is_cut_off_or_declined_says_so(
    each_model: Model, client_of: Make, ended: str, cut: bool, declined: bool
) -> None:
    each_model.ended = ended
    reply = client_of(each_model).ask(PROMPT)
    assert (reply.cut, reply.declined) == (cut, declined and each_model.dialect != "ollama")


def test_tokens_that_the_server_does_not_count_are_estimated_and_said_so(each_model: Model, client_of: Make) -> None:
    each_model.usage = False
    client = client_of(each_model)
    client.ask(PROMPT)
    assert client.spent.estimated
    assert client.spent.asked >= PROMPT.tokens()
    assert client.spent.answered > 0


# Keys


def test_a_key_is_taken_from_the_environment_and_sent_as_each_dialect_has_it(
    each_model: Model, client_of: Make
) -> None:
    client_of(each_model, {"MY_KEY": f" {KEY}\n"}, key_env="MY_KEY").ask(PROMPT)
    headers = each_model.asked[0].headers
    if each_model.dialect == "anthropic":
        assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
        assert "authorization" not in headers
    else:
        assert headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("value", [None, "", "  ", "schlüssel", "a\nb"])
def test_without_a_key_nothing_is_sent(model: Model, client_of: Make, value: str | None) -> None:
    client = client_of(model, {} if value is None else {"MY_KEY": value}, key_env="MY_KEY")
    with pytest.raises(Refused, match="MY_KEY") as caught:
        client.ask(PROMPT)
    assert "Set MY_KEY" in caught.value.hint
    assert model.asked == []


def test_a_key_that_the_server_repeats_is_not_passed_on(
    model: Model, client_of: Make, fault: Any, tmp_path: Path
) -> None:
    said = f"Incorrect API key provided: {KEY}. \x1b[31mSee ghp_{'a1B2c3D4e5' * 3}f6G7h8"
    model.says = [fault(401, json.dumps({"error": {"message": said}}).encode())]
    with pytest.raises(Unavailable, match=r"status 401 \(Incorrect API key provided: \[key\]") as caught:
        client_of(model, {"MY_KEY": KEY}, key_env="MY_KEY").ask(PROMPT)
    told = caught.value.message + caught.value.hint
    assert KEY not in told
    assert "ghp_a1B2" not in told
    assert "\x1b" not in told
    assert "key_env" in told
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


# Faults that pass


def test_too_many_requests_are_waited_for_as_long_as_the_server_asks(model: Model, client_of: Make, fault: Any) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)
    for asks in ("7", later, past):
        model.asked.clear()
        model.says = [fault(429, b"{}", {"Retry-After": asks}), "done"]
        client = client_of(model)
        assert client.ask(PROMPT).text == "done"
        (waited,) = client.waits  # type: ignore[attr-defined]
        assert waited == 7 or (asks == later and 0 < waited <= 30) or (asks == past and waited == 0)
        assert client.spent == LlmSpent(2, 100, 10), "both requests count, the tokens of one"


def test_who_is_asked_to_wait_for_long_does_not(model: Model, client_of: Make, fault: Any) -> None:
    model.says = [fault(429, b"{}", {"Retry-After": "3600"})]
    with pytest.raises(Unavailable, match="asks to wait 3600 s"):
        client_of(model).ask(PROMPT)
    assert len(model.asked) == 1


@pytest.mark.parametrize("asks", ["", "soon", "-5", "1e9", "٣"])
def test_a_wait_that_cannot_be_read_is_the_usual_one(model: Model, client_of: Make, fault: Any, asks: str) -> None:
    headers = {"Retry-After": asks.encode().decode("latin-1")}
    model.says = [fault(429, b"{}", headers), "done"]
    client = client_of(model, backoff_s=2.0)
    client.ask(PROMPT)
    assert 1.5 <= client.waits[0] <= 2.5  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
def test_a_failing_server_is_asked_again_and_more_slowly(
    model: Model, client_of: Make, fault: Any, status: int
) -> None:
    model.says = [fault(status, b"<html><body>Bad gateway</body></html>"), fault(status), "done"]
    client = client_of(model, backoff_s=4.0)
    assert client.ask(PROMPT).text == "done"
    first, second = client.waits  # type: ignore[attr-defined]
    assert 3 <= first <= 5 < 6 <= second <= 10


def test_after_its_attempts_it_gives_up(model: Model, client_of: Make, fault: Any) -> None:
    model.says = [fault(503, b'{"error": "overloaded"}')]
    with pytest.raises(Unavailable, match=r"status 503 \(overloaded\), 3 times"):
        client_of(model).ask(PROMPT)
    assert len(model.asked) == 3


def test_an_answer_that_breaks_off_is_asked_for_again(each_model: Model, client_of: Make, fault: Any) -> None:
    each_model.says = [fault(200, b'{"choices": [{"mess', cut=5), "done"]
    client = client_of(each_model)
    assert client.ask(PROMPT).text == "done"
    assert client.spent.calls == 2
    assert client.spent.asked > 100, "what broke off may have been worked on"


def test_a_server_that_hangs_up_and_one_that_is_not_there(client_of: Make, silent_port: int, model: Model) -> None:
    for port, said in ((silent_port, "broke off"), (1, "cannot be reached")):
        model.url = f"http://127.0.0.1:{port}"
        client = client_of(model, attempts=2)
        with pytest.raises(Unavailable, match=f"{said}.*2 times"):
            client.ask(PROMPT)
        assert client.spent.calls == 2
    assert client.spent.tokens == 0, "nothing was sent to a server that is not there"


# Faults that do not


def test_a_server_that_says_nothing_is_not_waited_for_nor_asked_again(
    each_model: Model, client_of: Make, fault: Any
) -> None:
    each_model.says = [fault(hang=True)]
    client = client_of(each_model, timeout_s=0.3)
    with pytest.raises(Unavailable, match=r"did not answer in 0\.3 s"):
        client.ask(PROMPT)
    assert len(each_model.asked) == 1
    assert client.spent == LlmSpent(1, client.tokens_of(PROMPT), client.settings.max_tokens, estimated=True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html><body>Log in to the hotel's network</body></html>", "not JSON"),
        (b'{"choices": [{"message": {"content": "tr', "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no message"),
        (b"null", "no message|not JSON"),
        (b"{}", "no message"),
        (b'{"choices": [], "content": 7, "message": 7}', "no message"),
        (b'{"choices": ["x"], "content": ["x"], "message": "x"}', "no message"),
        (b'{"error": {"message": "no credit left"}}', "no credit left"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
)
def test_an_answer_that_is_none_is_said_so(
    each_model: Model, client_of: Make, fault: Any, body: bytes, said: str
) -> None:
    each_model.says = [fault(200, body)]
    with pytest.raises(Unavailable, match=said):
        client_of(each_model).ask(PROMPT)
    assert len(each_model.asked) == 1


def test_a_huge_answer_is_not_read_to_its_end(model: Model, client_of: Make, fault: Any) -> None:
    model.says = [fault(200, b" " * (MOST_ANSWER_BYTES + 100_000))]
    with pytest.raises(Unavailable, match="too large"):
        client_of(model).ask(PROMPT)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed_so_no_key_goes_elsewhere(
    model: Model, make_model: Callable[..., Model], client_of: Make, fault: Any, status: int
) -> None:
    other = make_model("openai")
    model.says = [fault(status, b"", {"Location": f"{other.url}/chat/completions"})]
    with pytest.raises(Refused, match="no redirect is followed"):
        client_of(model, {"MY_KEY": KEY}, key_env="MY_KEY").ask(PROMPT)
    assert (len(model.asked), other.asked) == (1, [])


def test_a_wrong_model_is_said_with_what_to_check(model: Model, client_of: Make, fault: Any) -> None:
    model.says = [fault(404, b'{"error": "model \'tiny\' not found"}')]
    with pytest.raises(Unavailable, match="model 'tiny' not found") as caught:
        client_of(model).ask(PROMPT)
    assert "url and model" in caught.value.hint


# Servers that do not take every field


def test_what_a_server_does_not_take_is_left_out_and_stays_so(each_model: Model, client_of: Make, fault: Any) -> None:
    def complaint(text: str) -> Any:
        return fault(400, json.dumps({"error": {"message": text}}).encode())

    each_model.says = [
        complaint("`temperature` is deprecated for this model"),
        complaint("output_config: Extra inputs are not permitted; response_format json_schema; format"),
        "done",
    ]
    client = client_of(each_model)
    assert client.ask(PROMPT).text == "done"
    client.ask(PROMPT)
    assert len(each_model.asked) == 4
    for asked in each_model.asked[2:]:
        said = json.dumps(asked.body)
        assert "temperature" not in said
        assert '"edges"' not in said
    assert client.waits == []  # type: ignore[attr-defined]


def test_the_newer_name_of_the_limit_is_used_where_it_is_asked_for(model: Model, client_of: Make, fault: Any) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    model.says = [fault(400, json.dumps({"error": {"message": said}}).encode()), "done"]
    client_of(model, max_tokens=77).ask(PROMPT)
    body = model.asked[1].body
    assert body["max_completion_tokens"] == 77
    assert "max_tokens" not in body
    assert "response_format" in body


def test_a_complaint_that_names_nothing_ends_with_the_plainest_request(
    each_model: Model, client_of: Make, fault: Any
) -> None:
    each_model.says = [fault(400, b'{"error": {"message": "bad request"}}')]
    with pytest.raises(Unavailable, match=r"status 400 \(bad request\)"):
        client_of(each_model).ask(PROMPT)
    assert len(each_model.asked) == 2


# Limits


def test_a_run_ends_at_its_limit_of_calls(model: Model, client_of: Make) -> None:
    client = client_of(model, limits=LlmLimits(calls_per_run=2))
    client.ask(PROMPT)
    client.ask(PROMPT)
    with pytest.raises(Refused, match="2 calls of a language model a run") as caught:
        client.ask(PROMPT)
    assert "calls_per_run" in caught.value.hint
    assert len(model.asked) == 2


def test_attempts_count_so_that_a_failing_server_cannot_spend_more(model: Model, client_of: Make, fault: Any) -> None:
    model.says = [fault(500)]
    with pytest.raises(Refused, match="2 calls"):
        client_of(model, attempts=10, limits=LlmLimits(calls_per_run=2)).ask(PROMPT)
    assert len(model.asked) == 2


def test_a_call_that_might_go_over_the_limit_of_tokens_is_not_made(model: Model, client_of: Make) -> None:
    with pytest.raises(Refused, match="of 500 tokens a run 0 are spent, and the next call may take") as caught:
        client_of(model, limits=LlmLimits(tokens_per_run=500), max_tokens=500).ask(PROMPT)
    assert "tokens_per_run" in caught.value.hint
    assert model.asked == []


def test_the_day_is_shared_by_every_run(model: Model, settings_of: Callable[..., LlmSettings], tmp_path: Path) -> None:
    day = [datetime(2025, 9, 12).date()]
    settings = settings_of(model, max_tokens=50, limits=LlmLimits(calls_per_day=3, tokens_per_day=100_000))

    def run() -> None:
        LlmClient(settings, Ledger(tmp_path, today=lambda: day[0]), environment={}).ask(PROMPT)

    for _ in range(3):
        run()
    with pytest.raises(Refused, match="3 calls of language models a day"):
        run()
    assert len(model.asked) == 3
    day[0] = datetime(2025, 9, 13).date()
    run()
    assert [(each[0], each[2]) for each in Ledger(tmp_path).by_day()] == [
        ("2025-09-12", LlmSpent(3, 300, 30)),
        ("2025-09-13", LlmSpent(1, 100, 10)),
    ]


# The guard against loops, and the way there


def test_asking_starts_no_process_so_no_hook_can_be_set_off(model: Model, client_of: Make) -> None:
    started: list[str] = []
    watching = [True]

    def heard(event: str, _: Any) -> None:
        if watching[0] and event in ("subprocess.Popen", "os.fork", "os.exec", "os.posix_spawn", "os.system"):
            started.append(event)

    sys.addaudithook(heard)
    try:
        client_of(model).ask(PROMPT)
    finally:
        watching[0] = False
    assert started == []


def test_a_proxy_is_asked_for_a_tunnel_and_is_sent_no_text(
    model: Model, client_of: Make, proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://ada:p%40ss@127.0.0.1:{proxy.port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    model.url = "https://llm.example.org/v1"
    client = client_of(model, {"MY_KEY": KEY}, key_env="MY_KEY", attempts=1)
    with pytest.raises(Unavailable, match="cannot be reached"):
        client.ask(PROMPT)
    (asked,) = proxy.heard
    assert asked.startswith("CONNECT llm.example.org:443 ")
    assert "Basic YWRhOnBAc3M=" in asked
    assert KEY not in asked
    assert "jose" not in asked


def test_a_proxy_of_another_kind_is_refused_by_name(
    model: Model, client_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1080")
    model.url = "https://llm.example.org/v1"
    with pytest.raises(Unavailable, match="not one of http: socks5"):
        client_of(model).ask(PROMPT)


def test_no_proxy_stands_between_this_machine_and_itself(
    model: Model, client_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert client_of(model).ask(PROMPT).text == '{"edges": []}'


def test_the_client_is_loaded_only_where_it_is_used() -> None:
    code = "import sys, wikimem.operations, wikimem.memory.extraction; print([m for m in sys.modules if '.llm' in m])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    # The settings are read with all others; the client, its dialects and its ledger are not.
    assert done.stdout.strip() in ("[]", "['wikimem.model.llm', 'wikimem.text.llm']")
