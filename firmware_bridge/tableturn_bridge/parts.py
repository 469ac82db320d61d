"""Parts that a command needs and that may not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_MODULES = ("cobs", "serial")


@contextmanager
def parts(name: str = "panel") -> Iterator[None]:
    """The parts that come with the extra `bridge`. Raises NotInstalled where they are missing.

    `name` is the command that needs them.
    """
    from tableturn_client.cli.main import NotInstalled

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _MODULES:
            raise
        raise NotInstalled(
            f"`tableturn {name}` needs a part that is not installed; "
            "install it with: pip install 'tableturn[bridge]'"
        ) from None
