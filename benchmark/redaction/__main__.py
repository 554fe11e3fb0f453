"""`python -m benchmark.redaction`: what the gate finds of the labelled texts, by kind and half, and what it costs.

Rules were mended on the development half only. `--cost` measures long hostile texts, each beside one half as long.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmark.redaction.samples import Sample, harmless_samples, secret_samples
from wikimem.text.redact import Redactor

KEY: Final = b"the key of a benchmark"
HOSTILE: Final = (
    "a", "=", "-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----", "password=", "password: ", "token ", "eyJ", "eyJ.",
    "//a:", "://a:b@", "mysql -p", "curl -u ", "<private>", "'secret': ['", "kind: secret\n", '{"kty"',
    "insert into a (", "비밀번호는 ",
)  # fmt: skip
SIZE: Final = 1_000_000
"""Characters of the shorter of two hostile texts; the longer has twice as many."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `n`, with Wilson's interval for 95 %."""

    hits: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval, as fractions."""
        if not self.n:
            return 0.0, 1.0
        z, p = 1.959964, self.hits / self.n
        middle = p + z * z / (2 * self.n)
        spread = z * math.sqrt(p * (1 - p) / self.n + z * z / (4 * self.n * self.n))
        scale = 1 + z * z / self.n
        return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)

    def __str__(self) -> str:
        if not self.n:
            return "-"
        low, high = self.interval
        return f"{self.hits}/{self.n} = {self.hits / self.n:.1%} ({low:.1%} to {high:.1%})"


def rates(samples: Sequence[Sample], gate: Redactor) -> dict[tuple[str, bool], Rate]:
    """By (kind, held out): the secrets that are gone entirely, or the harmless texts in which something was found."""
    counts: dict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for sample in samples:
        masked, findings = gate.redact(sample.text)
        hit = not sample.survivors(masked) if sample.secrets else bool(findings)
        for kind in (sample.kind, "all"):
            counts[kind, sample.held_out][0] += hit
            counts[kind, sample.held_out][1] += 1
    return {name: Rate(*count) for name, count in counts.items()}


def table(title: str, found: dict[tuple[str, bool], Rate]) -> list[str]:
    """Lines of a Markdown table, all kinds together at its end."""
    kinds = sorted({kind for kind, _ in found} - {"all"})
    nothing = Rate(0, 0)
    return [
        f"| {title} | development half | held-out half |",
        "|---|---|---|",
        *(
            f"| {kind} | {found.get((kind, False), nothing)} | {found.get((kind, True), nothing)} |"
            for kind in [*kinds, "all"]
        ),
    ]


def missed(gate: Redactor, *, everything: bool) -> list[str]:
    """What went wrong in the development half, a line each; in both halves with `everything`."""
    lines = []
    for sample in [*secret_samples(), *harmless_samples()]:
        if sample.held_out and not everything:
            continue
        masked, findings = gate.redact(sample.text)
        if sample.survivors(masked) if sample.secrets else findings:
            lines.append(f"{sample.id} {sample.kind}: {sample.text!r} became {masked!r}")
    return lines


def cost(gate: Redactor, unit: str, size: int = SIZE) -> tuple[float, float]:
    """CPU seconds for `size` characters that repeat `unit`, and for twice as many."""

    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        start = time.process_time()
        gate.redact(text)
        return time.process_time() - start

    return seconds(size), seconds(2 * size)


def main() -> int:
    """Measure and print; `--misses`, `--all-misses`, `--cost`, `--json FILE`."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.redaction", description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print what went wrong in the development half")
    parser.add_argument("--all-misses", action="store_true", help="in both halves; whoever reads that may tune no more")
    parser.add_argument("--cost", action="store_true", help="measure hostile texts")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    gate = Redactor(KEY)
    figures = {}
    for title, samples in (("secrets found", secret_samples()), ("false alarms", harmless_samples())):
        found = rates(samples, gate)
        figures[title] = [[*name, rate.hits, rate.n] for name, rate in found.items()]
        print("\n".join(table(title, found)) + "\n")
    if given.misses or given.all_misses:
        print("\n".join(missed(gate, everything=given.all_misses)))
    if given.cost:
        order = random.Random(0).sample(HOSTILE, len(HOSTILE))
        print(f"| repeated | CPU for {SIZE:,} characters | for {2 * SIZE:,} | ratio |\n|---|---|---|---|")
        for unit in order:
            one, two = cost(gate, unit)
            print(f"| `{unit.strip()}` | {one:.2f} s | {two:.2f} s | {two / max(one, 1e-9):.2f} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
