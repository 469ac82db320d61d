"""The file that an owner of the box fills in: what stands in it, and that it changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableturn_client.cli.template import WIDTH, laid_out, nothing_to_fill_in, template
from tableturn_client.client import ComponentSet
from tableturn_server.rules import components
from tableturn_server.rules.components.sets import GROUPS
from tableturn_server.service.catalog import set_summary

pytestmark = pytest.mark.parametrize("name", components.shipped_names())


@pytest.fixture
def found(name: str) -> ComponentSet:
    """A shipped set as a client gets it."""
    shipped = components.shipped(name)
    return ComponentSet(set_summary(shipped), shipped.document)


@pytest.mark.parametrize("everything", [False, True])
def test_a_file_as_it_was_made_holds_and_changes_nothing(
    name: str, found: ComponentSet, everything: bool
) -> None:
    text = laid_out(template(found, everything=everything))
    own = components.load(text.encode(), name)
    shipped = components.shipped(name)
    for group in GROUPS:
        assert own.group(group).items == shipped.group(group).items
    assert own.summary() == shipped.summary()
    assert own.name == f"my-{name}"


def test_the_least_sure_groups_come_first_and_the_verified_ones_not_at_all(
    name: str, found: ComponentSet
) -> None:
    sure = {group.name: group.confidence for group in found.summary.groups}
    groups = [key for key in template(found, everything=False) if key in GROUPS]
    doubts = [sure[group] for group in groups]
    assert doubts == sorted(doubts, reverse=True)
    assert set(groups) == {group for group in sure if sure[group] > 1}
    assert {key for key in template(found, everything=True) if key in GROUPS} == set(sure)
    assert bool(nothing_to_fill_in(found)) == (not groups)


def test_each_line_has_its_values_and_says_how_sure_they_are(
    name: str, found: ComponentSet
) -> None:
    document = json.loads(found.document)
    made = template(found, everything=True)
    for group in found.summary.groups:
        lines = made[group.name]["items"]
        assert [line["id"] for line in lines] == [
            one["id"] for one in document[group.name]["items"]
        ]
        for line, item in zip(lines, document[group.name]["items"], strict=True):
            values = {key: value for key, value in line.items() if key != "//"}
            assert values.items() <= item.items()
            assert line["//"].startswith(item["confidence"]) or item["unsure"]


def test_a_filled_in_line_is_its_owners_word(name: str, found: ComponentSet) -> None:
    made = template(found, everything=True)
    made["start_piles"]["items"][0]["cubes"] = "BB"
    own = components.load(laid_out(made).encode(), name)
    pile, *rest = own.start_piles.items
    assert (pile.cubes, pile.least.value, pile.sources) == ("BB", "single-source", ("box",))
    assert rest == list(components.shipped(name).start_piles.items[1:])


def test_short_things_stand_on_one_line(name: str, found: ComponentSet) -> None:
    made = template(found, everything=True)
    text = laid_out(made)
    assert json.loads(text) == made
    remarks: list[Any] = ["//", *made["//"]]
    for line in text.splitlines():
        assert len(line) <= WIDTH + 1 or any(remark in line for remark in remarks)
    pile = json.dumps(made["start_piles"]["items"][0])
    assert pile in text
