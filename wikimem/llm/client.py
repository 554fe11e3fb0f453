"""Asking the model that this user's configuration names, within time, size and budget.

    client = LlmClient(settings, Ledger(folder))
    reply = client.ask(Prompt(system, user, schema))
    client.spent                                     # what this run has cost

A request is made again after a status that passes (429, 5xx) or a broken connection, not after a time-out: a model that
was too slow may have been paid for. No process is started, so nothing here can set off a hook.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from msgspec.structs import replace

from wikimem.errors import Refused, Unavailable
from wikimem.httppost import Answer, PostError, TooLarge, TooSlow, post
from wikimem.llm.dialects import SPOKEN, Form, simpler
from wikimem.llm.ledger import Ledger, Reserved
from wikimem.llm.prompt import Prompt, Reply
from wikimem.model.llm import LlmSettings, LlmSpent
from wikimem.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from wikimem.model.llm import LlmLimits

MOST_ANSWER_BYTES: Final = 2_000_000
LONGEST_RETRY_AFTER_S: Final = 60.0
"""A server that asks for more patience than this is not waited for."""
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_BADLY_ASKED: Final = frozenset({400, 422})
_MOST_SAID: Final = 200
_HINTS: Final[Mapping[int, str]] = {
    401: "Check the key in the environment variable that key_env names.",
    403: "Check the key in the environment variable that key_env names, and what it may do.",
    404: "Check url and model in the [llm] table of your configuration; url is the base address.",
}


class LlmClient:
    """One run's dealings with one model. Not for several threads at once."""

    def __init__(
        self,
        settings: LlmSettings,
        ledger: Ledger,
        *,
        environment: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.spent = LlmSpent()
        self._ledger = ledger
        self._environment = os.environ if environment is None else environment
        self._sleep = sleep
        self._now = now
        self._form = Form()

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.settings.url + SPOKEN[self.settings.dialect].path

    def spent_today(self) -> LlmSpent:
        """What all models together have cost this user today."""
        return self._ledger.spent_today()

    def check(self) -> None:
        """Raise Refused where the key that the configuration names is not to be had: before anything is prepared."""
        self._key()

    def tokens_of(self, prompt: Prompt) -> int:
        """About how many tokens asking this takes, without the answer."""
        schema = estimate_tokens(json.dumps(prompt.schema)) if self._form.schema else 0
        return prompt.tokens() + schema

    def ask(self, prompt: Prompt) -> Reply:
        """The model's answer.

        Raises Refused where a limit is reached, the key is missing or the server sends elsewhere; Unavailable where it
        cannot be reached, is too slow, or answers what makes no sense.
        """
        attempt = 1
        while True:
            reserved = self._reserve(prompt)
            answer, failure = self._post(prompt, reserved)
            if answer is not None and answer.status == 200:
                return self._reply(answer, reserved)
            if answer is not None and answer.status in _BADLY_ASKED:
                form = simpler(self._form, self._said(answer))
                if form is not None:
                    self._form = form
                    continue
            if answer is not None and answer.status not in _PASSING:
                self._give_up(answer)
            reason = failure if answer is None else self._status(answer)
            if attempt >= self.settings.attempts:
                raise Unavailable(
                    f"{self._who()}: {reason}, {attempt} time{'s' if attempt > 1 else ''}",
                    hint="Try again later, or check url in the [llm] table of your configuration.",
                )
            self._wait(answer, attempt, reason)
            attempt += 1

    # Counting

    def _reserve(self, prompt: Prompt) -> Reserved:
        limits, asked = self.settings.limits, self.tokens_of(prompt)
        self._check_run(limits, asked)
        reserved = self._ledger.reserve(self.settings.model, asked, self.settings.max_tokens, limits)
        self._count(1, asked, self.settings.max_tokens)
        return reserved

    def _check_run(self, limits: LlmLimits, asked: int) -> None:
        if self.spent.calls + 1 > limits.calls_per_run:
            raise Refused(
                f"the limit of {limits.calls_per_run} calls of a language model a run is reached",
                hint="Run it again for the rest, or raise calls_per_run in the [llm] table of your configuration.",
            )
        most = asked + self.settings.max_tokens
        if self.spent.tokens + most > limits.tokens_per_run:
            raise Refused(
                f"of {limits.tokens_per_run} tokens a run {self.spent.tokens} are spent, and the next call may take "
                f"{most}",
                hint="Run it again for the rest, or raise tokens_per_run in the [llm] table of your configuration.",
            )

    def _count(self, calls: int, asked: int, answered: int, *, estimated: bool = False) -> None:
        spent = self.spent
        self.spent = LlmSpent(
            spent.calls + calls, spent.asked + asked, spent.answered + answered, spent.estimated or estimated
        )

    def _settle(self, reserved: Reserved, asked: int, answered: int, *, estimated: bool = False) -> None:
        self._ledger.settle(reserved, asked, answered)
        self._count(0, asked - reserved.asked, answered - reserved.answered, estimated=estimated)

    # Asking

    def _post(self, prompt: Prompt, reserved: Reserved) -> tuple[Answer | None, str]:
        """An answer of any status, or why there is none; raises what is not worth another attempt."""
        settings, spoken = self.settings, SPOKEN[self.settings.dialect]
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "wikimem"}
        body = json.dumps(spoken.body(settings, prompt, self._form), ensure_ascii=False).encode("utf-8", "replace")
        try:
            answer = post(
                self.address,
                body,
                headers | spoken.headers(self._key()),
                timeout_s=settings.timeout_s,
                most_bytes=MOST_ANSWER_BYTES,
                proxy=self._proxy(),
            )
        except (TooSlow, TooLarge) as error:
            # It may have worked, and be paid: what was put down for it stays.
            self._count(0, 0, 0, estimated=True)
            raise Unavailable(
                f"{self._who()}: {error}", hint="Raise timeout or lower max_tokens in the [llm] table, or ask for less."
            ) from error
        except PostError as error:
            self._settle(reserved, reserved.asked if error.sent else 0, 0, estimated=error.sent)
            return None, str(error)
        if answer.status != 200:
            self._settle(reserved, 0, 0)
        return answer, ""

    def _reply(self, answer: Answer, reserved: Reserved) -> Reply:
        try:
            document = json.loads(answer.body)
        except (ValueError, RecursionError):
            document = None
        try:
            reply = SPOKEN[self.settings.dialect].reply(document)
        except (KeyError, TypeError, AttributeError) as error:
            self._count(0, 0, 0, estimated=True)
            what = self._said(answer) or ("its answer is not JSON" if document is None else "its answer has no message")
            raise Unavailable(
                f"{self._who()}: {what}", hint="Check dialect and url in the [llm] table of your configuration."
            ) from error
        asked = reserved.asked if reply.asked is None else reply.asked
        answered = estimate_tokens(reply.text) if reply.answered is None else reply.answered
        self._settle(reserved, asked, answered, estimated=None in (reply.asked, reply.answered))
        return replace(reply, asked=asked, answered=answered)

    def _wait(self, answer: Answer | None, attempt: int, reason: str) -> None:
        asked = _retry_after(answer, self._now()) if answer is not None else None
        if asked is not None and asked > LONGEST_RETRY_AFTER_S:
            raise Unavailable(f"{self._who()}: {reason}, and asks to wait {asked:.0f} s", hint="Try again after that.")
        pause = self.settings.backoff_s * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - to spread
        self._sleep(pause if asked is None else asked)

    def _give_up(self, answer: Answer) -> NoReturn:
        if 300 <= answer.status < 400:
            raise Refused(
                f"{self._who()}: it sends elsewhere (status {answer.status}), and no redirect is followed",
                hint="Write the address that it should be in url, in the [llm] table of your configuration.",
            )
        hint = _HINTS.get(answer.status, "Check the [llm] table of your configuration.")
        raise Unavailable(f"{self._who()}: {self._status(answer)}", hint=hint)

    # Words

    def _who(self) -> str:
        return f"the language model {self.settings.model} at {self.address}"

    def _status(self, answer: Answer) -> str:
        said = self._said(answer)
        return f"it answered with status {answer.status}" + (f" ({said})" if said else "")

    def _said(self, answer: Answer) -> str:
        """What the server says of an error: one short line, without the key and whatever looks like one."""
        from wikimem.text.redact import mask_without_key

        try:
            document = json.loads(answer.body)
        except (ValueError, RecursionError):
            return ""
        error: Any = document.get("error") if isinstance(document, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        if not isinstance(said, str):
            return ""
        key = self._environment.get(self.settings.key_env or "", "").strip()
        plain = "".join(char if char.isprintable() else " " for char in said[: 10 * _MOST_SAID])
        return " ".join(mask_without_key(plain.replace(key, "[key]") if key else plain).split())[:_MOST_SAID]

    def _key(self) -> str | None:
        name = self.settings.key_env
        if name is None:
            return None
        key = self._environment.get(name, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise Refused(
                f"the environment variable {name} {'does not hold a key' if key else 'is not set'}",
                hint=f"Set {name} to the key of the language model, or take key_env out of the [llm] table.",
            )
        return key

    def _proxy(self) -> str | None:
        from urllib.parse import urlsplit
        from urllib.request import getproxies_environment, proxy_bypass

        parts = urlsplit(self.settings.url)
        found = getproxies_environment().get("https")
        if parts.scheme != "https" or not found or proxy_bypass(parts.hostname or ""):
            return None
        proxy = found if "://" in found else f"http://{found}"
        if urlsplit(proxy).scheme != "http":
            raise Unavailable(
                f"the proxy that HTTPS_PROXY names is not one of http: {urlsplit(proxy).scheme}",
                hint="Name an http:// proxy, or take the host out with NO_PROXY.",
            )
        return proxy


def _retry_after(answer: Answer, now: float) -> float | None:
    """The seconds that a server asks to wait, 0 or more; None where it asks nothing that can be read."""
    from email.utils import parsedate_to_datetime

    asked = answer.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - now)
    except (TypeError, ValueError):
        return None
