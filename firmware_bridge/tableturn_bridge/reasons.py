"""Why a panel can't be worked, in words: what stands in the way, and what helps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tableturn_bridge.errors import (
    NotAPanel,
    PanelHeldHere,
    PanelLost,
    PanelSilent,
    PanelTrouble,
    PortBusy,
    VersionRefused,
)
from tableturn_bridge.protocol import (
    FEWEST_BUTTONS,
    LOWEST_VERSION,
    MOST_BUTTONS,
    VERSION,
    Hello,
)

# ---------------------------------------------------------------- at the port


def silent(port: str) -> PanelSilent:
    """Not one byte came."""
    return PanelSilent(
        f"nothing answers at {port}",
        "Look whether it is the panel's port and whether the panel has power, and press its "
        "reset button; a board without the panel's firmware is silent too: flash it.",
    )


def garbage(port: str, count: int) -> NotAPanel:
    """So many bytes came, and no frame: the wrong speed, another program, another device."""
    return NotAPanel(
        f"{port} sends {count} bytes that no panel sends",
        "It is another device, or the board runs another program: flash the panel's firmware. "
        "A panel speaks at 115200 baud.",
    )


def echo(port: str) -> NotAPanel:
    """Our own frames came back."""
    return NotAPanel(
        f"{port} gives back what is written to it, so no panel is behind it",
        "Choose another port, or look whether its two data lines touch.",
    )


def no_hello(port: str) -> NotAPanel:
    """Frames came, and none of them was a hello."""
    return NotAPanel(
        f"something at {port} sends a panel's messages, but doesn't say hello",
        "Press the panel's reset button; if that doesn't help, flash its firmware again.",
    )


def forgetful(port: str) -> NotAPanel:
    """It says hello, again and again, without a number or a session."""
    return NotAPanel(
        f"the panel at {port} says hello, and keeps neither number nor session",
        "Its firmware is broken: flash it again.",
    )


def buttons(port: str, hello: Hello) -> NotAPanel:
    """It has as many buttons as no panel has."""
    return NotAPanel(
        f"the panel at {port} says that it has {hello.buttons} buttons",
        f"A panel has {FEWEST_BUTTONS} to {MOST_BUTTONS}: flash its firmware again.",
    )


def lost(port: str) -> PanelLost:
    """It had answered, and does so no more."""
    return PanelLost(
        f"the panel at {port} had answered and does so no more",
        "It is tried again by itself. If that doesn't help: press its reset button, then look at "
        "its cable.",
    )


def other_version(port: str, hello: Hello) -> VersionRefused:
    """It speaks another version: which of the two is older decides the cure (H5)."""
    span = LOWEST_VERSION, VERSION
    ours = f"version {VERSION}" if len(set(span)) == 1 else "versions {} to {}".format(*span)
    return VersionRefused(
        f"the panel at {port} (firmware {hello.major}.{hello.minor}) speaks protocol version "
        f"{hello.protocol}, this program speaks {ours}",
        "Update Tableturn on this machine, or flash the firmware that comes with this one."
        if hello.protocol > VERSION
        else "Flash the firmware that comes with this Tableturn.",
    )


# ---------------------------------------------------------------- another bridge at the port


def words_of(process: int) -> list[str]:
    """The command line of a process; empty where the system doesn't tell it (Linux tells)."""
    try:
        line = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return []
    return [word.decode("utf-8", "replace") for word in line.split(b"\0")]


def known_here(
    trouble: PanelTrouble, words: Callable[[int], Sequence[str]] = words_of
) -> PanelTrouble:
    """The same trouble, told with what this machine knows of it.

    A port that is busy because another bridge works it is no program's that ought to be closed.
    """
    if not isinstance(trouble, PortBusy):
        return trouble
    for holder in trouble.holders:
        process = re.search(r"\(process (\d+)\)$", holder)
        if process is not None and _is_bridge(words(int(process[1]))):
            port = trouble.problem.partition(" is used by ")[0]
            return PanelHeldHere(
                f"the panel at {port} is worked by another bridge on this machine "
                f"(process {process[1]})",
                "A panel needs one bridge only: end one of the two.",
            )
    return trouble


def _is_bridge(words: Sequence[str]) -> bool:
    """A command line such as `tableturn panel --port PORT`."""
    if "panel" not in words:
        return False
    at = words.index("panel")
    ours = any(Path(word).name.startswith("tableturn") for word in words[:at])
    return ours and not {"status", "doctor", "off"} & set(words[at:])


# ---------------------------------------------------------------- at the table


@dataclass(frozen=True)
class Elsewhere:
    """Why a panel that is well can't be used at its table.

    `held` says whose it is there: another bridge's (`others`) or nobody's here (`off`). `cause`
    is one word for programs, `problem` and `cure` are for a person, `sentence` is both.
    """

    held: str
    cause: str
    problem: str
    cure: str

    @property
    def sentence(self) -> str:
        """What is wrong, and what helps."""
        return f"{self.problem}. {self.cure}"


def held_elsewhere(problem: str) -> Elsewhere:
    """Another bridge works the panel at this table."""
    return Elsewhere(
        "others",
        "held",
        problem,
        "End that bridge, and this one goes on by itself; one that was killed loses its panel "
        "after four seconds.",
    )


def off_table(problem: str, table_id: str, uid: int) -> Elsewhere:
    """The panel isn't on the table, or is there with another token than is kept here."""
    return Elsewhere(
        "off",
        "off",
        problem,
        f"The host puts it there again: end this, say `tableturn panel off {table_id} {uid}` if "
        f"`tableturn panel status {table_id}` still shows it, and then `tableturn panel --table "
        f"{table_id}`; on another machine than the host's with the host's --token.",
    )


def seat_taken(problem: str, table_id: str) -> Elsewhere:
    """A seat that was asked for has a button of another panel."""
    return Elsewhere(
        "off",
        "seat-taken",
        problem,
        "Choose other seats with --seats, or take the other panel off with `tableturn panel off "
        f"{table_id} NUMBER`.",
    )


def no_seat_left(table_id: str) -> Elsewhere:
    """Other panels have all seats of the table."""
    return Elsewhere(
        "off",
        "no-seat-left",
        "every seat of the table belongs to another panel",
        f"See them with `tableturn panel status {table_id}` and take one off with `tableturn panel "
        f"off {table_id} NUMBER`, or play at a table of its own with --new.",
    )
