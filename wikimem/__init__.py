"""Long-term memory for coding agents, kept as a Markdown wiki in a git repository."""

from __future__ import annotations

__version__ = "0.1.0"
