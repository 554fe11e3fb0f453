"""Joining the rankings of several streams into one, with the share of each stream kept beside the score.

Fusion happens here and never inside an engine, so that every engine gives the same order: ranks count from 1,
equal scores are ordered by key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

RANK_CONSTANT: Final = 60
"""k of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

STREAM_WEIGHTS: Final[Mapping[str, float]] = {"words": 0.4, "vectors": 0.6, "graph": 0.3}
"""Default weights by stream (design section 6), renormalised over the streams that answered."""

CONVEX_WEIGHTS: Final[Mapping[str, float]] = {
    "words": 0.3,
    "page": 1.0,
    "said": 1.0,
    "vectors": 0.6,
    "closeness": 1.0,
    "pairs": 0.3,
    "graph": 1.0,
}
"""By stream and by further evidence (`wikimem.search.evidence`), renormalised over what answered. Round numbers near
the best of a coarse grid on development halves (LoCoMo, lme_pool, CoSQA); half or twice of one changes little. The best
passage's words weigh little because the whole page and the close reading say them again."""

PAGE_BESIDE_SAID: Final = 0.5
"""What is left of the weight of the whole page where what the person said on it is weighed apart; as chosen above."""

FLAT_VECTORS: Final = 0.5
"""What vectors gain where pages are single passages. There the whole page only repeats the passage, and loses its
weight; half of that goes to the other witness of what a passage is about."""

FLAT_WORDS: Final = 0.2
"""What the words of a passage gain there: nothing else says them again."""

Ranking = Sequence[tuple[int, float]]
"""Keys with the stream's own scores, best first. A key that comes again counts where it came first."""

Parts = Mapping[str, Ranking]
"""By stream what it adds to the score of each key that it found; each key once."""


class Fused(Struct, frozen=True):
    """One key of the joint ranking: its rank in each stream that found it, and what each added: the `score`'s parts."""

    key: int
    score: float
    ranks: dict[str, int] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)


class Fusion(Protocol):
    """A way to join rankings. `rankings` holds everything that answered, also what found nothing.

    `company` is the share (0 to 1) of passages that are not alone on their page: what whole pages are worth.
    """

    @property
    def name(self) -> str: ...

    def fuse(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> list[Fused]: ...

    def order(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> list[int]:
        """The keys of `fuse`, in its order, in less time."""
        ...


UNKNOWN_WORDS: Final = 0.25
"""What is left of the weight of meaning where the model has fewer than half of the question's words whole. Chosen so
that the only page with an identifier comes first in generated vaults; no benchmark set has such questions."""


class _SumFusion(Struct, frozen=True):
    """A fusion whose score is the sum of what each stream adds."""

    def fuse(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> list[Fused]:
        return _joined(self.parts(rankings, company=company))

    def order(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> list[int]:
        return _ordered(self.parts(rankings, company=company))

    def parts(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> Parts:
        raise NotImplementedError


class ReciprocalRankFusion(_SumFusion, frozen=True):
    """A key's score is the sum over the streams of weight / (k + rank). Further evidence is no stream: left out."""

    weights: Mapping[str, float] = field(default_factory=lambda: STREAM_WEIGHTS)
    k: int = RANK_CONSTANT

    @property
    def name(self) -> str:
        return "rrf"

    def parts(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> Parts:  # noqa: ARG002
        rankings = {stream: ranking for stream, ranking in rankings.items() if stream in self.weights}
        shares = _shares(self.weights, rankings)
        return {
            stream: [(key, shares[stream] / (self.k + rank)) for rank, key in enumerate(_distinct(ranking), start=1)]
            for stream, ranking in rankings.items()
        }


class ConvexFusion(_SumFusion, frozen=True):
    """A key's score is the weighted sum of its scores, each stream's scaled so that its best is 1 and its worst 0.

    A stream whose scores are all equal gives each of its keys 1: they were found, and nothing tells them apart.
    Streams in `absolute` score from 0 to 1 already and are not scaled: the best of a few distant links is still a
    distant link. Those in `from_zero` leave out what has nothing, so that their worst is still something.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: CONVEX_WEIGHTS)
    absolute: frozenset[str] = frozenset({"graph"})
    from_zero: frozenset[str] = frozenset({"pairs"})
    flat_vectors: float = FLAT_VECTORS
    flat_words: float = FLAT_WORDS

    @property
    def name(self) -> str:
        return "convex"

    def parts(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> Parts:
        weights = dict(self.weights)
        weights["page"] = weights.get("page", 0.0) * company * (PAGE_BESIDE_SAID if "said" in rankings else 1.0)
        weights["vectors"] = weights.get("vectors", 0.0) + self.flat_vectors * (1 - company)
        weights["words"] = weights.get("words", 0.0) + self.flat_words * (1 - company)
        shares = _shares(weights, rankings)
        return {
            stream: _scaled(ranking, shares[stream], self._worst(stream), absolute=stream in self.absolute)
            for stream, ranking in rankings.items()
        }

    def _worst(self, stream: str) -> float | None:
        return 0.0 if stream in self.from_zero else None


def leaning_on_words(fusion: Fusion) -> Fusion:
    """The same fusion for a question whose words the model mostly has not whole: an error code, an identifier.

    What the model says of their fragments is hardly more than noise, scaled so that the best of it counts in full.
    """
    if not isinstance(fusion, ConvexFusion):
        return fusion
    meant = ("vectors", "closeness", "pairs")
    weights = {name: weight * (UNKNOWN_WORDS if name in meant else 1.0) for name, weight in fusion.weights.items()}
    return replace(fusion, weights=weights, flat_vectors=fusion.flat_vectors * UNKNOWN_WORDS)


def _shares(weights: Mapping[str, float], rankings: Mapping[str, Ranking]) -> dict[str, float]:
    total = math.fsum(weights[stream] for stream in rankings)
    return {stream: weights[stream] / total if total else 0.0 for stream in rankings}


def _distinct(ranking: Ranking) -> dict[int, float]:
    first: dict[int, float] = {}
    for key, score in ranking:
        if key not in first:
            first[key] = score
    return first


def _scaled(ranking: Ranking, share: float, worst: float | None, *, absolute: bool) -> Ranking:
    scores = _distinct(ranking)
    if absolute:
        return [(key, share * min(max(score, 0.0), 1.0)) for key, score in scores.items()]
    if not scores:
        return []
    worst = min(scores.values()) if worst is None else worst
    span = max(scores.values()) - worst
    if span <= 0:
        return [(key, share) for key in scores]
    return [(key, share * ((score - worst) / span)) for key, score in scores.items()]


def _joined(parts_by_stream: Parts) -> list[Fused]:
    ranks: dict[int, dict[str, int]] = {}
    parts: dict[int, dict[str, float]] = {}
    for stream in sorted(parts_by_stream):
        for rank, (key, part) in enumerate(parts_by_stream[stream], start=1):
            if key in ranks:
                ranks[key][stream] = rank
                parts[key][stream] = part
            else:
                ranks[key] = {stream: rank}
                parts[key] = {stream: part}
    # fsum is exact before its one rounding, so the total does not depend on the order of the streams.
    fused = [Fused(key, math.fsum(own.values()), ranks[key], own) for key, own in parts.items()]
    return sorted(fused, key=lambda entry: (-entry.score, entry.key))


def _ordered(parts_by_stream: Parts) -> list[int]:
    parts: dict[int, list[float]] = {}
    for ranking in parts_by_stream.values():
        for key, part in ranking:
            if key in parts:
                parts[key].append(part)
            else:
                parts[key] = [part]
    # As in `_joined`, so that both give one order.
    return [key for _, key in sorted((-math.fsum(own), key) for key, own in parts.items())]


FUSIONS: Final[Mapping[str, Fusion]] = {fusion.name: fusion for fusion in (ReciprocalRankFusion(), ConvexFusion())}
DEFAULT_FUSION: Final = FUSIONS["convex"]
"""Ranks forget how sure a stream was: the nearest of many passages that are all far counts as much as the only one
that holds the word. The manual's page on benchmarks has the numbers of both.
"""
