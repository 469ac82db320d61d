"""`python -m benchmarks` runs all of them; `python -m benchmarks rules` one."""

from __future__ import annotations

import sys

from benchmarks import bots, panel, rules, service, spice_road

ALL = {
    "rules": rules.main,
    "spice-road": spice_road.main,
    "service": service.main,
    "bots": bots.main,
    "panel": panel.main,
}


def main() -> None:
    """Run the benchmarks that are named, or all."""
    for name in sys.argv[1:] or ALL:
        if name not in ALL:
            sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(ALL)}")
        ALL[name]()


if __name__ == "__main__":
    main()
