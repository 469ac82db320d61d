"""Random games on one core, through the rules alone: games and plies per second."""

from __future__ import annotations

import random
import time

from benchmarks import measure
from benchmarks.workload import bound, play
from tableturn_server.rules import catalog

SECONDS = 4.0


def main() -> None:
    """Play each game in each number of seats for a few seconds."""
    rows: list[list[object]] = [["game", "seats", "games/s", "plies/s", "us/ply", "plies/game"]]
    for name, kind in catalog.GAMES.items():
        for seats in kind.seats:
            options = {"rounds": "10"} if name == "free-table" else {}
            game = bound(name, seats, **options)
            dice = random.Random(1)
            games = plies = 0
            begin = time.process_time()
            while (spent := time.process_time() - begin) < SECONDS / len(kind.seats):
                plies += len(play(game, dice.randbytes(16), dice, most=100_000))
                games += 1
            rows.append(
                [
                    name,
                    seats,
                    f"{games / spent:.1f}",
                    f"{plies / spent:.0f}",
                    f"{spent / plies * 1e6:.0f}",
                    plies // games,
                ]
            )
    measure.show(f"Random games, listing every choice at each ply ({measure.machine()})", rows)


if __name__ == "__main__":
    main()
