"""Completion of commands, options and tables in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tableturn_client.cli.command import Command


@click.command(
    "completion",
    cls=Command,
    examples='eval "$(tableturn completion bash)"\ntableturn completion fish | source',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the completion script for a SHELL."""
    found = get_completion_class(shell)
    root = context.find_root()
    assert found is not None
    click.echo(found(root.command, {}, "tableturn", "_TABLETURN_COMPLETE").source())
