"""The one error of component sets."""

from __future__ import annotations

import re

_ITEM = re.compile(r"(\w+)\.items\[(\d+)\]")


class BadComponents(ValueError):
    """A component set can't be used. `place` is where the fault is in the file."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message

    def moved(self, places: dict[str, dict[int, int]]) -> BadComponents:
        """The same fault with the places of items as they are in the user's file.

        An item that comes from the base keeps the place that it has there.
        """

        def there(found: re.Match[str]) -> str:
            group, index = found[1], int(found[2])
            return f"{group}.items[{places.get(group, {}).get(index, index)}]"

        return BadComponents(_ITEM.sub(there, self.place), _ITEM.sub(there, self.message))
