"""What can be played: games, rulings, component sets."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from tableturn_client.cli.command import command, repeated_options
from tableturn_client.cli.files import read_file, write_file
from tableturn_client.cli.plain import plain, word
from tableturn_client.cli.session import Session, columns
from tableturn_client.cli.template import laid_out, nothing_to_fill_in, template
from tableturn_client.client import Client
from tableturn_client.drawing.words import clean
from tableturn_client.errors import BadValue, Refusal, UnknownName
from tableturn_client.messages import (
    ComponentGroup,
    ComponentSetSummary,
    Confidence,
    GameInfo,
    GetRulesResponse,
    OptionInfo,
    RuleClause,
)

WIDTH = 92


@command("games", examples="tableturn games")
async def games_command(session: Session) -> None:
    """List the games that can be played."""
    async with session.client() as client:
        games = await client.games()
        sets = await client.component_sets()
    sure = {one.name: f"{one.name} ({least_sure(one)})" for one in sets}
    rows = [("GAME", "TITLE", "SEATS", "COMPONENTS (LEAST SURE VALUE)", "BOTS")]
    rows += [
        (
            game.name,
            game.title,
            _seats(game),
            sure.get(game.component_set, game.component_set or "-"),
            ", ".join(game.bots) or "-",
        )
        for game in games
    ]
    session.tell({"games": plain(games)}, *columns(rows))


@command("rules", examples="tableturn rules eastern-wonders\ntableturn rules eastern-wonders EW-15")
@click.argument("game")
@click.argument("clause", required=False)
async def rules_command(session: Session, game: str, clause: str | None) -> None:
    """Show the rules of a GAME as they are played here, and its options.

    With a CLAUSE, such as EW-15, that clause only and the options that settle it. It may be
    one of another game, which this game's rules speak of.
    """
    async with session.client() as client:
        info = await game_of(client, game)
        rules = await client.rules(game)
        clauses = _clauses(rules, clause)
        if not clauses:
            for other in await client.games():
                found = await client.rules(other.name)
                if _clauses(found, clause):
                    info, clauses = other, _clauses(found, clause)
                    break
    options = [option for option in info.options if _settles(option, clause)]
    if not clauses:
        ids = ", ".join(clean(one.id) for one in rules.clauses)
        raise unknown(f"{game} has no clause {clause}; its clauses: {ids}")
    head = [f"{clean(info.title)}: {_seats(info)} seats, rules version {info.rules_version}"]
    if clause is None:
        head += ["", *textwrap.wrap(clean(rules.introduction), WIDTH)]
    session.tell(
        {"game": plain(info), "clauses": plain(clauses), "options": plain(options)},
        *head,
        *(line for part in _sections(clauses) for line in part),
        *(["", "Options"] if options else []),
        *(line for option in options for line in _option_lines(option)),
    )


@click.group("components", invoke_without_command=True, params=repeated_options())
@click.pass_context
def components_command(context: click.Context) -> None:
    """List, show, check and fill in component sets: cards, tiles and boards as data."""
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@command("list", examples="tableturn components list")
async def list_command(session: Session) -> None:
    """List the shipped component sets, and how sure their values are."""
    async with session.client() as client:
        sets = await client.component_sets()
    rows = [("SET", "GAME", "TITLE", "LEAST SURE VALUE")]
    rows += [(one.name, one.game, one.title, least_sure(one)) for one in sets]
    session.tell({"component_sets": plain(sets)}, *columns(rows))


@command(
    "show",
    examples="tableturn components show eastern-wonders\n"
    "tableturn components show eastern-wonders -o wonders.json",
)
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", help="Write the whole set to a file.")
async def show_command(session: Session, name: str, output: str | None) -> None:
    """Show where the values of a set come from, or write the set to a file."""
    async with session.client() as client:
        found = await client.component_set(name)
    document: object = json.loads(found.document)
    lines = _set_lines(found.summary)
    if output:
        write_file(output, found.document)
        lines = [] if output == "-" else [f"The set is in {output}."]
    if not (output == "-" and not session.json):
        session.tell({"summary": plain(found.summary), "document": document}, *lines)


@command("check", examples="tableturn components check my-wonders.json")
@click.argument("file", metavar="FILE")
@click.option("--game", default="", help="The game it is for [the one that the file names].")
async def check_command(session: Session, file: str, game: str) -> None:
    """Check a component set of your own, without making a table."""
    document = read_file(file)
    async with session.client() as client:
        summary = await client.check_component_set(game or _named_game(document, file), document)
    left = ", ".join(
        f"{group.reconstructed} of {group.count} {clean(group.name)}"
        for group in stand_ins(summary)
    )
    session.tell(
        {"summary": plain(summary)},
        f"{file} holds.",
        *_set_lines(summary),
        f"Still reconstructed: {left}." if left else "Nothing in it is reconstructed.",
    )


@command(
    "template",
    examples="tableturn components template eastern-wonders -o my-wonders.json\n"
    "tableturn components template spice-road --all",
)
@click.argument("game")
@click.option("--all", "everything", is_flag=True, help="The verified values as well.")
@click.option("-o", "--output", metavar="FILE", help="Write it to a file.")
async def template_command(
    session: Session, game: str, everything: bool, output: str | None
) -> None:
    """A file to fill in the printed values of your copy of a GAME, the doubtful ones first."""
    async with session.client() as client:
        info = await game_of(client, game)
        if not info.component_set:
            raise BadValue(f"{game} is played without components")
        found = await client.component_set(info.component_set)
    document = template(found, everything=everything)
    text = laid_out(document) + "\n"
    nothing = nothing_to_fill_in(found)
    lines = [clean(nothing, 200)] if nothing else []
    if output is None or output == "-":
        lines = text.splitlines()
    else:
        write_file(output, text.encode())
        lines += [
            f"The file to fill in is {output}.",
            f"Then: {session.typed(f'components check {output}')}",
            f"And:  {session.typed(f'new {game} --components {output}')}",
        ]
    session.tell({"template": document, "nothing_to_fill_in": bool(nothing)}, *lines)


for _command in (list_command, show_command, check_command, template_command):
    components_command.add_command(_command)


async def game_of(client: Client, name: str) -> GameInfo:
    """The game of this name."""
    games = await client.games()
    for game in games:
        if game.name == name:
            return game
    names = ", ".join(game.name for game in games)
    raise unknown(f"no game is called {name}; there are: {names}")


def unknown(sentence: str) -> UnknownName:
    """The catalog has nothing of this name."""
    return UnknownName(Refusal("UNKNOWN_NAME", sentence))


def _clauses(rules: GetRulesResponse, clause: str | None) -> list[RuleClause]:
    """The clause of this id, or all."""
    return [one for one in rules.clauses if clause is None or _same(one.id, clause)]


def _settles(option: OptionInfo, clause: str | None) -> bool:
    return clause is None or _same(option.clause, clause)


def _same(one: str, other: str) -> bool:
    """Two ids of clauses are the same, however they are typed."""
    return one.lower() == other.lower()


def _sections(clauses: Sequence[RuleClause]) -> Iterable[list[str]]:
    """Clauses below their headings, the ids in a column of their own."""
    for section, group in itertools.groupby(clauses, lambda one: one.section):
        yield ["", clean(section)]
        for one in group:
            yield textwrap.wrap(
                clean(one.text),
                WIDTH,
                initial_indent=f"{clean(one.id):8}",
                subsequent_indent=" " * 8,
            )


def _option_lines(option: OptionInfo) -> Iterable[str]:
    clause = f" [{clean(option.clause)}]" if option.clause else ""
    values = " | ".join(map(clean, option.values)) or "any text"
    yield ""
    yield f"{clean(option.name)} = {clean(option.default_value) or 'none'}{clause}"
    yield textwrap.fill(
        clean(option.summary), WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    yield f"    values: {values}"


def _set_lines(summary: ComponentSetSummary) -> list[str]:
    """A set in short: each group with its confidence and sources."""
    lines = [f"{clean(summary.title)} ({clean(summary.name)}), sha256 {summary.sha256.hex()}"]
    for group in summary.groups:
        sure = confidence(group.confidence)
        if 0 < group.reconstructed < group.count:
            sure = f"{group.reconstructed} of them {sure}"
        lines.append(f"  {clean(group.name)}: {group.count}, {sure}")
        if group.note:
            lines.append(f"    {clean(group.note)}")
        lines += [f"    source: {clean(source)}" for source in group.sources]
    return lines


def confidence(value: int) -> str:
    """How sure a value is, in words."""
    return word(Confidence.DESCRIPTOR, value).replace("_", " ")


def stand_ins(summary: ComponentSetSummary) -> list[ComponentGroup]:
    """The groups that have values which are stand-ins of ours."""
    return [group for group in summary.groups if group.reconstructed]


def least_sure(summary: ComponentSetSummary) -> str:
    """How sure the least sure value of a set is."""
    return confidence(max((group.confidence for group in summary.groups), default=0))


def _seats(game: GameInfo) -> str:
    if game.min_seats == game.max_seats:
        return str(game.min_seats)
    return f"{game.min_seats}-{game.max_seats}"


def _named_game(document: bytes, file: str) -> str:
    """The game that a component set says it is for."""
    try:
        game = json.loads(document).get("game")
    except (ValueError, AttributeError, RecursionError):
        raise BadValue(f"{Path(file).name} is no JSON object") from None
    if not isinstance(game, str):
        raise BadValue(f"{Path(file).name} does not say its game: give it with --game")
    return game
