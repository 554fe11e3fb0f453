"""Regular expressions that are compiled when they are first used.

Python compiles every expression anew in each process; those of wikimem take a quarter of the time of a short command,
which uses few of them.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags")


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self.wanted = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self.wanted)
        # From now on found without coming here.
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(pattern, flags)`, done when it is first asked for something; an error in it comes as late."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
