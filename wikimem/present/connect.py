"""The result of `connect` and `disconnect` as plain text."""

from __future__ import annotations

from wikimem.model.setupresults import ConnectedFile, ConnectResult
from wikimem.present.text import text


@text.register
def _connect(result: ConnectResult) -> str:
    return "\n".join(line for file in result.files for line in _file(file, dry_run=result.dry_run))


def _file(file: ConnectedFile, *, dry_run: bool) -> list[str]:
    would = "would be " if dry_run and file.state not in ("unchanged", "refused") else ""
    said = "not touched" if file.state == "refused" else file.state
    lines = [f"{file.agent}  {would}{said}  {file.path}" + (f": {file.detail}" if file.detail else "")]
    if file.by_hand:
        lines += ["Add by hand:", *(f"    {line}" for line in file.by_hand.rstrip("\n").split("\n"))]
    if dry_run and file.diff:
        lines.append(file.diff.rstrip("\n"))
    return lines
