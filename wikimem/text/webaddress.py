"""Checking the address of a service that this user's configuration names, and whether a key may be sent there."""

from __future__ import annotations

from typing import Any, Final

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def check_address(url: str) -> None:
    """Raise ValueError, in words, for what is no http or https address that can be asked."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or not url.isascii():
        raise ValueError("url: an http or https address without a user name is expected")
    if any(ord(char) <= ord(" ") for char in url):
        raise ValueError("url: it has a space or a control character in it")
    _ = parts.port  # raises ValueError for one that is none


def may_have_key(url: str) -> bool:
    """Whether what is sent there cannot be read on the way: https, or this machine."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


def read_seconds(name: str, value: Any, most: float) -> float:
    """A number of seconds above 0 and up to `most`. Raises ValueError otherwise."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
        raise ValueError(f"{name}: a number of seconds up to {most:g} is expected")
    return float(value)
