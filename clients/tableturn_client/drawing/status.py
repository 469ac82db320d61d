"""The first lines of a table: what is played, the round, whom it waits for, what is staged."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from tableturn.v1 import actions_pb2, table_pb2, views_pb2
from tableturn_client.drawing import clocks, company, people, results
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, many, titled

_ASKED = {
    actions_pb2.PROMPT_KIND_START: "to choose starting cubes and place the boat",
    actions_pb2.PROMPT_KIND_TURN: "to take a turn",
    actions_pb2.PROMPT_KIND_RETURN_CUBES: "to return cubes above the limit",
    actions_pb2.PROMPT_KIND_READY: "to be ready",
    actions_pb2.PROMPT_KIND_ORDER: "to choose the turn order",
    actions_pb2.PROMPT_KIND_BETWEEN_ROUNDS: "for points, or the next round",
}


def asked_for(prompt: actions_pb2.Prompt) -> str:
    """What a seat is asked, in words that follow its name."""
    return _ASKED.get(prompt.kind, "to answer")


def head(view: table_pb2.TableView, look: Look) -> Text:
    """The table on a line: what is played, the round, and how late one sees it."""
    line = Text().append(clean(view.title, 40) or titled(view.game), "bold")
    line.append(f" {look.signs.dot} table {clean(view.table_id, 40)}", "dim")
    game = view.game_view
    if game.round and view.status == table_pb2.TABLE_STATUS_RUNNING:
        rounds = game.free_table.rounds
        line.append(f" {look.signs.dot} round {game.round}{f' of {rounds}' if rounds else ''}")
    if game.last_round and view.status == table_pb2.TABLE_STATUS_RUNNING:
        line.append(f" {look.signs.dot} ").append("LAST ROUND", "bold red")
    if behind := view.behind.ToTimedelta():
        line.append(f" {look.signs.dot} ").append(f"{clocks.span(behind)} behind", "bold yellow")
    line.truncate(look.width)
    return line


def turn(
    view: table_pb2.TableView, look: Look, own: Collection[int] = (), standing: str = ""
) -> Text:
    """Whom the table waits for: unmistakable where that is one of one's own seats.

    `standing` says since when no clock runs.
    """
    if view.status == table_pb2.TABLE_STATUS_FINISHED:
        return results.headline(view, look)
    if view.status == table_pb2.TABLE_STATUS_OPEN:
        free = sum(seat.occupant == table_pb2.OCCUPANT_NOBODY for seat in view.seats)
        return Text(
            f"Not started: {many(free, 'seat')} free." if free else "All seats are taken.", "bold"
        )
    if view.status != table_pb2.TABLE_STATUS_RUNNING:
        return Text("The table is in a state that this version does not know.")
    if view.paused:
        paused = Text().append(" PAUSED ", "bold black on yellow")
        paused.append(" no turns until it is resumed")
        return paused.append(f" ({standing})" if standing else "")
    seats = Seats.of(view)
    prompts = sorted(view.prompts, key=lambda prompt: prompt.seat not in own)
    if not prompts:
        return Text("The table waits for nobody.")
    first = prompts[0]
    bot = next((seat.stand_in for seat in view.seats if seat.seat == first.seat), "")
    if first.seat in own and not bot:
        word = "YOUR TURN" if first.kind == actions_pb2.PROMPT_KIND_TURN else "YOU ARE ASKED"
        line = Text().append(f" {look.signs.turn} {word} ", "bold black on green")
        line.append(" ").append_text(seats.full(first.seat, 24))
        if first.kind != actions_pb2.PROMPT_KIND_TURN:
            line.append(f" {asked_for(first)}")
    else:
        line = Text(f"{clean(bot, 16)} plays for " if bot else "waiting for ")
        line.append_text(seats.full(first.seat, 24))
        line.append("" if bot else f" {_awaited(view, first)}")
    others = [prompt.seat for prompt in prompts[1:]]
    if others:
        line.append(", also for ").append_text(seats.listed(others))
    if standing:
        line.append(f" ({standing})", "dim")
    line.truncate(look.width)
    return line


def _awaited(view: table_pb2.TableView, prompt: actions_pb2.Prompt) -> str:
    """What a seat is waited for, in words that follow its name."""
    staged_ = any(turn_.seat == prompt.seat for turn_ in view.staged)
    if staged_ and prompt.can_confirm and company.waits_for_panel(view, prompt.seat):
        return "to press its button"
    return asked_for(prompt)


def staged(view: table_pb2.TableView, look: Look) -> Text:
    """What seats have staged and not confirmed, a line each; empty for nothing."""
    seats = Seats.of(view)
    lines = []
    for turn_ in view.staged:
        texts = "; ".join(clean(text, 80) for text in turn_.texts)
        line = Text.assemble(("staged ", "italic"), seats.label(turn_.seat))
        line.append(f" {texts}", "italic").append(" (not confirmed)", "dim")
        line.truncate(look.width)
        lines.append(line)
    return Text("\n").join(lines)


def notes(view: table_pb2.TableView, look: Look) -> Text:
    """What everybody should know: a takeback that is asked for, bots, panels, the next table."""
    seats = Seats.of(view)
    lines = []
    if view.takeback_asked:
        lines.append(
            Text.assemble(
                ("takeback of the last turn asked by ", "yellow"),
                seats.listed(view.takeback_asked),
            )
        )
    if (votes := people.votes(view, look)).plain:
        lines.append(votes)
    if view.status != table_pb2.TABLE_STATUS_OPEN:  # before the start each seat tells
        lines += [line for line in (company.note(view, look),) if line.plain]
    if view.next_table_id:
        lines.append(Text(f"rematch: {clean(view.next_table_id, 40)}", "bold"))
    return Text("\n").join(lines)


def small_print(view: table_pb2.TableView) -> list[str]:
    """How far the table can be trusted: stand-in values, an open seed, an own set."""
    told = []
    components = view.component_set
    if components.reconstructed:
        told.append(
            "Some values of this game's components are reconstructed: stand-ins of ours, "
            "not the printed ones."
        )
    if components.custom:
        told.append(f"The component set {clean(components.name, 40)} is the table maker's own.")
    if view.open_seed:
        told.append("Open seed: whoever made the table may know what will be drawn.")
    return told


def is_known(view: views_pb2.GameView) -> bool:
    """This version can draw something of the game."""
    cards = view.HasField("merchants") or view.HasField("point_cards")
    return cards or view.HasField("islands") or view.HasField("free_table")
