"""The tag by which a panel tells tables apart: the service and the bridge mean the same by it."""

import random
from base64 import b32encode
from hashlib import blake2b

from msgspec.structs import replace

from tableturn_bridge.lamps import tag_of
from tableturn_bridge.protocol import MOST_BUTTONS as LAMPS
from tableturn_server.tables.panels import MOST_BUTTONS
from tableturn_server.tables.rematch import next_id, table_tag
from tableturn_server.tables.state import SEAT_COLORS
from tests.tables.play import HOST, a_table, digest

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def some_ids(count: int) -> list[str]:
    """Ids that tables can have, of every length."""
    chance = random.Random(1)
    rest = LETTERS + "-"
    return [
        chance.choice(LETTERS) + "".join(chance.choices(rest, k=chance.randint(2, 39)))
        for _ in range(count)
    ]


def test_both_sides_mean_the_same_tag() -> None:
    ids = some_ids(3000)
    assert [tag_of(i) for i in ids] == [table_tag(i) for i in ids]
    assert len({tag_of(i) for i in ids}) > 2800


def test_a_rematch_always_has_another_tag() -> None:
    table = a_table().table
    for number, table_id in enumerate(some_ids(3000)):
        making = replace(table.making, table_id=table_id, host=digest(f"host {number % 7}"))
        assert tag_of(next_id(replace(table, making=making))) != tag_of(table_id)


# The first id that comes to mind for the next table of these has the same tag; found by trying.
UNLUCKY = ("table-24189", "table-236523", "table-288671", "table-314912")


def test_also_where_the_first_id_has_the_same() -> None:
    table = a_table().table
    for table_id in UNLUCKY:
        unlucky = replace(table, making=replace(table.making, table_id=table_id))
        first = blake2b(f"{table_id} 0".encode(), key=HOST.token, digest_size=10).digest()
        passed_over = b32encode(first).decode().lower()
        assert tag_of(passed_over) == tag_of(table_id)
        assert next_id(unlucky) != passed_over
        assert tag_of(next_id(unlucky)) != tag_of(table_id)


def test_a_panel_has_a_lamp_for_each_button_and_a_table_has_room_for_larger_ones() -> None:
    assert LAMPS <= MOST_BUTTONS == len(SEAT_COLORS)
