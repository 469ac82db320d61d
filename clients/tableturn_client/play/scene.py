"""What a person sees at a table, as a value; drawing it is a pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

from tableturn.v1 import actions_pb2, table_pb2
from tableturn_client.drawing import choices, clocks, company, cubes, people, table
from tableturn_client.drawing.look import Look
from tableturn_client.drawing.moment import AS_SEEN, Moment
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.words import clean, cut, folded
from tableturn_client.play.answers import Draft, offers

_LEAST_LOG = 2
_MOST_LOG = 12
_MOST_TICKING = 2


@dataclass(frozen=True)
class Scene:
    """The table, the seats held here, the one that is asked (0: none), and what was said last."""

    view: table_pb2.TableView
    own: tuple[int, ...] = ()
    active: int = 0
    log: Sequence[Text] = ()
    note: str = ""
    banner: str = ""
    """What is wrong with the connection."""
    draft: Draft | None = None
    """An action of which something is still to be asked."""
    asking: str = ""
    """A question to be answered with y or n."""
    hints: Sequence[str] = field(default_factory=tuple)
    """What can be done while nothing is asked, a line each."""
    moment: Moment = AS_SEEN
    """What is known beside the view: the time, and who is there."""

    @property
    def seats(self) -> Seats:
        """The seats of the table."""
        return Seats.of(self.view)

    @property
    def prompt(self) -> actions_pb2.Prompt | None:
        """What the active seat is asked."""
        if not self.active:
            return None
        return next((p for p in self.view.prompts if p.seat == self.active), None)

    @property
    def staged(self) -> bool:
        """The active seat has something to undo."""
        return any(turn.seat == self.active and turn.texts for turn in self.view.staged)


def whole(scene: Scene, look: Look) -> Text:
    """Everything on one screen: the table, the last log lines, and what is asked."""
    asked = question(scene, look)
    told = said(scene, look)
    room = look.height - _lines(asked) - _lines(told)
    seat = scene.active or (scene.own[0] if len(scene.own) == 1 else 0)
    eyes = table.Eyes(scene.own, seat, scene.moment, clocks_apart=True)
    drawn = table.draw(scene.view, look, eyes, max(1, room - _LEAST_LOG))
    if _lines(drawn) > room:  # better without the title than without whose turn it is
        drawn = Text("\n").join(drawn.split("\n")[1:])
    if _lines(drawn) > room and scene.banner:  # it stands in the line at the bottom too
        told = note(scene, look)
        room += 1
    left = max(0, min(_MOST_LOG, room - _lines(drawn)))
    return joined(drawn, _tail(scene.log, left, look), told, asked)


def board(scene: Scene, look: Look) -> Text:
    """The table alone, as large as the width allows."""
    return table.draw(scene.view, look, table.Eyes(scene.own, scene.active, scene.moment))


def ticking(scene: Scene, look: Look) -> Text:
    """What changes by itself as time goes on: clocks, who is away, and for how long it is so.

    It is drawn beside the input line, which can be redrawn without touching what is typed.
    """
    parts = [people.lines(scene.view, look, scene.moment, _MOST_TICKING)]
    if standing := clocks.standing(scene.view, scene.moment):
        parts.append(Text(cut(standing, look.width - 1), "dim"))
    return joined(*parts)


def said(scene: Scene, look: Look) -> Text:
    """The trouble with the connection, and the answer to the last input."""
    banner = Text()
    if scene.banner:
        banner.append(f" {cut(scene.banner, look.width - 3)} ", "bold white on red")
    return joined(banner, note(scene, look))


def note(scene: Scene, look: Look) -> Text:
    """The answer to the last input."""
    return Text(folded(scene.note, look.width - 1), "yellow")


def question(scene: Scene, look: Look) -> Text:
    """What is asked: y or n, a part of an action, or what to do now."""
    if scene.asking:
        return Text.assemble((scene.asking, "bold"), "  ", choices.key("y", "yes"), "  ", "n no")
    if scene.draft is not None:
        return _part(scene, scene.draft, look)
    if scene.prompt is not None:
        return menu(scene, scene.prompt, look)
    hints = (folded(f"  {hint}", look.width - 1, "    ") for hint in scene.hints)
    return Text("\n").join(Text(hint, "dim") for hint in hints)


def menu(scene: Scene, prompt: actions_pb2.Prompt, look: Look) -> Text:
    """The numbered choices, and whether the turn can be confirmed."""
    lines = [
        choices.line(number, choice, scene.seats, look)
        for number, choice in enumerate(scene.view.choices, 1)
    ]
    keys = []
    if prompt.can_confirm:
        if company.waits_for_panel(scene.view, prompt.seat):
            keys.append(Text(f"your button at the panel: {confirmation(prompt)}", "green"))
        else:
            keys.append(choices.key("c", confirmation(prompt)))
    elif prompt.label and not any(prompt.label in choice.label for choice in scene.view.choices):
        lines.insert(0, Text(f"  still to do: {clean(prompt.label, 100)}", "italic"))
    if scene.staged:
        keys.append(choices.key("u", "undo the last step"))
    if keys:
        lines.append(Text("  ") + Text("   ").join(keys))
    return Text("\n").join(lines)


def confirmation(prompt: actions_pb2.Prompt) -> str:
    """What a confirmation does now, in words."""
    label = clean(prompt.label, 60)
    turn = prompt.kind == actions_pb2.PROMPT_KIND_TURN
    if prompt.confirm_skips:
        return "end the turn without doing anything"
    if label in ("", "confirm"):
        return "confirm and end the turn" if turn else "confirm"
    return f"confirm: {label}"


def _part(scene: Scene, draft: Draft, look: Look) -> Text:
    """The question for the missing field of a draft."""
    name = draft.missing or ""
    asked = choices.question(name, draft.choice, look)
    if draft.default is not None:
        asked.append(f"  Enter: {_default(draft)}", "green")
    asked.append("  x: back", "dim")
    return joined(asked, choices.offers(offers(draft, scene.seats), look))


def _default(draft: Draft) -> str:
    """What Enter means."""
    value = draft.default
    if draft.missing == "cube" and isinstance(value, int):
        return cubes.color_word(value)
    if isinstance(value, tuple):
        return "".join(letter * count for letter, count in zip("YRGB", value, strict=True))
    return str(value)


def _tail(log: Sequence[Text], lines: int, look: Look) -> Text:
    """The last lines of the log under a rule."""
    if lines < 2 or not log:
        return Text()
    rule = Text(("─" if look.signs.dot == "·" else "-") * min(look.width - 1, 60), "dim")
    kept = [line.copy() for line in list(log)[-(lines - 1) :]]
    for line in kept:
        line.truncate(look.width)
    return Text("\n").join([rule, *kept])


def joined(*parts: Text) -> Text:
    """Parts below each other, empty ones left out."""
    return Text("\n").join(part for part in parts if part.plain)


def _lines(text: Text) -> int:
    """How many lines a text has."""
    return text.plain.count("\n") + 1 if text.plain else 0
