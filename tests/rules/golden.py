"""Golden games: whole games as text files, which must replay the same for ever.

    python -m tests.rules.golden            write the games of the Century family anew
    python -m tests.rules.golden FILE       replay a file and print how it ends

A file says what the table was made with, then one line for each confirmed turn,
then the end:

    game: eastern-wonders
    rules_version: 1
    seats: 3
    options: first_seat=random map=first-game ...
    components: eastern-wonders <sha256>
    seed: 000102030405060708090a0b0c0d0e0f

    seat 1: move C3; build; trade 2

    end: completed
    rank 1: seat 2, 61 points

Write them anew only when a change of the rules is meant (then `rules_version`
grows) or a component set was corrected.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

from tableturn import notation
from tableturn_server.rules.actions import Action, BonusKind
from tableturn_server.rules.mechanics.cubes import Color, Cubes
from tests.rules.play import Table
from tests.rules.players import fields_of, take_turn

LEAVES_AFTER = 90
"""The turns after which a seat leaves in the games for four."""
FOLDER = Path(__file__).parents[1] / "golden"
CLASSES: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in Action.__args__}
TYPES = {"cube": Color, "bonus": BonusKind}

GAMES: dict[str, tuple[str, int, dict[str, str]]] = {
    "eastern_wonders_2": ("eastern-wonders", 2, {}),
    "eastern_wonders_3": (
        "eastern-wonders",
        3,
        {"map": "random", "limit_checked": "own_turn", "stay_picks_up": "on", "first_seat": "2"},
    ),
    "eastern_wonders_4": ("eastern-wonders", 4, {}),
    "from_sand_to_sea_2": ("from-sand-to-sea", 2, {}),
    "from_sand_to_sea_4": ("from-sand-to-sea", 4, {"map": "random", "pass": "on"}),
    "spice_road_2": ("spice-road", 2, {}),
    "spice_road_4": ("spice-road", 4, {"open_hands": "on"}),
    "spice_road_5": ("spice-road", 5, {}),
}
"""The golden games: game, seats and options. One seat leaves in those for four."""


def written(turn: list[Action]) -> str:
    """A turn as people write it."""
    return notation.format_turn((action.kind, fields_of(action)) for action in turn)


def read(text: str) -> list[Action]:
    """The actions of a turn that people wrote."""
    return [action(kind, fields) for kind, fields in notation.parse_turn(text)]


def action(kind: str, fields: dict[str, Any]) -> Action:
    """An action from its kind and plain fields."""
    typed: dict[str, Any] = {}
    for name, value in fields.items():
        if name in ("cubes", "pile"):
            typed[name] = Cubes(*value)
        else:
            typed[name] = TYPES[name](value) if name in TYPES else value
    found: Action = CLASSES[kind](**typed)
    return found


def head(table: Table, seed: bytes) -> list[str]:
    """What the table was made with."""
    game = table.game
    lines = [
        f"game: {game.name}",
        f"rules_version: {game.rules_version}",
        f"seats: {game.setting.seats}",
        "options: " + " ".join(f"{k}={v}" for k, v in sorted(game.setting.options.items()) if v),
    ]
    if game.setting.components:
        own = game.setting.components
        lines.append(f"components: {own.name} {own.sha256.hex()}")
    return [*lines, f"seed: {seed.hex()}"]


def end(table: Table) -> list[str]:
    """How the game ended."""
    assert table.outcome is not None
    lines = [f"end: {table.ended}"]
    for result in table.outcome.results:
        lines.append(f"rank {result.rank}: seat {result.seat}, {result.points} points")
    return lines


def record(name: str) -> str:
    """A whole game, played by chance, as text."""
    game, seats, options = GAMES[name]
    seed = name.encode().ljust(16, b".")[-16:]
    random = Random(seats)
    table = Table(game, seats, options, seed)
    turns: list[str] = []
    while table.prompts:
        if seats == 4 and len(turns) == LEAVES_AFTER:
            table.drop(3)
            turns.append("seat 3: dropped")
            continue
        seat = random.choice(table.prompts).seat
        turn = take_turn(table.game, table.confirmed, seat, random)
        for step in turn:
            table.stage(seat, step)
        table.confirm(seat)
        turns.append(f"seat {seat}: {written(turn)}")
    parts = (head(table, seed), turns, end(table))
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def replay(text: str) -> str:
    """The text of the game that comes of the head and the turns of a text."""
    first, turns, _ = text.strip().split("\n\n")
    said = dict(line.split(": ", 1) for line in first.splitlines())
    options = dict(option.split("=", 1) for option in said["options"].split())
    seed = bytes.fromhex(said["seed"])
    table = Table(said["game"], int(said["seats"]), options, seed)
    lines = []
    for line in turns.splitlines():
        who, words = line.split(": ", 1)
        seat = int(who.removeprefix("seat "))
        if words == "dropped":
            table.drop(seat)
        else:
            for step in read(words):
                table.stage(seat, step)
            words = written(list(table.staged.get(seat, ())))
            table.confirm(seat)
        lines.append(f"seat {seat}: {words}")
    return "\n\n".join("\n".join(part) for part in (head(table, seed), lines, end(table))) + "\n"


def main(files: list[str]) -> None:
    for file in files:
        sys.stdout.write(replay(Path(file).read_text("utf-8")))
    if not files:
        for name in GAMES:
            (FOLDER / f"{name}.txt").write_text(record(name), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
