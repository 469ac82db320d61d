"""Options that belong together: one section of the help, one argument of the command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tableturn_client.clock_text import read_clock, read_time
from tableturn_client.clocks import Clock
from tableturn_client.errors import BadValue

if TYPE_CHECKING:  # generic only in later versions of click
    _ClockParam = click.ParamType[Clock | None]
    _TimeParam = click.ParamType[float]
else:
    _ClockParam = _TimeParam = click.ParamType


class GroupedOption(click.Option):
    """An option that stands in a section of its own in the help."""

    section = ""


def grouped(
    argument: str, section: str, made: Callable[..., object], *options: click.Option
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options; their values, made one by `made`, are its `argument`."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(body)
        def run(*args: Any, **values: Any) -> Any:
            own = {option.name or "": values.pop(option.name or "") for option in options}
            return body(*args, **values, **{argument: made(**own)})

        for option in options:
            if isinstance(option, GroupedOption):
                option.section = section
        # click takes them from the last to the first.
        run.__dict__.setdefault("__click_params__", []).extend(reversed(options))
        return run

    return decorate


class ClockType(_ClockParam):
    """A clock such as `15m + 10s`; None for none."""

    name = "clock"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Clock | None:
        """The clock. Raises click.UsageError, with examples."""
        if not isinstance(value, str):
            return value if isinstance(value, Clock) else None
        try:
            return read_clock(value)
        except BadValue as error:
            self.fail(error.sentence, param, ctx)


class TimeType(_TimeParam):
    """A time such as `90s` or `2m 30s`, in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The seconds. Raises click.UsageError."""
        if not isinstance(value, str):
            return float(value)
        try:
            return read_time(value)
        except BadValue as error:
            self.fail(error.sentence, param, ctx)
