"""Shapes in SVG for the pictures that are drawn by hand: lines, boxes and words."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

INK, PALE, PAPER = "#1f2430", "#6b7280", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def element(name: str, *inside: str, **attributes: object) -> str:
    """An element; `_` in the names of attributes stands for `-`."""
    words = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{words}>{''.join(inside)}</{name}>" if inside else f"<{name}{words}/>"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def words(x: float, y: float, said: str, *, size: float = 14, **more: object) -> str:
    """Text; `y` is the middle of its line."""
    style: dict[str, object] = {"fill": INK, "font_size": size} | more
    return element("text", escape(said), x=x, y=y + size * 0.35, **style)


def box(x: float, y: float, width: float, height: float, **more: object) -> str:
    """A rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **more)


def wire(*points: tuple[float, float], color: str = INK, width: float = 2, **more: object) -> str:
    """A line through points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return element(
        "polyline",
        points=path,
        fill="none",
        stroke=color,
        stroke_width=width,
        stroke_linejoin="round",
        stroke_linecap="round",
        **more,
    )


def dot(x: float, y: float, color: str = INK, radius: float = 4) -> str:
    """A point at which wires meet."""
    return element("circle", cx=x, cy=y, r=radius, fill=color)


def picture(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """A whole picture on white paper, so that it is read on a dark page too."""
    return (
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img" font-family={quoteattr(FONT)}>',
                element("title", escape(title)),
                box(0, 0, width, height, rx=10, fill=PAPER),
                *parts,
                "</svg>",
            ]
        )
        + "\n"
    )
