"""`python -m benchmark.extraction [--errors]`: precision and recall on the labelled sample, by half and relation.

The halves are told apart by a hash of each example's id. Rules are tuned on `dev` only; `--errors` shows what is wrong
there. Edges are compared by relation, types and normalised names.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from wikimem.graph.extraction.extract import extract, extract_observations
from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.sentences import Observed
from wikimem.graph.naming import make_entity

FOLDER: Final = Path(__file__).parents[2] / "tests" / "data" / "extraction"
PROJECT: Final = "shop"
"""The project that every example belongs to."""
HALVES: Final = ("dev", "test")

Edge = tuple[str, str, str]


def examples() -> list[dict[str, Any]]:
    """The labelled sample."""
    lines = (FOLDER / "labelled.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def half_of(example_id: str) -> str:
    """`dev` or `test`."""
    return HALVES[hashlib.sha256(example_id.encode()).digest()[0] % 2]


def known_names() -> dict[str, Named]:
    """The names that the vault of the sample introduces."""
    said = json.loads((FOLDER / "known.json").read_text(encoding="utf-8"))
    return {name: _named(written) for name, written in said.items()}


def extracted(example: dict[str, Any], known: dict[str, Named]) -> list[Extracted]:
    """What extraction finds in an example."""
    about = example.get("about", {})
    setting = Setting(
        decision=Named("decision", about["decision"]) if "decision" in about else None,
        error=Named("error", about["error"]) if "error" in about else None,
        project=Named("project", PROJECT),
        file=Named("file", about["file"]) if "file" in about else None,
    )
    if "observations" in example:
        seen = [Observed(label, body, f"o-{n}") for n, (label, body) in enumerate(example["observations"])]
        return extract_observations(seen, setting, known)
    return extract(example["text"], setting, known)


def compared(named: str) -> str:
    """A `type:name` as it is compared."""
    kind, _, name = named.partition(":")
    return make_entity(kind, name, PROJECT).iri


def edges_of(found: Iterable[Extracted]) -> set[Edge]:
    """The edges by their identities."""
    return {
        (compared(f"{e.subject.type}:{e.subject.name}"), e.relation, compared(f"{e.object.type}:{e.object.name}"))
        for e in found
    }


def wanted(example: dict[str, Any]) -> set[Edge]:
    """The edges that the label gives."""
    return {(compared(subject), relation, compared(object_)) for subject, relation, object_ in example["edges"]}


def measure(half: str) -> dict[str, Counter[str]]:
    """By relation, and for `all`: how many edges are right, wrong and missing."""
    known = known_names()
    counts: dict[str, Counter[str]] = {"all": Counter()}
    for example in examples():
        if half_of(example["id"]) != half:
            continue
        found, label = edges_of(extracted(example, known)), wanted(example)
        for kind, edges in (("right", found & label), ("wrong", found - label), ("missing", label - found)):
            for edge in edges:
                counts.setdefault(edge[1], Counter())[kind] += 1
                counts["all"][kind] += 1
    return counts


def precision_recall(counts: Counter[str]) -> tuple[float, float]:
    """Both from 0 to 1; 1 where there is nothing to be wrong about."""
    found, label = counts["right"] + counts["wrong"], counts["right"] + counts["missing"]
    return counts["right"] / found if found else 1.0, counts["right"] / label if label else 1.0


def _named(written: str) -> Named:
    kind, _, name = written.partition(":")
    return Named(kind, name)


def _errors() -> None:
    known = known_names()
    for example in examples():
        found, label = edges_of(extracted(example, known)), wanted(example)
        if half_of(example["id"]) == "dev" and found != label:
            print(f"{example['id']} {example.get('text') or example['observations']}")
            for mark, edges in (("+", found - label), ("-", label - found)):
                for edge in sorted(edges):
                    print("   ", mark, *edge)


def main() -> None:
    """Print a table of each half."""
    for half in HALVES:
        counts = measure(half)
        size = sum(half_of(example["id"]) == half for example in examples())
        print(f"{half}: {size} examples")
        for relation, of in sorted(counts.items()):
            precision, recall = precision_recall(of)
            print(
                f"  {relation:<14} precision {precision:.2f}  recall {recall:.2f}  edges {of['right'] + of['missing']}"
            )
    if "--errors" in sys.argv[1:]:
        _errors()


if __name__ == "__main__":
    main()
