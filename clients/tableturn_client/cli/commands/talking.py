"""Talk at a table: `say`, `chat`, `mute`, `unmute`."""

from __future__ import annotations

from dataclasses import replace

import click

from tableturn_client.cli.command import (
    Whole,
    command,
    request_id_option,
    seat_option,
    table_argument,
)
from tableturn_client.cli.holding import hosting_table, looking_table, speaking_table
from tableturn_client.cli.plain import plain
from tableturn_client.cli.session import Session
from tableturn_client.company import Chat, ChatMode
from tableturn_client.drawing import talk
from tableturn_client.drawing.words import listed

_MODES = {"on": ChatMode.SEATS, "off": ChatMode.OFF}


@command(
    "say", examples="tableturn say harbour hello all\ntableturn say harbour hi --seat 2", token=True
)
@table_argument
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--seat", type=Whole(1, 1000), metavar="N", help="Which seat [yours].")
@request_id_option
async def say_command(
    session: Session, table_id: str, words: tuple[str, ...], seat: int | None, request_id: str
) -> None:
    """Say something to all at the table; it is beside the game, in no log and no export."""
    async with session.client() as client:
        table = await speaking_table(session, client, table_id, seat)
        line = await table.say(" ".join(words), seat=seat or 0, request_id=request_id)
    session.tell({"line": plain(line)}, talk.line(line).plain)


@command(
    "chat",
    examples="tableturn chat harbour\ntableturn chat harbour --after 12 --json\n"
    "tableturn chat harbour off",
    token=True,
)
@table_argument
@click.argument("switch", type=click.Choice(list(_MODES)), required=False, metavar="[on|off]")
@seat_option
@click.option(
    "--after",
    type=Whole(0, 2**63 - 1),
    default=0,
    metavar="NUMBER",
    help="What came after it.",
)
async def chat_command(
    session: Session, table_id: str, switch: str | None, seat: int | None, after: int
) -> None:
    """Show what was said; as host, switch talking on or off. `watch` follows it."""
    async with session.client() as client:
        if switch is not None:
            host = await hosting_table(session, client, table_id)
            chat = await host.set_chat(_MODES[switch])
            chat = replace(chat, lines=(await host.chat(after)).lines)
        else:
            chat = await (await looking_table(session, client, table_id, seat, False)).chat(after)
    said = [talk.line(line).plain for line in chat.lines] or ["Nothing was said."]
    if switch is not None:  # what was said was not asked for
        said = ["Talking is on."] if switch == "on" else []
    session.tell({"lines": plain(chat.lines), **_mode(chat)}, *said, *_told(chat))


@command("mute", examples="tableturn mute harbour 3", token=True)
@table_argument
@click.argument("seats", type=Whole(1, 1000), nargs=-1, required=True, metavar="SEAT...")
async def mute_command(session: Session, table_id: str, seats: tuple[int, ...]) -> None:
    """Mute a SEAT, or several: nobody reads what they say. Needs the host's token."""
    async with session.client() as client:
        chat = await (await hosting_table(session, client, table_id)).set_chat(mute=seats)
    session.tell(_mode(chat), *_told(chat))


@command("unmute", examples="tableturn unmute harbour 3", token=True)
@table_argument
@click.argument("seats", type=Whole(1, 1000), nargs=-1, required=True, metavar="SEAT...")
async def unmute_command(session: Session, table_id: str, seats: tuple[int, ...]) -> None:
    """Let a muted SEAT speak again, or several. Needs the host's token."""
    async with session.client() as client:
        chat = await (await hosting_table(session, client, table_id)).set_chat(unmute=seats)
    session.tell(_mode(chat), *(_told(chat) or ["Nobody is muted."]))


def _mode(chat: Chat) -> dict[str, object]:
    return {"mode": chat.mode.name.lower() if chat.mode else None, "muted": list(chat.muted)}


def _told(chat: Chat) -> list[str]:
    """Who may not speak."""
    told = ["Talking is off."] if chat.mode is ChatMode.OFF else []
    muted = listed([f"seat {seat}" for seat in chat.muted])
    return told + ([f"Muted: {muted}."] if muted else [])
