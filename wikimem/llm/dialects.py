"""Three dialects: how each is asked, and where its answer has the text and the count of tokens.

    openai      POST {url}/chat/completions   OpenAI, and what speaks like it: llama.cpp, vLLM, LM Studio, OpenRouter
    anthropic   POST {url}/v1/messages        Anthropic
    ollama      POST {url}/api/chat           Ollama, its own interface: the only one that sets the size of the context

Not every server takes every field. `Form` says which are used; what a server complains of is left out next time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.llm.prompt import Prompt, Reply
from wikimem.model.llm import LlmSettings

ANTHROPIC_VERSION: Final = "2023-06-01"
_LEAST_CONTEXT: Final = 4_096
_ROOM: Final = 1.5
"""The estimate of a prompt's tokens times this is room enough for it with any model's tokenizer."""


class Form(Struct, frozen=True):
    """Which fields a request has. `completion`: the limit of the answer by the newer of its two names."""

    schema: bool = True
    temperature: bool = True
    completion: bool = False


class Spoken(Struct, frozen=True):
    """A dialect: the path below the base address, the headers for a key (None: there is none), body and reply."""

    path: str
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[LlmSettings, Prompt, Form], dict[str, Any]]
    reply: Callable[[Mapping[str, Any]], Reply]


def simpler(form: Form, complaint: str) -> Form | None:
    """The form without what a server complains of in an answer of status 400 or 422; None where nothing is left."""
    low = complaint.casefold()
    if not form.completion and "max_completion_tokens" in low:
        return replace(form, completion=True)
    if form.temperature and "temperature" in low:
        return replace(form, temperature=False)
    if form.schema and re.search(r"response_format|output_config|schema|format|structured|extra inputs", low):
        return replace(form, schema=False)
    return Form(schema=False, temperature=False, completion=form.completion) if form.schema else None


def _bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _anthropic_headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}


def _openai_body(settings: LlmSettings, prompt: Prompt, form: Form) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": "system", "content": prompt.system}, *prompt.messages()],
        "max_completion_tokens" if form.completion else "max_tokens": settings.max_tokens,
    }
    if form.temperature:
        body["temperature"] = 0
    if form.schema:
        wanted = {"name": "answer", "strict": True, "schema": prompt.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return body


def _openai_reply(answer: Mapping[str, Any]) -> Reply:
    choice = _first(answer["choices"])
    message, usage = choice["message"], _table(answer.get("usage"))
    ended = choice.get("finish_reason")
    return Reply(
        _joined(message.get("content")),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        cut=ended == "length",
        declined=bool(message.get("refusal")) or ended == "content_filter",
    )


def _anthropic_body(settings: LlmSettings, prompt: Prompt, form: Form) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "system": prompt.system,
        "messages": prompt.messages(),
    }
    if form.temperature:
        body["temperature"] = 0
    if form.schema:
        body["output_config"] = {"format": {"type": "json_schema", "schema": prompt.schema}}
    return body


def _anthropic_reply(answer: Mapping[str, Any]) -> Reply:
    usage, ended = _table(answer.get("usage")), answer.get("stop_reason")
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    asked = _count(usage.get("input_tokens"))
    return Reply(
        _joined(answer["content"]),
        None if asked is None else asked + sum(_count(usage.get(name)) or 0 for name in cached),
        _count(usage.get("output_tokens")),
        cut=ended == "max_tokens",
        declined=ended == "refusal",
    )


def _ollama_body(settings: LlmSettings, prompt: Prompt, form: Form) -> dict[str, Any]:
    # A model is loaded anew for another size of its context, so there are few sizes.
    context = _LEAST_CONTEXT
    while context < prompt.tokens() * _ROOM + settings.max_tokens:
        context *= 2
    options: dict[str, Any] = {"num_ctx": context, "num_predict": settings.max_tokens}
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": "system", "content": prompt.system}, *prompt.messages()],
        "stream": False,
        "options": {**options, "temperature": 0} if form.temperature else options,
    }
    if form.schema:
        body["format"] = prompt.schema
    return body


def _ollama_reply(answer: Mapping[str, Any]) -> Reply:
    return Reply(
        _joined(answer["message"].get("content")),
        _count(answer.get("prompt_eval_count")),
        _count(answer.get("eval_count")),
        cut=answer.get("done_reason") == "length",
    )


def _first(items: Any) -> Any:
    if not isinstance(items, list) or not items:
        raise TypeError
    return items[0]


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _joined(content: Any) -> str:
    """The text of an answer: one text, or the texts of its blocks."""
    if content is None or isinstance(content, str):
        return content or ""
    blocks = [block for block in content if block.get("type", "text") == "text"]
    return "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 10**12 else None


SPOKEN: Final[Mapping[str, Spoken]] = {
    "openai": Spoken("/chat/completions", _bearer, _openai_body, _openai_reply),
    "anthropic": Spoken("/v1/messages", _anthropic_headers, _anthropic_body, _anthropic_reply),
    "ollama": Spoken("/api/chat", _bearer, _ollama_body, _ollama_reply),
}
"""By the name that the configuration gives."""
