"""Where a disk sends no events of its own: folders that another machine may change."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_SILENT: Final = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
     "fuse.sshfs", "fuse.vmhgfs-fuse", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf",
     "virtiofs"}
)  # fmt: skip
"""File systems whose files others can change without this kernel's knowing: network ones, and those that virtual
machines (WSL's drives among them) share with their host."""


def silent_disk(path: Path, mounts: str | None = None) -> str:
    """The kind of the file system at `path` where it reports no changes by other machines; empty for any other.

    `mounts` is the text of /proc/self/mountinfo, read where it is not given; without one nothing is known.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    real = os.path.realpath(path)
    best, found = "", ""
    for line in mounts.splitlines():
        mount, _, system = line.partition(" - ")
        fields, kind = mount.split(), system.split()
        if len(fields) < 5 or not kind:
            continue
        # A space in a name is written as \040 there.
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, kind[0]
    return found if found in _SILENT else ""
