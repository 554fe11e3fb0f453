"""python -m benchmark.quality DATA --set locomo --half dev --out results/
python -m benchmark.quality longmemeval_s.json --format longmemeval --out results/

Writes each haystack of a set into a vault, asks its questions through the `search` operation, and reports how high
the pages (or passages) stand that answer them. DATA is a folder with sets, or with --format a public original file;
the manual says where they come from.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmark.quality.formats import READERS
from benchmark.quality.plots import write_plot
from benchmark.quality.sets import NAMES, BenchmarkSet, Question, chosen, read_set
from benchmark.quality.vaults import LAYOUTS, BenchmarkVault, keep_apart, make_vault
from wikimem.search.configuration import Configuration, read_configuration
from wikimem.search.evaluation import METRICS, score, summarise

LIMIT: Final = 10
VARIANTS: Final[dict[str, tuple[str, ...]]] = {
    "default": (),
    "no vectors": ("streams=words,graph",),
    "no words": ("streams=vectors,graph",),
    "no graph": ("streams=words,vectors",),
    "words alone": ("streams=words",),
    "vectors alone": ("streams=vectors",),
    "no whole pages": ("without=whole-pages",),
    "no close reading": ("without=close-reading",),
    "no said": ("without=said",),
    "rrf": ("fusion=rrf",),
}
"""Ablations, as `wikimem eval --against` describes them."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.quality", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets, or with --format the original file")
    parser.add_argument("--format", default="sets", choices=("sets", *READERS), help="what DATA is")
    parser.add_argument("--set", dest="sets", action="append", choices=NAMES, help="repeat for several; all without it")
    parser.add_argument("--half", default="dev", help="which half of the questions: the `split` that they carry")
    parser.add_argument("--part", default="all", choices=("all", "tune", "check"), help="half of a half")
    parser.add_argument("--level", default="session", choices=("session", "turn"))
    parser.add_argument("--layout", default="paragraphs", choices=LAYOUTS, help="how a turn begins in its page")
    parser.add_argument(
        "--variant", dest="variants", action="append", choices=tuple(VARIANTS), help="default: `default`"
    )
    parser.add_argument("--ablations", action="store_true", help="every variant")
    parser.add_argument("--sample", type=int, default=0, help="this many questions of each set, always the same ones")
    parser.add_argument("--out", type=Path, help="a folder for the report and one line of JSON for each question")
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes in this folder and use them again")
    given = parser.parse_args()
    if given.ablations:
        given.variants = list(VARIANTS)
    if given.format != "sets":
        given.half = "whole"
    given.data = given.data.resolve()
    with _workplace(given.keep) as folder:
        keep_apart(folder)
        for asked in _sets(given):
            rows = list(_measure(asked, folder / f"{asked.name}-{given.layout}", given))
            if not rows:
                parser.error(f"{asked.name}: no question of this half and part has an answer at {given.level} level")
            report = _report(asked, rows, given)
            print(report)
            if given.out is not None:
                name = f"{asked.name}-{given.half}-{given.part}-{given.level}-{given.layout}"
                _write(given.out, name, report, rows)


def _sets(given: argparse.Namespace) -> Iterator[BenchmarkSet]:
    if given.format != "sets":
        asked = READERS[given.format](given.data)
        yield replace(asked, questions=chosen(asked.questions, part=given.part, sample=given.sample))
        return
    for name in given.sets or NAMES:
        yield read_set(given.data, name, half=given.half, part=given.part, sample=given.sample)


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
        if given.level == "session" or question.golds:
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
    configuration = read_configuration(VARIANTS[variant])
    options: dict[str, Any] = {"streams": list(configuration.streams)}
    if level == "turn":
        options["group"] = "passage"
    with _fusion(configuration):
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
def _fusion(configuration: Configuration) -> Iterator[None]:
    """The operation takes no fusion, which is no choice for a user to make; an ablation swaps the default."""
    from wikimem.search import search

    before = search.search.__kwdefaults__["fusion"]
    search.search.__kwdefaults__["fusion"] = configuration.fusion
    try:
        yield
    finally:
        search.search.__kwdefaults__["fusion"] = before


def _report(asked: BenchmarkSet, rows: Sequence[dict[str, Any]], given: argparse.Namespace) -> str:
    lines = [
        f"## {asked.name}, {given.half} half, part {given.part}, {given.level} level, {given.layout}"
        if given.format == "sets"
        else f"## {asked.name}, the {given.format} file, part {given.part}, {given.level} level, {given.layout}",
        "",
        f"| variant | type | n | {' | '.join(METRICS)} | ms p50 |",
        f"|---|---|---|{'---|' * len(METRICS)}---|",
    ]
    for (variant, kind), members in _groups(rows).items():
        figures = summarise(members).values()
        cells = [f"{each.mean * 100:.1f} ({each.low * 100:.1f} to {each.high * 100:.1f})" for each in figures]
        speed = statistics.median(row["ms"] for row in members)
        lines.append(f"| {variant} | {kind} | {len(members)} | {' | '.join(cells)} | {speed:.1f} |")
    return "\n".join([*lines, ""])


def _groups(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of each variant, and of the default those of each part and each type of question."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    types = sorted({row["type"] for row in rows})
    for row in rows:
        groups[row["variant"], "all"].append(row)
        for kind in (f"part {row['part']}", *([row["type"]] if len(types) > 1 else [])):
            if row["variant"] == "default":
                groups["default", kind].append(row)
    return groups


def _write(folder: Path, name: str, report: str, rows: Sequence[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(report, encoding="utf-8")
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    if importlib.util.find_spec("matplotlib") is None:
        print("# no figure is drawn: matplotlib is not installed (the extra `benchmark`)", file=sys.stderr)
        return
    named = {(variant if kind == "all" else kind): members for (variant, kind), members in _groups(rows).items()}
    write_plot(name, {key: summarise(members) for key, members in named.items()}, folder / f"{name}.svg")


if __name__ == "__main__":
    main()
