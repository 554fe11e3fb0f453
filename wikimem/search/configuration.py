"""Ways to search that can be compared: a small closed set of settings, each as KEY=VALUE.

streams=words,vectors      ask only these streams
fusion=rrf                 join them by reciprocal ranks; `convex` is what searches use
without=said               leave a kind of further evidence out: whole-pages, close-reading, said
at=REV                     the vault at this revision or date
reranker=off               without the reranker that this user's configuration names
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Invalid
from wikimem.search.fuse import DEFAULT_FUSION, FUSIONS, ConvexFusion, Fusion, Parts, Ranking
from wikimem.search.streams import STREAM_NAMES

KEYS: Final = ("streams", "fusion", "without", "at", "reranker")

EVIDENCE: Final[Mapping[str, frozenset[str]]] = {
    "whole-pages": frozenset({"page"}),
    "close-reading": frozenset({"closeness", "pairs"}),
    "said": frozenset({"said"}),
}
"""What `without` can leave out, with the names that fusion knows it by."""


class PartialFusion(ConvexFusion, frozen=True):
    """The convex fusion of what is not in `left_out`; the weight of the rest is shared out anew."""

    left_out: frozenset[str] = frozenset()

    def parts(self, rankings: Mapping[str, Ranking], *, company: float = 1.0) -> Parts:
        kept = {name: ranking for name, ranking in rankings.items() if name not in self.left_out}
        return ConvexFusion.parts(self, kept, company=company)


class Configuration(Struct, frozen=True):
    """How to search, and in which state of the vault: `at` is a revision or date, None for the vault as it is."""

    streams: tuple[str, ...] = STREAM_NAMES
    fusion: Fusion = DEFAULT_FUSION
    at: str | None = None
    reranked: bool = True
    name: str = "as searches are"


def read_configuration(settings: Sequence[str], *, at: str | None = None) -> Configuration:
    """The configuration that KEY=VALUE settings describe. Raises Invalid for what is not in the set, or given twice."""
    found = Configuration(at=at)
    seen: set[str] = set()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in KEYS or not equals or not value:
            raise Invalid(
                f"there is no setting '{setting[:60]}'",
                hint="Known are streams=words,vectors,graph; fusion=rrf or convex; "
                f"without={' or '.join(EVIDENCE)}; at=REV; reranker=off.",
            )
        if key in seen and key != "without":
            raise Invalid(f"{key} is set twice", hint=f"Give {key}= once.")
        seen.add(key)
        found = _READ[key](found, value)
    if "without" in seen and not isinstance(found.fusion, PartialFusion):
        raise Invalid("reciprocal ranks use no further evidence", hint="Leave `without` out, or `fusion=rrf`.")
    name = " ".join((*settings, *([f"at={at}"] if at and "at" not in seen else [])))
    return replace(found, name=name or found.name)


def _with_streams(before: Configuration, value: str) -> Configuration:
    return replace(before, streams=_words(value, STREAM_NAMES, "stream"))


def _with_fusion(before: Configuration, value: str) -> Configuration:
    (name,) = _words(value, tuple(FUSIONS), "fusion")[:1]
    if name == DEFAULT_FUSION.name and isinstance(before.fusion, PartialFusion):
        return before
    return replace(before, fusion=FUSIONS[name])


def _without(before: Configuration, value: str) -> Configuration:
    left_out = frozenset().union(*(EVIDENCE[name] for name in _words(value, tuple(EVIDENCE), "evidence")))
    if isinstance(before.fusion, PartialFusion):
        return replace(before, fusion=PartialFusion(left_out=before.fusion.left_out | left_out))
    return replace(before, fusion=PartialFusion(left_out=left_out)) if before.fusion is DEFAULT_FUSION else before


def _at(before: Configuration, value: str) -> Configuration:
    return replace(before, at=value)


def _without_reranker(before: Configuration, value: str) -> Configuration:
    _words(value, ("off",), "state of the reranker")
    return replace(before, reranked=False)


_READ: Final[Mapping[str, Callable[[Configuration, str], Configuration]]] = {
    "streams": _with_streams,
    "fusion": _with_fusion,
    "without": _without,
    "at": _at,
    "reranker": _without_reranker,
}


def _words(value: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    for name in names:
        if name not in known:
            raise Invalid(f"there is no {what} '{name[:40]}'", hint=f"Choose from: {', '.join(known)}.")
    return names
