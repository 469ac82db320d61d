"""What the service says: lines for people on a terminal, else JSON; on stderr, never a secret."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog

Log = structlog.typing.FilteringBoundLogger

_FLUSH_AFTER = 0.05


def set_up(level: str) -> None:
    """Send our own lines and those of the libraries to stderr."""
    number = logging.getLevelNamesMapping()[level.upper()]
    if sys.stderr.isatty():
        processors: list[Any] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(pad_event_to=0),
        ]
        factory: Any = structlog.PrintLoggerFactory(sys.stderr)
    else:
        processors = [_one_line]
        lines = _Lines(sys.stderr.fileno())
        atexit.register(lines.flush)

        def factory(*_: object) -> _Lines:
            return lines

    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [_Forward()]
    root.setLevel(max(number, logging.INFO))


def get() -> Log:
    """The service's log."""
    log: Log = structlog.get_logger()
    return log


def _one_line(_: object, level: str, event: MutableMapping[str, Any]) -> bytes:
    """One line of JSON. A single step, because there is a line for each change."""
    fields = {"time": datetime.now(UTC), "level": level, **event}
    error = fields.pop("exc_info", None)
    if isinstance(error, BaseException):
        fields["traceback"] = "".join(traceback.format_exception(error))
    return msgspec.json.encode(fields, enc_hook=str) + b"\n"


class _Lines:
    """Writes lines in one go with those that follow at once; warnings and errors immediately."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._lines: list[bytes] = []

    def info(self, line: bytes) -> None:
        """Write a line soon."""
        self._lines.append(line)
        if len(self._lines) > 1:
            return
        try:
            asyncio.get_running_loop().call_later(_FLUSH_AFTER, self.flush)
        except RuntimeError:  # outside of the event loop
            self.flush()

    debug = info

    def warning(self, line: bytes) -> None:
        """Write a line now."""
        self._lines.append(line)
        self.flush()

    error = critical = exception = warning

    def flush(self) -> None:
        """Write what there is."""
        data, self._lines = b"".join(self._lines), []
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:  # nobody reads it any more
            pass


class _Forward(logging.Handler):
    """Sends what libraries and the store log to the same place in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        try:
            fields: dict[str, Any] = {"of": record.name}
            if record.exc_info and record.exc_info[1] is not None:
                fields["exc_info"] = record.exc_info[1]
            structlog.get_logger().log(record.levelno, record.getMessage(), **fields)
        except Exception:
            self.handleError(record)
