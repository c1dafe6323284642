"""What keeps rows of several data nodes from being paired, or from being drawn by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

from engine.catalogue import Data, Transform
from engine.catalogue.bypass import without_muted
from engine.document.edits import Edit, SetParam, SetPlan
from engine.document.graph import Project
from engine.document.plan import AS_CONNECTED, UNPAIRED
from engine.shapes.problems import Fix, Problem
from engine.shapes.streams import Streams, Types, streams_of


def stream_problems(project: Project, types: Types) -> Iterator[Problem]:
    """The problems of a graph that learns from several data nodes."""
    project = without_muted(project, types)
    streams = streams_of(project.graph, types, project.plan.pairing)
    if len(streams.data) < 2:
        return
    if project.plan.pairing == UNPAIRED:
        yield from _meetings(project, streams)
    for first, *others in streams.nodes:
        for one in others:
            yield from _pair(project, types, first, one)
        if others:
            yield from _picked(project, types, (first, *others))
    yield from _vocabularies(project, types, streams)


def _meetings(project: Project, streams: Streams) -> Iterator[Problem]:
    for one, met in streams.meetings.items():
        names = _listed(project, met)
        message = (
            f"{names} meet row by row in {_name(project, one)}, but the plan draws their rows unpaired: no "
            "row of one belongs to a row of another."
        )
        yield Problem(
            one, message, fix=Fix("Pair them as they are connected", _as_connected), code="unpaired"
        )


def _as_connected(project: Project) -> tuple[Edit, ...]:
    return (SetPlan(replace(project.plan, pairing=AS_CONNECTED)),)


def _pair(project: Project, types: Types, first: str, one: str) -> Iterator[Problem]:
    """What is wrong with two data nodes whose rows belong together."""
    made, other = types[first], types[one]
    assert isinstance(made, Data) and isinstance(other, Data)
    counts = made.row_count(), other.row_count()
    names = _name(project, first), _name(project, one)
    if all(counts) and counts[0] != counts[1]:
        message = (
            f"{names[0]} has {counts[0]:,} rows and {names[1]} has {counts[1]:,}: rows that belong together "
            "are as many in both."
        )
        yield Problem(one, message, code="pair-count")
    elif made.split_by() != other.split_by():
        message = (
            f"Rows of {names[0]} and {names[1]} belong together, but are split in different ways, so that "
            "they would come into different splits."
        )
        fix = None
        if made.by_number and other.by_number:
            fix = Fix("Split both at random, alike", partial(_alike, first=first, one=one, made=made))
        yield Problem(one, message, fix=fix, code="pair-split")


def _alike(project: Project, first: str, one: str, made: Data) -> tuple[Edit, ...]:
    """Split two nodes by the numbers of their rows, the second as the first."""
    values = {name: getattr(made, name) for name in made.split_params} | dict(made.by_number)
    return tuple(
        SetParam(node_id, name, value)
        for node_id in (first, one)
        for name, value in values.items()
        if project.graph.node(node_id).params.get(name) != value
    )


def _picked(project: Project, types: Types, nodes: tuple[str, ...]) -> Iterator[Problem]:
    """Transforms that decide which rows there are, behind one of several nodes whose rows belong together."""
    for one, made in types.items():
        picks = isinstance(made, Transform) and made.picks and one in project.graph.nodes
        if picks and not project.graph.ancestors(one).isdisjoint(nodes):
            message = (
                f"{_name(project, one)} decides which rows there are, but the rows of "
                f"{_listed(project, nodes)} belong together."
            )
            yield Problem(one, message, code="pair-picked")


def _vocabularies(project: Project, types: Types, streams: Streams) -> Iterator[Problem]:
    """Two nodes that learn tokens: what is learned of one would go by the names of the other's."""
    learning = [
        one for one in streams.data if isinstance(data := types[one], Data) and data.learned_key() is not None
    ]
    for one, other in pairwise(learning):
        message = (
            f"{_name(project, one)} and {_name(project, other)} both learn tokens from their texts; one "
            "graph has one vocabulary. Put the texts into one file."
        )
        yield Problem(other, message, code="two-vocabularies")


def _name(project: Project, node_id: str) -> str:
    node = project.graph.node(node_id)
    return node.name or node.type


def _listed(project: Project, nodes: tuple[str, ...]) -> str:
    *others, last = (_name(project, one) for one in nodes)
    return f"{', '.join(others)} and {last}"
