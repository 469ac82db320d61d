"""The plain client is the async one, verb by verb."""

import inspect
import threading
from typing import Any

import pytest

from tableturn_client import Change, Client, Panel, Seat, Snapshot, Table, errors, sync
from tests.client.service import Service

_CONTEXT = {"__aenter__", "__aexit__"}


def verbs(kind: type[Any]) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("plain", "aio"),
    [
        (sync.Client, Client),
        (sync.Table, Table),
        (sync.Seat, Seat),
        (sync.Panel, Panel),
    ],
)
def test_has_every_verb(plain: type[Any], aio: type[Any]) -> None:
    assert verbs(aio) <= verbs(plain)
    for name in verbs(aio):
        verb = getattr(plain, name)
        assert not inspect.iscoroutinefunction(verb)
        assert verb.__doc__


def threads() -> int:
    return sum(thread.name == "tableturn" for thread in threading.enumerate())


def test_a_game_without_await(service: Service) -> None:
    with sync.connect(service.address) as client:
        assert "free-table" in [game.name for game in client.games()]
        new = client.new_table("free-table", seats=2, start_when_full=True)
        ann, bob = new.table.take_seat("Ann"), new.table.take_seat("Bob")
        assert isinstance(ann, sync.Seat)
        assert [ann.number, bob.number] == [1, 2]
        view = new.table.view()
        first, second = (ann, bob) if view.prompts[0].seat == 1 else (bob, ann)
        with first.watch() as watch:
            assert isinstance(next(watch), Snapshot)
            first.view()
            first.confirm()
            event = next(watch)
            assert isinstance(event, Change)
            assert event.entry.seat == first.number
        assert list(watch) == []
        with pytest.raises(errors.NotAsked):
            first.confirm(expected=first.revision)
        second.actions()
        second.act("finish game", confirm=True)
        assert [entry.revision for entry in second.log(3)][:2] == [4, 5]
        assert new.table.table_id in [table.table_id for table in client.tables()]
        assert threads() == 1
    assert threads() == 0
    with pytest.raises(errors.NotSent):
        client.games()


def test_an_iterator_may_be_left(service: Service) -> None:
    with sync.connect(service.address) as client:
        new = client.new_table("free-table", seats=2)
        for entry in new.table.log():
            assert entry.revision == 1
            break
    assert threads() == 0
