"""Taking turns: `act`, `undo`, `confirm`, `takeback`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tableturn import notation
from tableturn_client.actions import to_actions, to_text
from tableturn_client.cli.command import (
    command,
    expect_option,
    request_id_option,
    seat_option,
    table_argument,
)
from tableturn_client.cli.holding import acting_seat, host_token
from tableturn_client.cli.session import Session
from tableturn_client.client import Client
from tableturn_client.drawing.words import clean
from tableturn_client.errors import Refused
from tableturn_client.handle import Done
from tableturn_client.handles import Seat, Table
from tableturn_client.messages import TakebackPolicy


def action_texts(words: Sequence[str]) -> list[str]:
    """The actions on a command line, as texts.

    A word with a blank in it was quoted, and is a whole action. Other words make one action
    up to the word `then`. `;` separates actions anywhere.

    >>> action_texts(["move", "C3", "then", "build"])
    ['move C3', 'build']
    >>> action_texts(["move C3", "build; take bonus vp"])
    ['move C3', 'build', 'take bonus vp']
    """
    joined: list[str] = []
    for text in words:
        joined += [";", text, ";"] if " " in text.strip() else [text]
    return notation.split_turn(" ".join(joined))


@command(
    "act",
    examples="tableturn act harbour move C3\n"
    "tableturn act harbour move C3 then build --confirm\n"
    'tableturn act harbour "move C3 dropping red" "trade 2" --confirm\n'
    "tableturn act friday score -5 for seat 2 --expect 41 --request-id 7f3a",
    token=True,
    # `score -5 for seat 2` has no option -5 in it.
    context_settings={"ignore_unknown_options": True},
)
@table_argument
@click.argument("actions", nargs=-1, required=True, metavar="ACTION...")
@click.option("--confirm", is_flag=True, help="Confirm the turn afterwards.")
@seat_option
@expect_option
@request_id_option
async def act_command(
    session: Session,
    table_id: str,
    actions: tuple[str, ...],
    confirm: bool,
    seat: int | None,
    expect: int | None,
    request_id: str,
) -> None:
    """Stage actions: all of them, or none.

    Several actions are separated by `then`, or each is quoted. `tableturn actions TABLE` lists
    what may be done, as it is typed here.
    """
    for text in actions:
        if text.startswith("--"):
            raise click.NoSuchOption(text, ctx=click.get_current_context())
    staged = to_actions(action_texts(actions))
    texts = [to_text(action) for action in staged]
    _check_repeatable(expect, request_id)
    async with session.client() as client:
        acting = await acting_seat(session, client, table_id, seat)
        try:
            done = await acting.act(
                *staged, confirm=confirm, expected=expect, request_id=request_id
            )
        except Refused as error:
            if error.index is not None and error.index < len(texts) > 1:
                place = f"action {error.index + 1}, `{texts[error.index]}`"
                error.sentence = f"{place}: {error.sentence}"
            raise
    hint = "" if confirm else f"Staged. `{session.typed(f'confirm {table_id}')}` ends the turn."
    _tell(session, done, acting, hint, actions=texts, confirmed=confirm)


@command("undo", examples="tableturn undo harbour\ntableturn undo harbour --all", token=True)
@table_argument
@click.option("--all", "everything", is_flag=True, help="All that is staged.")
@seat_option
@expect_option
@request_id_option
async def undo_command(
    session: Session,
    table_id: str,
    everything: bool,
    seat: int | None,
    expect: int | None,
    request_id: str,
) -> None:
    """Undo the last staged action, or all."""
    _check_repeatable(expect, request_id)
    async with session.client() as client:
        acting = await acting_seat(session, client, table_id, seat, staged=True)
        done = await acting.undo(all=everything, expected=expect, request_id=request_id)
    _tell(session, done, acting, f"Undone (revision {done.revision}).")


@command("confirm", examples="tableturn confirm harbour", token=True)
@table_argument
@seat_option
@expect_option
@request_id_option
async def confirm_command(
    session: Session, table_id: str, seat: int | None, expect: int | None, request_id: str
) -> None:
    """Confirm what is staged: hidden things turn up, and the next seat is asked."""
    _check_repeatable(expect, request_id)
    async with session.client() as client:
        acting = await acting_seat(session, client, table_id, seat)
        done = await acting.confirm(expected=expect, request_id=request_id)
    _tell(session, done, acting, "" if done.lines else "Confirmed.")


@command("takeback", examples="tableturn takeback harbour", token=True)
@table_argument
@seat_option
@expect_option
@request_id_option
async def takeback_command(
    session: Session, table_id: str, seat: int | None, expect: int | None, request_id: str
) -> None:
    """Take the last confirmed turn back: as host at once, else when all seats have asked."""
    _check_repeatable(expect, request_id)
    async with session.client() as client:
        table = await _taking_back(session, client, table_id, seat)
        done = await table.take_back(expected=expect, request_id=request_id)
    waiting = ", ".join(map(str, done.waiting_for))
    _tell(
        session,
        done,
        table,
        f"Asked for. Seats that still have to agree: {waiting}."
        if waiting
        else "The last turn was taken back.",
        waiting_for=list(done.waiting_for),
    )


async def _taking_back(session: Session, client: Client, table_id: str, seat: int | None) -> Table:
    """Whoever takes a turn back: the host; where all must agree, a seat that is held here."""
    host = host_token(session, table_id)
    if host and not session.token and seat is None:
        table = client.table(table_id, token=host)
        all_agree = TakebackPolicy.TAKEBACK_POLICY_ALL_AGREE
        seated = session.credentials.seats(session.server, table_id)
        if (await table.view()).takeback != all_agree or not seated:
            return table
    return await acting_seat(session, client, table_id, seat)


def _check_repeatable(expect: int | None, request_id: str) -> None:
    """A command with a request id must be the same each time it is given."""
    if request_id and expect is None:
        raise click.UsageError(
            "--request-id needs --expect: without it the command would expect another revision "
            "each time, and not be the same"
        )


def _tell(session: Session, done: Done, table: Table, hint: str, **more: object) -> None:
    """What became of a command."""
    document = {
        "revision": done.revision,
        "seat": (table.number or None) if isinstance(table, Seat) else None,
        "replayed": done.replayed,
        "lines": list(done.lines),
        **more,
    }
    lines = [clean(line) for line in done.lines]
    if done.replayed:
        lines.append("(This was done before, with the same request id.)")
    session.tell(document, *lines, *([hint] if hint else []))
