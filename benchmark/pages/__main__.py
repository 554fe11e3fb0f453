"""python -m benchmark.pages [--out DIR] [--json] [--tool NAME]

Edits one frontmatter key of each odd page, in several ways, with wikimem, python-frontmatter and ruamel.yaml in the
same run, and lets a judge say what each edit did. Prints tables; --out writes a line of JSON for each case too.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmark.pages.edits import EDITS, KeyEdit
from benchmark.pages.judge import judge
from benchmark.pages.oddfiles import FILE_PAGES
from benchmark.pages.oddpage import OddPage
from benchmark.pages.oddyaml import YAML_PAGES
from benchmark.pages.tools import TOOLS, RefusedByTool, Tool

PAGES: Final = (*YAML_PAGES, *FILE_PAGES)
OUTCOMES: Final = ("just its key", "refused", "other bytes", "corrupted", "crashed")
_VERSIONS: Final = ("wikimem", "python-frontmatter", "ruamel.yaml", "PyYAML")


@dataclass(frozen=True, slots=True)
class Case:
    """One edit of one page by one tool, and what became of it."""

    tool: str
    group: str
    page: str
    edit: str
    outcome: str
    why: str


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.pages", description=__doc__)
    parser.add_argument("--out", type=Path, help="a folder for cases.jsonl, summary.json and the tables")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON instead of tables")
    parser.add_argument("--tool", action="append", choices=tuple(TOOLS), help="only this one; repeat for several")
    chosen = parser.parse_args()
    tools = {name: tool for name, tool in TOOLS.items() if not chosen.tool or name in chosen.tool}
    cases = list(run(PAGES, EDITS, tools))
    summary, report = summarise(cases), tables(cases)
    print(json.dumps(summary, indent=1, ensure_ascii=False) if chosen.json else report)
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(asdict(case), ensure_ascii=False) + "\n" for case in cases)
        (chosen.out / "cases.jsonl").write_text(lines, encoding="utf-8")
        (chosen.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        (chosen.out / "tables.md").write_text(report + "\n", encoding="utf-8")
    if any(case.tool == "wikimem" and case.outcome in ("corrupted", "crashed") for case in cases):
        sys.exit(1)


def run(pages: Sequence[OddPage], edits: Sequence[KeyEdit], tools: Mapping[str, Tool]) -> Iterator[Case]:
    """Every edit of every page by every tool."""
    for page in pages:
        for edit in edits:
            for name, tool in tools.items():
                yield Case(name, page.group, page.name, edit.name, *outcome(page, edit, tool))


def outcome(page: OddPage, edit: KeyEdit, tool: Tool) -> tuple[str, str]:
    """What became of one edit, and why."""
    key = edit.key(page.key)
    try:
        after = tool(page.data, key, edit.value)
    except RefusedByTool as refusal:
        return "refused", " ".join(str(refusal).split())[:300]
    except Exception as error:  # noqa: BLE001 - whatever a tool raises that is no error of its own kind is a finding
        return "crashed", f"{type(error).__name__}: {error}"[:300]
    found = judge(page.data, after, key, edit.value)
    return found.verdict, found.why


def summarise(cases: Sequence[Case]) -> dict[str, Any]:
    """Counts by tool, and which pages each tool did not edit cleanly."""
    found: dict[str, Any] = {
        "pages": len({(case.group, case.page) for case in cases}),
        "edits": len({case.edit for case in cases}),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _VERSIONS},
        "tools": {},
    }
    for tool in dict.fromkeys(case.tool for case in cases):
        own = [case for case in cases if case.tool == tool]
        found["tools"][tool] = {
            "edits": len(own),
            **{name: sum(case.outcome == name for case in own) for name in OUTCOMES},
            "pages with a corruption": len({case.page for case in own if case.outcome == "corrupted"}),
            "pages with any clean edit": len({case.page for case in own if case.outcome == "just its key"}),
        }
    return found


def tables(cases: Sequence[Case]) -> str:
    """Markdown: the outcomes of each tool, then corruptions and clean edits by group of pages."""
    tools = list(dict.fromkeys(case.tool for case in cases))
    groups = list(dict.fromkeys(case.group for case in cases))
    pages = len({(case.group, case.page) for case in cases})
    lines = [f"{pages} pages, {len({case.edit for case in cases})} edits each", ""]
    lines += [f"| | n | {' | '.join(OUTCOMES)} | pages with a corruption |", "|---|---|" + "---|" * (len(OUTCOMES) + 1)]
    for tool in tools:
        own = [case for case in cases if case.tool == tool]
        counts = Counter(case.outcome for case in own)
        hurt = len({case.page for case in own if case.outcome == "corrupted"})
        lines.append(f"| {tool} | {len(own)} | {' | '.join(str(counts[name]) for name in OUTCOMES)} | {hurt} |")
    lines += ["", f"| just its key / refused / other bytes / corrupted / crashed | n | {' | '.join(tools)} |"]
    lines.append("|---|---|" + "---|" * len(tools))
    for group in groups:
        own = [case for case in cases if case.group == group]
        cells = []
        for tool in tools:
            counts = Counter(case.outcome for case in own if case.tool == tool)
            cells.append(" / ".join(str(counts[name]) for name in OUTCOMES))
        lines.append(f"| {group} | {len(own) // len(tools)} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
