"""`python -m tableturn_server.rules.texts DIRECTORY` writes the rules of all games there."""

from __future__ import annotations

import sys
from pathlib import Path

from tableturn_server.rules.catalog import GAMES
from tableturn_server.rules.texts.pages import page

if __name__ == "__main__":
    for game in GAMES:
        Path(sys.argv[1], f"{game}.md").write_text(page(game), "utf-8")
