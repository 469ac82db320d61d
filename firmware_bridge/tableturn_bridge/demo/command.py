"""The command `tableturn demo`."""

from __future__ import annotations

import click

from tableturn_bridge.ending import ending_in_order
from tableturn_bridge.parts import parts
from tableturn_bridge.protocol import MOST_BUTTONS
from tableturn_client.cli.command import command, read_options
from tableturn_client.cli.session import Session

SEED_BYTES = 16


@command(
    "demo",
    examples="""
        tableturn demo
        tableturn demo --game eastern-wonders --seats 4 --seed 7 --json
        tableturn demo --game free-table --option rounds=3
    """,
    short_help="Watch a whole game: bots that stage, a virtual panel that confirms.",
)
@click.option("--game", default="eastern-wonders", show_default=True, help="Which game.")
@click.option(
    "--seats",
    type=click.IntRange(1, MOST_BUTTONS),
    help="How many seats.  [default: 3, or what the game allows]",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2 ** (8 * SEED_BYTES) - 1),
    help="A number that all draws follow from: the same number, the same game.",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the game; may be given more than once.",
)
async def demo(
    session: Session,
    game: str,
    seats: int | None,
    seed: int | None,
    options: tuple[str, ...],
) -> None:
    """Watch a whole game that nobody has to play.

    Starts a service of its own with its own store in a temporary folder, seats a bot on every
    seat and a virtual panel on the table. The bots stage their turns, the panel confirms each by
    a press of the seat's button. At the end everything is stopped and removed.
    """
    with parts("demo"):
        from tableturn_bridge.demo.playing import Wish, play
        from tableturn_bridge.demo.service import temporary_service

    wish = Wish(
        game=game,
        seats=seats or 0,
        seed=None if seed is None else seed.to_bytes(SEED_BYTES, "big"),
        options=read_options(options),
    )
    with ending_in_order():
        async with temporary_service() as server:
            report = await play(server, wish, None if session.json else session.write)
    session.tell(report.document(), *report.lines())


# It talks to no service but its own.
demo.params = [
    option for option in demo.params if option.name not in ("server_text", "server", "timeout")
]
