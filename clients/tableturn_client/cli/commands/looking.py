"""Looking at a table: `show` and `actions`."""

from __future__ import annotations

import click

from tableturn_client.actions import expand
from tableturn_client.cli.command import command, seat_option, table_argument
from tableturn_client.cli.holding import acting_seat, looking_table
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.drawing.words import clean
from tableturn_client.handles import Asked
from tableturn_client.messages import Choice, TableStatus

_EXAMPLES = 6
"""How many texts stand on a line of `actions`, where a choice admits more."""


@command("show", examples="tableturn show harbour\ntableturn show harbour --spectator", token=True)
@table_argument
@seat_option
@click.option("--spectator", is_flag=True, help="As a spectator sees it.")
async def show_command(session: Session, table_id: str, seat: int | None, spectator: bool) -> None:
    """Show the table: as the seat that is held here, else as a spectator."""
    async with session.client() as client:
        table = await looking_table(session, client, table_id, seat, spectator)
        view = await table.view()
    if session.json:
        session.tell({"table": plain(view)})
        return
    from tableturn_client.drawing import Eyes, Look, clocks, draw, status
    from tableturn_client.drawing.moment import Moment

    held = [one.seat for one in session.credentials.seats(session.server, table_id)]
    own = [] if spectator else held or [view.viewer]
    moment = Moment(table.time.time(), table.last_presence)
    drawn = draw(view, Look.of(session.console), Eyes(own, view.viewer, moment))
    session.console.print(drawn)
    agreed = [] if view.status == TableStatus.TABLE_STATUS_OPEN else clocks.terms(view)
    for line in [*agreed, *status.small_print(view)]:
        session.console.print(line, style="dim")
    session.console.print(f"Revision {view.revision}.", style="dim")


@command("actions", examples="tableturn actions harbour", token=True)
@table_argument
@seat_option
@click.option("--all", "everything", is_flag=True, help="Each action on a line of its own.")
async def actions_command(
    session: Session, table_id: str, seat: int | None, everything: bool
) -> None:
    """List what the seat may do now, as it can be typed after `tableturn act TABLE`."""
    async with session.client() as client:
        acting = await acting_seat(session, client, table_id, seat)
        asked = await acting.actions()
    session.tell(_document(asked, acting.number), *_lines(asked, everything))


def _document(asked: Asked, seat: int) -> dict[str, object]:
    return {
        "revision": asked.revision,
        "seat": asked.prompt.seat if asked.prompt else seat or None,
        "prompt": plain(asked.prompt),
        "choices": [_choice(choice) for choice in asked.choices],
    }


def _choice(choice: Choice) -> dict[str, object]:
    expansion = expand(choice)
    told = plain(choice)
    assert isinstance(told, dict)
    return {
        **told,
        "usage": expansion.usage,
        "total": expansion.total,
        "texts": list(expansion.texts) if expansion.complete else None,
    }


def _lines(asked: Asked, everything: bool) -> list[str]:
    """What is asked, the choices with texts that can be typed, and how to go on."""
    prompt = asked.prompt
    if prompt is None:
        return [f"Nothing is asked of this seat now (revision {asked.revision})."]
    head = f"Seat {prompt.seat}: {clean(prompt.label)}" if prompt.label else f"Seat {prompt.seat}"
    lines = [f"{head.rstrip('.')}. (revision {asked.revision})"]
    for choice in asked.choices:
        expansion = expand(choice)
        texts = expansion.texts
        lines.append(f"  {clean(choice.label) or clean(choice.kind)}")
        if not texts:
            lines.append(f"      {clean(expansion.usage)}")
        elif everything or len(texts) <= _EXAMPLES:
            lines += [f"      {text}" for text in texts]
        else:
            lines += [f"      {text}" for text in texts[:_EXAMPLES]]
            lines.append(f"      ... {len(texts) - _EXAMPLES} more: {clean(expansion.usage)}")
    if prompt.can_confirm:
        lines.append(
            "  or `tableturn confirm`"
            + (", though nothing was done in this turn" if prompt.confirm_skips else "")
        )
    return lines
