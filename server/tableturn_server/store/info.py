"""Reading the INFO reply of a server."""

from __future__ import annotations


def parse_info(reply: bytes) -> dict[str, str]:
    """Return the fields of an INFO reply."""
    pairs = (line.partition(":") for line in reply.decode().splitlines() if ":" in line)
    return {name: value.strip() for name, _, value in pairs}


def version_of(info: dict[str, str]) -> tuple[int, int, int] | None:
    """Return the server's own version (Valkey calls itself Redis 7.2.4 for old clients)."""
    parts = (info.get("valkey_version") or info.get("redis_version", "")).split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])
