"""Bots: players of our own, which see no more than any other seat.

A bot is given a `Sight`, what its seat sees and may do, and names one action after another
until it confirms. It runs in a worker process that holds nothing hidden at all.
"""

from __future__ import annotations

from .bot import Bot, whole_turn
from .registry import bot_of, names, stand_in
from .sight import Sight

__all__ = ["Bot", "Sight", "bot_of", "names", "stand_in", "whole_turn"]
