"""The command line `tableturn`: the list of commands, and how each ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any

import click

from tableturn_client.cli.command import Ended, common_options, token_option
from tableturn_client.cli.exits import SUMMARY, Exit, Failure, failure_of
from tableturn_client.cli.session import Session
from tableturn_client.errors import TableturnError

GROUP = "tableturn.commands"

# Section, name, module (of `cli.commands`, if it has no dot), what it does. A command is imported
# when it is wanted.
_COMMANDS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "At a table",
        (
            ("join", "seats", "Take a seat."),
            ("show", "looking", "Show the table."),
            ("actions", "looking", "List what a seat may do, as it can be typed."),
            ("act", "turns", "Stage actions, such as `move C3`."),
            ("undo", "turns", "Undo the last staged action, or all."),
            ("confirm", "turns", "Confirm the turn; the next seat is asked."),
            (
                "play",
                "tableturn_client.play.command",
                "See the table, and play at it from here.",
            ),
            ("watch", "following", "Follow the table as it changes."),
            ("log", "following", "Show what happened."),
            ("leave", "seats", "Leave a seat; somebody else may take it."),
            ("confirms", "seats", "Say who confirms a seat's turns: device, panel or either."),
            ("concede", "seats", "Take a seat out of the game for good."),
            ("rematch", "again", "Make the next table of the same people."),
        ),
    ),
    (
        "Time, and people who come and go",
        (
            ("time", "clocks", "Show the clocks; give somebody more time."),
            ("code", "codes", "Show the code for joining, or one for another device."),
            ("standin", "people", "Let a bot play on for you."),
            ("back", "people", "Play on yourself instead of the bot."),
            ("vote-drop", "people", "Want another seat to leave the game for good."),
            ("say", "talking", "Say something at the table."),
            ("chat", "talking", "Show what was said; as host, switch it off or on."),
        ),
    ),
    (
        "As host",
        (
            ("new", "making", "Make a table."),
            ("tables", "hosting", "List tables."),
            ("bot", "bots", "Give a seat to a bot."),
            ("start", "hosting", "Start the game."),
            ("pause", "hosting", "Stop all turns for a while."),
            ("resume", "hosting", "Let a paused game go on."),
            ("takeback", "turns", "Take the last confirmed turn back."),
            ("host", "people", "Hand the host's duties to a seat."),
            ("mute", "talking", "Mute a seat."),
            ("unmute", "talking", "Let a muted seat speak again."),
            ("export", "moving", "Write a table to a file."),
            ("import", "moving", "Make a table out of an exported file."),
        ),
    ),
    (
        "What can be played",
        (
            ("games", "catalog", "List the games."),
            ("rules", "catalog", "Show a game's options and the rulings they settle."),
            ("components", "catalog", "List, show and check component sets."),
        ),
    ),
)
_OTHER_HELP = {
    "serve": "Host tables on this machine.",
    "panel": "Play with a panel of lamps and buttons, a real or a virtual one.",
    "demo": "Let bots play a game, each turn confirmed at a virtual panel.",
    "web": "Serve the table as a web page.",
}
_EXTRAS = {
    "tableturn_server": "server",
    "tableturn_bridge": "bridge",
    "tableturn_web": "web",
}
_MODULES = {
    name: module if "." in module else f"tableturn_client.cli.commands.{module}"
    for _, commands in _COMMANDS
    for name, module, _ in commands
}
_MODULES["completion"] = "tableturn_client.cli.commands.completion"


class NotInstalled(click.ClickException):
    """A command is there, and what it needs isn't."""

    exit_code = Exit.NOT_INSTALLED.value


class Commands(click.Group):
    """The group of all commands; each is imported when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return [*_MODULES, *(name for name in sorted(_others()) if name not in _MODULES)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name in _MODULES:
            module = import_module(_MODULES[name])
            command = f"{name.replace('-', '_')}_command"
            found: click.Command = getattr(module, command, None) or getattr(module, name)
            return found
        entry = _others().get(name)
        return None if entry is None else _load(entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        others = sorted(name for name in _others() if name not in _MODULES)
        hosting = [(name, _OTHER_HELP.get(name, "")) for name in others]
        hosting.append(("completion", "Print the completion script for a shell."))
        sections = [(title, [(n, text) for n, _, text in part]) for title, part in _COMMANDS]
        for title, rows in (*sections, ("On this machine", hosting)):
            with formatter.section(title):
                formatter.write_dl(rows, col_max=14)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how a game begins, and how commands end."""
        formatter.write_paragraph()
        formatter.write("A game at one terminal, and one against bots:\n")
        for line in (
            "tableturn new eastern-wonders --seats 2 --id harbour --start-when-full",
            "tableturn join harbour Ann Bob",
            "tableturn play harbour",
            "tableturn new eastern-wonders --bot greedy --bot greedy --play Ann",
        ):
            formatter.write(f"  {line}\n")
        with formatter.section("Exit codes"):
            formatter.write_text(SUMMARY)


def _others() -> dict[str, EntryPoint]:
    """The commands of other packages."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _load(entry: EntryPoint) -> click.Command:
    """The command of another package, or an error that says what to install."""
    try:
        loaded: click.Command = entry.load()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        extra = _EXTRAS.get(entry.module.partition(".")[0])
        if extra is None or (missing.startswith("tableturn") and missing not in _EXTRAS):
            raise
        raise NotInstalled(
            f"`tableturn {entry.name}` needs a part that is not installed; "
            f"install it with: pip install 'tableturn[{extra}]'"
        ) from None
    return loaded


def _print_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"tableturn {version('tableturn')}")
        context.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        *common_options(),
        token_option(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        ),
    ],
)
@click.pass_context
def tableturn(context: click.Context) -> None:
    """Play table games with people at this table, or anywhere."""
    context.ensure_object(Session)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# ---------------------------------------------------------------- how a command ends


def run(arguments: Sequence[str]) -> int:
    """Run a command, and tell how it ended: the exit code. Never a traceback."""
    as_json = "--json" in arguments
    try:
        code: Any = tableturn.main(list(arguments), prog_name="tableturn", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except TableturnError as error:
        failure = failure_of(error)
    except Ended as ended:
        return _nobody_reads() if ended.exit is Exit.BROKEN_PIPE else ended.exit.value
    except (click.exceptions.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED.value
    except click.ClickException as error:
        failure = _click_failure(error)
    except BrokenPipeError:
        return _nobody_reads()
    except UnicodeError:
        failure = Failure(Exit.USAGE, "what was given is no text in UTF-8")
    except Exception as error:
        if os.environ.get("TABLETURN_TRACEBACK"):
            raise
        failure = Failure(
            Exit.FAULT,
            f"a fault of this program: {type(error).__name__}: {error} "
            "(TABLETURN_TRACEBACK=1 shows more)",
        )
    return _tell(failure, as_json)


def _tell(failure: Failure, as_json: bool) -> int:
    """Write the one line of a failure to stderr."""
    try:
        sys.stdout.flush()
        print(failure.document if as_json else failure.line, file=sys.stderr, flush=True)  # noqa: T201
    except BrokenPipeError:
        return _nobody_reads()
    return failure.exit.value


def _click_failure(error: click.ClickException) -> Failure:
    """What is told of an error that click found."""
    sentence = error.format_message().strip().rstrip(".")
    if isinstance(error, NotInstalled):
        return Failure(Exit.NOT_INSTALLED, sentence)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        sentence = f"{sentence} (see `{error.ctx.command_path} --help`)"
    return Failure(Exit.USAGE, sentence)


def _nobody_reads() -> int:
    """The reader of the output has gone: end quietly."""
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):
            continue
    return Exit.BROKEN_PIPE.value


def _open_closed_streams() -> None:
    """Give a caller who has closed a standard stream (`>&-`) one that leads nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def main() -> None:
    """The entry point of the command."""
    _open_closed_streams()
    # Names may hold any character; an output that can't write one writes a "?".
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
