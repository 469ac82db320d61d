"""What all commands have in common: options, examples, and async bodies."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec

import click

from tableturn_client.cli.exits import Exit
from tableturn_client.cli.session import Session
from tableturn_client.drawing.words import clean

P = ParamSpec("P")
Body = Callable[Concatenate[Session, P], Coroutine[Any, Any, None]]


class Ended(click.ClickException):
    """A command was ended from outside: nothing is told, only the exit code."""

    def __init__(self, exit: Exit) -> None:
        super().__init__(exit.kind)
        self.exit = exit


class Command(click.Command):
    """A command whose help ends with examples, written as they are typed."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those that belong together in sections of their own."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if row is not None:
                sections.setdefault(getattr(param, "section", ""), []).append(row)
        sections["Options"] = sections.pop("")
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        lines = [line.strip() for line in self.examples.strip().splitlines()]
        if lines:
            formatter.write_paragraph()
            formatter.write("Example:\n" if len(lines) == 1 else "Examples:\n")
            for line in lines:
                formatter.write(f"  {line}\n")


def session_of(context: click.Context) -> Session:
    """The session of a command that runs."""
    return context.ensure_object(Session)


def _set(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that puts an option's value into the session, if it was given."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value not in (None, False):
            setattr(session_of(context), name, value)

    return callback


class Seconds(click.FloatRange):
    """A number of seconds; what is no number at all ("nan") lies in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number. Raises click.UsageError."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


class Whole(click.IntRange):
    """A whole number within bounds, such as a seat's."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Raises click.UsageError."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter as error:
            if str(value).strip().removeprefix("-").isdecimal():
                raise
            self.fail(f"{clean(str(value), 40)!r} is no whole number", param, error.ctx)


def common_options() -> list[click.Option]:
    """The options that may stand before a command and after it."""
    return [
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set("json"),
            help="Write JSON: one document, or one on each line where things follow.",
        ),
        click.Option(
            ["--server"],
            metavar="HOST:PORT",
            envvar="TABLETURN_SERVER",
            expose_value=False,
            is_eager=True,
            callback=_set("server_text"),
            help="The service to talk to [127.0.0.1:7430, or $TABLETURN_SERVER].",
        ),
        click.Option(
            ["--timeout"],
            type=Seconds(min=0.1, max=86_400),
            metavar="SECONDS",
            expose_value=False,
            is_eager=True,
            callback=_set("timeout"),
            help="How long to try where no answer comes [10].",
        ),
    ]


def token_option() -> click.Option:
    """A token that is given instead of those held on this machine."""
    return click.Option(
        ["--token"],
        metavar="TOKEN",
        envvar="TABLETURN_TOKEN",
        expose_value=False,
        callback=_set("token"),
        help="The token to use, instead of those held on this machine [$TABLETURN_TOKEN].",
    )


def repeated_options() -> list[click.Option]:
    """The common options as they stand after a command: the environment was read before."""
    options = common_options()
    for option in options:
        option.envvar = None
    return options


def command(
    name: str, *, examples: str, token: bool = False, **settings: Any
) -> Callable[[Callable[Concatenate[Session, P], Coroutine[Any, Any, None]]], Command]:
    """Make a command of a coroutine function that takes the session first."""

    def made(body: Callable[Concatenate[Session, P], Coroutine[Any, Any, None]]) -> Command:
        @functools.wraps(body)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            session = session_of(click.get_current_context())
            # click would add an empty line to the one, and end with 1 for the other.
            try:
                asyncio.run(body(session, *args, **kwargs))
            except KeyboardInterrupt:
                raise Ended(Exit.INTERRUPTED) from None
            except BrokenPipeError:
                raise Ended(Exit.BROKEN_PIPE) from None

        built = click.command(name, cls=Command, examples=examples, **settings)(run)
        built.params += repeated_options()
        if token:
            option = token_option()
            option.envvar = None
            built.params.append(option)
        return built

    return made


# ---------------------------------------------------------------- arguments of many commands


def _known_tables(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completion: the tables for which tokens are held here."""
    session = context.find_object(Session) or Session()
    held = session.credentials.tables(session.server)
    return [table for table in held if table.startswith(incomplete)]


table_argument = click.argument("table_id", metavar="TABLE", shell_complete=_known_tables)
seat_option = click.option(
    "--seat",
    type=Whole(min=1, max=1000),
    metavar="N",
    help="Which seat; of several held here it is else the one that is asked.",
)
expect_option = click.option(
    "--expect",
    type=Whole(min=0, max=2**63 - 1),
    metavar="REVISION",
    help="Refuse if what the seat is asked has changed since this revision "
    "[the revision when the command begins].",
)
request_id_option = click.option(
    "--request-id",
    default="",
    metavar="ID",
    help="Makes the command repeatable: with the same id it is done only once.",
)


def read_options(texts: tuple[str, ...]) -> dict[str, str]:
    """The options of the game, each as `name=value`. Raises click.UsageError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"an option is NAME=VALUE, not {clean(text, 60)}")
        found[name] = value
    return found
