"""python -m benchmark.quality DATA_FOLDER --set locomo --half dev --out results/

Writes each haystack of a set into a vault, asks its questions through the `search` operation, and reports how high
the pages (or passages) stand that answer them. DATA_FOLDER holds the sets; the manual says where they come from.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmark.quality.metrics import METRICS, score, summarise
from benchmark.quality.sets import NAMES, BenchmarkSet, Question, read_set
from benchmark.quality.vaults import LAYOUTS, BenchmarkVault, keep_apart, make_vault

LIMIT: Final = 10
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "no vectors": {"streams": ["words", "graph"]},
    "no words": {"streams": ["vectors", "graph"]},
    "no graph": {"streams": ["words", "vectors"]},
    "words alone": {"streams": ["words"]},
    "vectors alone": {"streams": ["vectors"]},
    "rrf": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.quality", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets")
    parser.add_argument("--set", dest="sets", action="append", choices=NAMES, help="repeat for several; all without it")
    parser.add_argument("--half", default="dev", help="which half of the questions: the `split` that they carry")
    parser.add_argument("--part", default="all", choices=("all", "tune", "check"), help="half of a half")
    parser.add_argument("--level", default="session", choices=("session", "turn"))
    parser.add_argument("--layout", default="paragraphs", choices=LAYOUTS, help="how a turn begins in its page")
    parser.add_argument("--variant", dest="variants", action="append", choices=tuple(VARIANTS), help="default: all")
    parser.add_argument("--sample", type=int, default=0, help="this many questions of each set, always the same ones")
    parser.add_argument("--out", type=Path, help="a folder for the report and one line of JSON for each question")
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes in this folder and use them again")
    given = parser.parse_args()
    with _workplace(given.keep) as folder:
        keep_apart(folder)
        for name in given.sets or NAMES:
            asked = read_set(given.data, name, half=given.half, part=given.part, sample=given.sample)
            rows = list(_measure(asked, folder / f"{name}-{given.layout}", given))
            report = _report(asked, rows, given)
            print(report)
            if given.out is not None:
                _write(given.out, f"{name}-{given.half}-{given.part}-{given.level}-{given.layout}", report, rows)


@contextmanager
def _workplace(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="wikimem-quality-") as folder:
        yield Path(folder)


def _measure(asked: BenchmarkSet, folder: Path, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    by_haystack: dict[str, list[Question]] = defaultdict(list)
    for question in asked.questions:
        by_haystack[question.haystack].append(question)
    for number, (haystack, questions) in enumerate(by_haystack.items()):
        # Numbered by the whole set, so that a kept folder means the same haystack in every run.
        place = list(asked.haystacks).index(haystack)
        vault = make_vault(folder / f"{place:04}", asked, asked.haystacks[haystack], given.layout)
        try:
            for variant in given.variants or ["default"]:
                for question in questions:
                    yield _ask(vault, question, variant, given.level)
        finally:
            vault.wiki.close()
        if (number + 1) % 50 == 0:
            print(f"# {asked.name}: {number + 1} of {len(by_haystack)} haystacks", flush=True)


def _ask(vault: BenchmarkVault, question: Question, variant: str, level: str) -> dict[str, Any]:
    options = dict(VARIANTS[variant])
    if level == "turn":
        options["group"] = "passage"
    with _fusion(variant):
        begun = time.perf_counter()
        hits = vault.search(question.text, question.date, limit=LIMIT, **options).hits
        elapsed = time.perf_counter() - begun
    ranked = [_held(vault, hit, level) for hit in hits]
    golds = question.golds if level == "turn" else question.gold_sessions
    return {
        "variant": variant,
        "qid": question.id,
        "type": question.type,
        "part": question.part,
        "ms": elapsed * 1000,
        "golds": sorted(golds),
        "ranked": ranked,
        **score(ranked, golds),
    }


def _held(vault: BenchmarkVault, hit: Any, level: str) -> list[str]:
    if hit.path not in vault.sessions:
        return []  # a page that every new vault has
    if level == "session":
        return [vault.sessions[hit.path]]
    text = (vault.wiki.root / hit.path).read_text(encoding="utf-8")
    start = text.find(hit.passage)
    return list(vault.documents_in(hit.path, start, start + len(hit.passage))) if start >= 0 else []


@contextmanager
def _fusion(variant: str) -> Iterator[None]:
    """The operation takes no fusion, which is no choice for a user to make; the ablation swaps the default."""
    from wikimem.search import fuse, search

    if variant != "rrf":
        yield
        return
    before = search.search.__kwdefaults__["fusion"]
    search.search.__kwdefaults__["fusion"] = fuse.FUSIONS["rrf"]
    try:
        yield
    finally:
        search.search.__kwdefaults__["fusion"] = before


def _report(asked: BenchmarkSet, rows: Sequence[dict[str, Any]], given: argparse.Namespace) -> str:
    lines = [
        f"## {asked.name}, {given.half} half, part {given.part}, {given.level} level, {given.layout}",
        "",
        f"| variant | type | n | {' | '.join(METRICS)} | ms p50 |",
        f"|---|---|---|{'---|' * len(METRICS)}---|",
    ]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    types = sorted({row["type"] for row in rows})
    for row in rows:
        groups[row["variant"], "all"].append(row)
        for kind in (f"part {row['part']}", *([row["type"]] if len(types) > 1 else [])):
            if row["variant"] == "default":
                groups["default", kind].append(row)
    for (variant, kind), members in groups.items():
        cells = [f"{mean:.1f} ({low:.1f} to {high:.1f})" for mean, low, high in summarise(members).values()]
        speed = statistics.median(row["ms"] for row in members)
        lines.append(f"| {variant} | {kind} | {len(members)} | {' | '.join(cells)} | {speed:.1f} |")
    return "\n".join([*lines, ""])


def _write(folder: Path, name: str, report: str, rows: Sequence[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(report, encoding="utf-8")
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
