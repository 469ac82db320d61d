"""The commands of a session, and the help for them."""

from __future__ import annotations

from rich.text import Text

from tableturn import notation
from tableturn.v1 import table_pb2
from tableturn_client.drawing import clocks, legend, status
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.words import folded

COMMANDS = {
    "c": "confirm",
    "confirm": "confirm",
    "u": "undo",
    "undo": "undo",
    "?": "help",
    "h": "help",
    "help": "help",
    "b": "boards",
    "boards": "boards",
    "m": "map",
    "map": "map",
    "l": "log",
    "log": "log",
    "chat": "chat",
    "takeback": "takeback",
    "pause": "pause",
    "resume": "resume",
    "leave": "leave",
    "concede": "concede",
    "start": "start",
    "q": "quit",
    "quit": "quit",
    "exit": "quit",
}
PAGES = ("help", "boards", "map", "log", "chat")
"""Commands that show something else than the table."""
ANSWERS = frozenset({"confirm", "undo"})
"""Commands that answer what a seat is asked; the others can be given at any time."""

TOGETHER = frozenset(
    {
        "say", "back", "let bot play", "vote", "unvote", "host", "time", "mute", "unmute",
        "chat on", "chat off",
    }
)  # fmt: skip
"""Words with which lines about people begin; see `together`."""

_FREE = {"pass_round", "score_points", "name_next", "finish_game"}
_AT_SEA = {
    "take_pile", "place_boat", "move", "pay_owner", "build_outpost", "take_bonus", "claim_tile",
}  # fmt: skip
_WITH_CARDS = {"acquire_card", "put_cube", "play_card", "rest"}
"""Kinds of actions: of the free table, of a map, and of merchant cards."""

_HELP = (
    ("1, 2 ...", "take that choice; what else is to be chosen may follow: 1 C3 red"),
    ("c", "confirm the turn"),
    ("u", "undo the last step; `undo all` undoes all that is not confirmed"),
    ("x", "go back from a question"),
    ("b", "all players' boards"),
    ("m", "the map, as large as it goes"),
    ("l", "what has happened"),
    ("takeback", "take the last confirmed turn back, where the table allows it"),
    ("pause, resume", "stop the game, let it go on"),
    ("leave", "leave your seat to somebody else; concede: give up for good"),
    ("start", "start the game, for who made the table"),
    ("say hello", "say something to all at the table; `chat` shows what was said"),
    ("let bot play", "a bot plays on for you; `back`: you play again"),
    ("vote 2", "want seat 2 to leave the game for good; `unvote 2`: no more"),
    ("time 30s 2", "give seat 2 more time; without a number, all"),
    ("host 2", "hand the host's duties to seat 2"),
    ("mute 2", "as host: nobody reads what seat 2 says; `unmute 2`; chat off, chat on: for all"),
)


def command(line: str) -> str:
    """The command that a line is; empty if it is none."""
    word = line.strip().lower()
    if word == "undo all":
        return "undo all"
    if word.startswith("let bot"):
        return "let bot play"
    if " ".join(word.split()) in TOGETHER:
        return " ".join(word.split())
    first = word.split(maxsplit=1)[0] if word else ""
    return first if first in TOGETHER else COMMANDS.get(word, "")


def help_page(view: table_pb2.TableView, look: Look) -> Text:
    """The commands, the forms of actions of this game, and the signs."""
    lines = [Text("What you can type", "bold underline")]
    risk = clocks.leaving(view)
    quitting = ("q", f"quit; be back {risk}" if risk else "quit; your seat stays yours")
    lines += [_row(f"  {keys:<15}", meaning, look) for keys, meaning in (*_HELP, quitting)]
    lines.append(Text("Or an action in words; several with ; between them, and c to confirm"))
    lines += [_row(f"  {usage:<32}", meaning, look) for usage, meaning in _forms(view)]
    lines.append(Text("Signs", "bold underline"))
    page = Text("\n").join([*lines, legend.draw(view, look)])
    for told in status.small_print(view):
        page.append(f"\n{folded(told, look.width - 1)}", "yellow")
    return page


def _row(typed: str, meaning: str, look: Look) -> Text:
    """What is typed, and what it means beside it."""
    return Text(folded(typed + meaning, look.width - 1, " " * len(typed)))


def _forms(view: table_pb2.TableView) -> list[tuple[str, str]]:
    """The forms of this game's actions."""
    game = view.game_view
    cards, sea = game.HasField("merchants"), game.HasField("islands")
    if view.game == "free-table":
        kinds = _FREE
    elif not cards and not sea:  # not begun yet, or of a later version
        kinds = {form.kind for form in notation.forms()} - _FREE
    else:
        kinds = {"upgrade", "trade", "return_cubes"}
        kinds |= _AT_SEA if sea else set()
        kinds |= _WITH_CARDS if cards else set()
        kinds |= {"claim_card"} if game.HasField("point_cards") else set()
        kinds |= {"take_card"} if sea and cards else {"pick_up", "harvest"} if sea else set()
    left_out = " [dropping COLOUR]" if cards else " [with CARD]"
    return [
        (form.usage.replace(left_out, ""), form.meaning)
        for form in notation.forms()
        if form.kind in kinds
    ]
