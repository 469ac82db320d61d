"""Drawings of tables for a terminal: pure functions from messages to rich texts.

One module for each mechanic; `table` composes them by what a view has. Every
drawing takes a `Look`: the room there is, and the signs that may be used. What
others wrote is cleaned of everything that a terminal would obey.
"""

from tableturn_client.drawing.look import ASCII, UNICODE, Look, Signs
from tableturn_client.drawing.seats import Seats
from tableturn_client.drawing.table import Eyes, boards, draw

__all__ = ["ASCII", "UNICODE", "Eyes", "Look", "Seats", "Signs", "boards", "draw"]
