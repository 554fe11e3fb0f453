"""Clocks and sizes: seconds in, milliseconds and megabytes out."""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Took:
    """Wall and CPU seconds of a call; the CPU of processes that it started and waited for counts."""

    wall: float
    cpu: float


def took(call: Callable[[], Any]) -> Took:
    """Make the call and say what it took."""
    cpu, wall = _cpu(), time.perf_counter()
    call()
    return Took(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextlib.contextmanager
def timed(figures: Figures, name: str) -> Iterator[None]:
    """Put wall and CPU seconds of the body into `figures`, as NAME_s and NAME_cpu_s."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    figures[f"{name}_s"] = round(time.perf_counter() - wall, 3)
    figures[f"{name}_cpu_s"] = round(time.process_time() - cpu, 3)


def percentiles(name: str, times: Sequence[Took]) -> Figures:
    """NAME_p50_ms and NAME_p95_ms of wall time, NAME_cpu_ms (the median), and NAME_n, how many there were."""
    walls = sorted(each.wall for each in times)
    return {
        f"{name}_p50_ms": round(statistics.median(walls) * 1000, 2),
        f"{name}_p95_ms": round(walls[min(len(walls) - 1, round(0.95 * len(walls)))] * 1000, 2),
        f"{name}_cpu_ms": round(statistics.median(each.cpu for each in times) * 1000, 2),
        f"{name}_n": len(walls),
    }


def size_mb(folder: Path) -> float:
    """Megabytes of all files under a folder."""
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names) / 1e6


def peak_mb() -> float:
    """The most memory that this process has held so far, in megabytes (Linux counts in kilobytes)."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
