"""How a game ended: ranks, and points in parts."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tableturn.v1 import table_pb2, views_pb2
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, listed

_REASONS = {
    views_pb2.END_REASON_COMPLETED: "The game is over.",
    views_pb2.END_REASON_ROUND_CAP: "The game is over: the last round of the table was played.",
    views_pb2.END_REASON_LAST_SEAT: "The game is over: one seat was left.",
    views_pb2.END_REASON_ABANDONED: "The game was abandoned: no seat was left.",
}
_MOST_PARTS = 6


def winners(view: table_pb2.TableView) -> list[int]:
    """The seats that won."""
    return [result.seat for result in view.outcome.results if result.rank == 1]


def headline(view: table_pb2.TableView, look: Look) -> Text:
    """Why it ended, and who won; on two lines where one is too narrow."""
    line = Text().append(_REASONS.get(view.outcome.reason, "The game is over."), "bold")
    won = [] if view.outcome.reason == views_pb2.END_REASON_ABANDONED else winners(view)
    ranked = any(result.points or result.rank > 1 for result in view.outcome.results)
    parts = [line]
    if won and ranked:
        seats = Seats.of(view)
        names = listed([seats.plain(seat) for seat in won])
        verb = "wins" if len(won) == 1 else "win together"
        parts.append(Text().append(f"{names} {verb}.", "bold green"))
    fits = sum(part.cell_len + 1 for part in parts) <= look.width
    for part in parts:
        part.truncate(look.width)
    return Text(" " if fits else "\n").join(parts)


def table(view: table_pb2.TableView, look: Look, *, head: bool = True) -> RenderableType:
    """The result of each seat, the best first, below who won."""
    seats = Seats.of(view)
    results = view.outcome.results
    names = list(dict.fromkeys(part.part for result in results for part in result.parts))
    names = names[:_MOST_PARTS]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    drawn.add_column("rank", justify="right", no_wrap=True)
    drawn.add_column("seat", no_wrap=True, min_width=8)
    for name in names:
        drawn.add_column(Text(clean(name, 24)), justify="right", overflow="fold")
    drawn.add_column("points", justify="right", no_wrap=True, style="bold")
    for result in results:
        parts: dict[str, int] = {}
        for part in result.parts:
            parts[part.part] = parts.get(part.part, 0) + part.points
        points = str(result.points) + (" (left)" if result.dropped else "")
        drawn.add_row(
            str(result.rank),
            seats.full(result.seat, 14),
            *(str(parts[name]) if name in parts else "" for name in names),
            points,
        )
    return Group(headline(view, look), Text(), drawn) if head else drawn
