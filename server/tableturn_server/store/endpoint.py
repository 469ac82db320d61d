"""Where the store is: a URL, read once and checked completely.

redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]
rediss://...            the same over TLS; ?ssl_ca_certs=FILE&ssl_certfile=...&ssl_keyfile=...
unix://[[USER]:PASSWORD@]/PATH/TO/SOCKET[?db=DB]
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from redis.connection import parse_url

_TLS_OPTIONS = frozenset(
    (
        "ssl_ca_certs",
        "ssl_ca_path",
        "ssl_certfile",
        "ssl_keyfile",
        "ssl_password",
        "ssl_cert_reqs",
        "ssl_check_hostname",
    )
)
_OPTIONS = _TLS_OPTIONS | {"host", "port", "path", "db", "username", "password"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One Redis or Valkey server: either `path` (a unix socket) or `host` and `port`."""

    host: str = "localhost"
    port: int = 6379
    path: str | None = None
    db: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: ssl.SSLContext | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Read a URL; a ValueError names what is wrong, but never shows the password."""
        options: dict[str, Any] = dict(parse_url(url))  # type: ignore[no-untyped-call]
        kind = options.pop("connection_class", None)
        unknown = sorted(set(options) - _OPTIONS)
        if unknown:
            raise ValueError(f"the store's URL has an unknown option: {', '.join(unknown)}")
        is_unix = url.startswith("unix://")
        if is_unix and not options.get("path"):
            raise ValueError("a unix:// URL needs a path: unix:///run/valkey.sock")
        secure = kind is not None and kind.__name__ == "SSLConnection"
        tls_options = {name: value for name, value in options.items() if name in _TLS_OPTIONS}
        if tls_options and not secure:
            raise ValueError("TLS options need a rediss:// URL")
        return cls(
            host=options.get("host", "localhost"),
            port=int(options.get("port", 6379)),
            path=options["path"] if is_unix else None,
            db=int(options.get("db", 0)),
            username=options.get("username"),
            password=options.get("password"),
            tls=_tls_context(tls_options) if secure else None,
        )

    def __str__(self) -> str:
        """The address without secrets, for logs and messages."""
        if self.path is not None:
            return f"unix://{quote(self.path)}"
        scheme = "rediss" if self.tls else "redis"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}/{self.db}"


def _tls_context(options: dict[str, str]) -> ssl.SSLContext:
    """Build the TLS context; certificates and host names are checked unless told otherwise."""
    context = ssl.create_default_context(
        cafile=options.get("ssl_ca_certs"), capath=options.get("ssl_ca_path")
    )
    wish = str(options.get("ssl_cert_reqs", "required")).lower()
    reqs = {
        "none": ssl.CERT_NONE,
        "optional": ssl.CERT_OPTIONAL,
        "required": ssl.CERT_REQUIRED,
    }
    if wish not in reqs:
        raise ValueError("ssl_cert_reqs is one of none, optional, required")
    hostname = str(options.get("ssl_check_hostname", "true")).lower() not in ("0", "no", "false")
    context.check_hostname = hostname and wish != "none"
    context.verify_mode = reqs[wish]
    if certfile := options.get("ssl_certfile"):
        context.load_cert_chain(certfile, options.get("ssl_keyfile"), options.get("ssl_password"))
    return context
