"""Files that are named on the command line; `-` is standard input or output."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from tableturn_client.errors import BadValue

LARGEST = 32 * 1024 * 1024


def read_file(name: str, largest: int = LARGEST) -> bytes:
    """The content of a file. Raises BadValue with a sentence for a person."""
    try:
        if name == "-":
            content = sys.stdin.buffer.read(largest + 1)
        else:
            with open(name, "rb") as file:
                content = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise BadValue(f"{name} can't be read: {_why(error)}") from None
    if len(content) > largest:
        raise BadValue(f"{name} is larger than {largest // 1024} KiB")
    return content


def write_file(name: str, content: bytes, *, private: bool = False) -> None:
    """Write a file as a whole: afterwards it is there completely, or as it was before."""
    if name == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device can't be replaced
            path.write_bytes(content)
            return
        handle, made = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(made, 0o600 if private else 0o666 & ~_umask())
            os.replace(made, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise
    except (OSError, ValueError) as error:
        raise BadValue(f"{name} can't be written: {_why(error)}") from None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _why(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
