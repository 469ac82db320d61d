"""The servicer of CatalogService: what can be played."""

from __future__ import annotations

import asyncio

from google.protobuf.message import Message

from tableturn.v1 import catalog_pb2
from tableturn_server import bots
from tableturn_server.rules import catalog, components
from tableturn_server.rules.components import BadComponents, ComponentSet
from tableturn_server.rules.game import Option
from tableturn_server.rules.texts import rules_text
from tableturn_server.service.calls import Call
from tableturn_server.tables.refusals import Reason, Refused

_CONFIDENCE = catalog_pb2.Confidence.DESCRIPTOR.values_by_name


class CatalogService:
    """Games, options, rules and component sets. Nothing here changes while the service runs."""

    async def list_games(self, request: Message, call: Call) -> Message:
        """All games with their options."""
        games = [
            catalog_pb2.GameInfo(
                name=game.name,
                title=game.title,
                min_seats=game.seats.start,
                max_seats=game.seats.stop - 1,
                rules_version=game.rules_version,
                options=[_option(option) for option in game.options],
                component_set=game.component_set or "",
                bots=bots.names(game.name),
            )
            for _, game in sorted(catalog.GAMES.items())
        ]
        return catalog_pb2.ListGamesResponse(games=games)

    async def get_rules(self, request: catalog_pb2.GetRulesRequest, call: Call) -> Message:
        """The rules of a game, clause by clause."""
        _check_game(request.game)
        text = rules_text(request.game)
        return catalog_pb2.GetRulesResponse(
            title=text.title,
            introduction=text.introduction,
            clauses=[
                catalog_pb2.RuleClause(id=clause.id, section=clause.section, text=clause.text)
                for clause in text.clauses
            ],
        )

    async def list_component_sets(self, request: Message, call: Call) -> Message:
        """The shipped component sets in short."""
        sets = [set_summary(components.shipped(name)) for name in components.shipped_names()]
        return catalog_pb2.ListComponentSetsResponse(sets=sets)

    async def get_component_set(
        self, request: catalog_pb2.GetComponentSetRequest, call: Call
    ) -> Message:
        """A shipped component set, whole."""
        try:
            found = components.shipped(request.name)
        except KeyError as error:
            names = ", ".join(components.shipped_names())
            raise Refused(
                Reason.UNKNOWN_NAME,
                f"there is no component set {request.name[:40]!r}; sets: {names}",
                field="name",
            ) from error
        return catalog_pb2.GetComponentSetResponse(
            summary=set_summary(found), document=found.document
        )

    async def check_component_set(
        self, request: catalog_pb2.CheckComponentSetRequest, call: Call
    ) -> Message:
        """A set of the caller's own, checked."""
        _check_game(request.game)
        try:
            # Reading a large document takes long: not on the loop.
            found = await asyncio.to_thread(components.load, request.document, request.game)
        except BadComponents as error:
            raise Refused(
                Reason.BAD_COMPONENTS, str(error), place=error.place or "the file"
            ) from error
        return catalog_pb2.CheckComponentSetResponse(summary=set_summary(found))


def _check_game(name: str) -> None:
    """Raise Refused unless there is a game of this name."""
    if name not in catalog.GAMES:
        raise Refused(
            Reason.UNKNOWN_NAME,
            f"there is no game {name[:40]!r}; games: {', '.join(catalog.GAMES)}",
            field="game",
        )


def _option(option: Option) -> catalog_pb2.OptionInfo:
    return catalog_pb2.OptionInfo(
        name=option.name,
        default_value=option.default,
        values=option.values,
        summary=option.summary,
        clause=option.clause,
    )


def set_summary(found: ComponentSet) -> catalog_pb2.ComponentSetSummary:
    """A component set in short, as a message."""
    groups = [
        catalog_pb2.ComponentGroup(
            name=group.name,
            count=group.count,
            confidence=_CONFIDENCE[f"CONFIDENCE_{group.confidence.name}"].number,  # type: ignore[arg-type]
            sources=group.sources,
            note=group.note,
            reconstructed=group.reconstructed,
        )
        for group in found.summary()
    ]
    return catalog_pb2.ComponentSetSummary(
        name=found.name,
        game=found.game,
        title=found.title,
        sha256=found.sha256,
        groups=groups,
    )
