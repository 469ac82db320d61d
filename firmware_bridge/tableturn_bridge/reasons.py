"""Why there is no panel to speak with, in words: what was heard, and what helps."""

from __future__ import annotations

from tableturn_bridge.errors import NotAPanel, PanelLost, PanelSilent, VersionRefused
from tableturn_bridge.protocol import (
    FEWEST_BUTTONS,
    LOWEST_VERSION,
    MOST_BUTTONS,
    VERSION,
    Hello,
)


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
