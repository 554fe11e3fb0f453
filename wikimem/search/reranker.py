"""A reranker over HTTP: a model elsewhere that reads the question beside each of the best passages.

Off unless this user's configuration names one. The request and the answer are as Jina and Cohere have them:

    POST url    {"model": "...", "query": "...", "documents": ["...", ...], "top_n": 20}
    answer      {"results": [{"index": 3, "relevance_score": 0.93}, ...]}

`data` for `results` and `score` for `relevance_score` are taken too. Only masked text is sent. No redirect is followed
and no proxy asked: the text goes where the configuration says. A reranker that fails or takes too long changes nothing,
and the search says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from wikimem.errors import WikimemError
from wikimem.model.reranker import RerankerAddress, RerankerFolder

if TYPE_CHECKING:
    from wikimem.search.localreranker import LocalReranker
    from wikimem.vault.config import UserConfig

MOST_DOCUMENTS: Final = 20
"""How many of the best candidates are read."""
MOST_ANSWER_BYTES: Final = 1_000_000
_MOST_KEY_BYTES: Final = 4_096


class RerankError(Exception):
    """Why a reranker's answer cannot be used, in a few words."""


class HttpReranker(Struct, frozen=True):
    """The reranker at an address."""

    address: RerankerAddress

    def order(self, query: str, documents: Sequence[str]) -> list[int]:
        """Places of `documents`, best first, all of them: those that the answer leaves out follow in their order.

        Raises RerankError where it cannot be reached, is too slow, or answers what makes no sense.
        """
        asked: dict[str, Any] = {"query": query, "documents": list(documents), "top_n": len(documents)}
        if self.address.model:
            asked["model"] = self.address.model
        scores = _scores(self._post(json.dumps(asked).encode()), len(documents))
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        return [*ranked, *(place for place in range(len(documents)) if place not in scores)]

    def _post(self, body: bytes) -> bytes:
        from wikimem.httppost import PostError, post

        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._key()}
        try:
            answer = post(
                self.address.url, body, headers, timeout_s=self.address.timeout_s, most_bytes=MOST_ANSWER_BYTES
            )
        except PostError as error:
            raise RerankError(str(error)) from error
        if answer.status != 200:
            raise RerankError(f"it answered with status {answer.status}")
        return answer.body

    def _key(self) -> dict[str, str]:
        from wikimem.vault.folders import read_private

        if self.address.key_file is None:
            return {}
        try:
            key = read_private(self.address.key_file, limit=_MOST_KEY_BYTES).decode("ascii").strip()
        except (OSError, UnicodeDecodeError, WikimemError) as error:
            said = error.message if isinstance(error, WikimemError) else str(error)
            raise RerankError(f"its key cannot be read: {said}") from error
        if not key.isprintable():
            raise RerankError("its key is not one line of text")
        return {"Authorization": f"Bearer {key}"}


def reranker_of(user: UserConfig) -> HttpReranker | LocalReranker | None:
    """The reranker that this user's configuration names; None where it names none."""
    if isinstance(user.reranker, RerankerFolder):
        from wikimem.search.localreranker import LocalReranker

        return LocalReranker(user.reranker)
    return HttpReranker(user.reranker) if user.reranker is not None else None


def _scores(data: bytes, count: int) -> dict[int, float]:
    """The score of each document that the answer names, by its place."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RerankError("its answer is not JSON") from error
    rows = answer.get("results", answer.get("data")) if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise RerankError("its answer has no list of results")
    scores: dict[int, float] = {}
    for row in rows:
        place = row.get("index") if isinstance(row, dict) else None
        value = row.get("relevance_score", row.get("score")) if isinstance(row, dict) else None
        if type(place) is not int or not 0 <= place < count or place in scores:
            raise RerankError("its answer names a document that was not sent, or one twice")
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise RerankError("its answer has a score that is no number")
        scores[place] = float(value)
    return scores
