"""The harbour: the ports, their victory point tiles, and the pile."""

from __future__ import annotations

from rich.text import Text

from tableturn.v1 import views_pb2
from tableturn_client.drawing import cubes
from tableturn_client.drawing.words import clean, many


def victory_tile(tile: views_pb2.VictoryTileView) -> Text:
    """A victory point tile: its cost, and its points behind an equals sign."""
    return cubes.bundle(tile.cost).append(f"={tile.points}", "bold")


def port_face(port: views_pb2.PortView) -> Text:
    """What lies on a port: `RRGB=16`, `CLOSED`, `empty`, or `?` for a tile to be drawn."""
    if port.HasField("victory_tile"):
        return victory_tile(port.victory_tile)
    if port.closed:
        return Text("CLOSED", "bold red")
    if port.to_be_drawn:
        return Text("? drawn", "bold yellow")
    return Text("empty", "dim")


def pile(harbour: views_pb2.HarbourView) -> Text:
    """How many tiles are left to be drawn."""
    return Text(f"pile {many(harbour.pile, 'tile')}")


def ports(harbour: views_pb2.HarbourView) -> Text:
    """All ports on a line."""
    faces = (Text(f"{clean(port.tile, 4)} ", "bold") + port_face(port) for port in harbour.ports)
    return Text("  ").join(faces)
