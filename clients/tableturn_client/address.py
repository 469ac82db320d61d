"""Addresses of servers, as people write them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from tableturn_client.errors import BadAddress

DEFAULT_PORT = 7430
DEFAULT_SERVER = f"127.0.0.1:{DEFAULT_PORT}"

_SCHEMES = (
    ("tableturn://", False, DEFAULT_PORT),
    ("https://", True, 443),
    ("http://", False, 80),
)
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_USAGE = "a server is HOST, HOST:PORT, [IPV6]:PORT, https://HOST:PORT or unix:/PATH"


@dataclass(frozen=True)
class Address:
    """Where a server is, and whether the connection to it is encrypted."""

    text: str
    target: str
    secure: bool = False
    loopback: bool = False

    def __str__(self) -> str:
        return self.text


def read_address(text: str) -> Address:
    """The address that a text means. Raises BadAddress.

    >>> read_address("localhost").target
    'localhost:7430'
    >>> read_address("https://play.example").target
    'play.example:443'
    """
    if not isinstance(text, str):
        raise BadAddress(f"{text!r:.60} is no address: {_USAGE}")
    shown = text.strip()
    if shown.startswith("unix:") and len(shown) > len("unix:"):
        return Address(shown, shown, loopback=True)
    rest, secure, default = shown, False, DEFAULT_PORT
    for scheme, is_secure, port in _SCHEMES:
        if shown.startswith(scheme):
            rest, secure, default = shown.removeprefix(scheme).rstrip("/"), is_secure, port
    host, port = _host_and_port(rest, default)
    bracketed = f"[{host}]" if ":" in host else host
    name = f"{bracketed}:{port}"
    return Address(f"https://{name}" if secure else name, name, secure, _is_loopback(host))


def _host_and_port(text: str, default: int) -> tuple[str, int]:
    if text.startswith("["):
        host, bracket, after = text[1:].partition("]")
        if not bracket or not _is_ip(host) or (after and not after.startswith(":")):
            raise BadAddress(f"{_shown(text)} is no address: {_USAGE}")
        port_text = after[1:]
    elif text.count(":") > 1 and _is_ip(text):
        return text, default
    else:
        host, _, port_text = text.partition(":")
        if not _HOST.fullmatch(host):
            raise BadAddress(f"{_shown(text)} is no address: {_USAGE}")
    if not port_text and not text.endswith(":"):
        return host, default
    if not (port_text.isascii() and port_text.isdigit() and 1 <= int(port_text[:6]) <= 65535):
        raise BadAddress(f"{_shown(text)} has no port from 1 to 65535: {_USAGE}")
    return host, int(port_text)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ipaddress.ip_address(host).is_loopback)


def _shown(text: str) -> str:
    return f'"{text[:40]}..."' if len(text) > 40 else f'"{text}"'
