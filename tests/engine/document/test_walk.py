"""A random walk over the document: whatever the order of edits, it stays whole and goes back exactly.

HYPOTHESIS_PROFILE=search walks new ways; NEUROLOOM_WALKS sets how many.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.document.clipboard import copy_text, paste
from engine.document.document import Change, Document
from engine.document.edits import (
    UNSET,
    AddNodes,
    Connect,
    Disconnect,
    Edit,
    Move,
    Remove,
    Rename,
    SetNotes,
    SetParam,
    SetPlan,
    SetTitle,
)
from engine.document.files import from_text, to_text
from engine.document.graph import Link, Node, Project
from engine.document.names import fresh_name
from engine.document.plan import Choice, Plan
from engine.errors import GraphError
from engine.values import natural

TYPES = ("Linear", "Conv2d", "Concatenate", "CrossEntropy", "Type of another day")
PORTS = ("x", "x1", "x2", "x10", "output")
NAMES = st.one_of(
    st.sampled_from(["conv", "", "class", "层", "x'); import os #", "two\nlines", '"', "\ud800"]),
    st.text(max_size=8),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
VALUES = st.recursive(SCALARS, lambda inside: st.lists(inside, max_size=3).map(tuple), max_leaves=6)
PARAMS = st.sampled_from(["units", "kernel", "bias", "ünïcode", ""])
PLACES = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
PICKS = st.integers(0, 10**6)


def as_saved(project: Project) -> str:
    """The project as text, without the counter of ids, which never goes back."""
    return to_text(replace(project, next_id=0))


class DocumentWalk(RuleBasedStateMachine):
    """Keeps the texts of all states that undo and redo have to reach, beside the document itself."""

    def __init__(self) -> None:
        super().__init__()
        self.document = Document()
        self.changes: list[Change] = []
        self.document.subscribe(self.changes.append)
        self.past: list[str] = []
        self.future: list[str] = []
        self.ids_given: set[str] = set()
        self.clipboard = ""

    # -- helpers

    @property
    def project(self) -> Project:
        return self.document.project

    def ids(self) -> list[str]:
        """The ids of all nodes, whatever graph they are in."""
        return [id for _, graph in self.project.graphs() for id in graph.nodes]

    def links(self) -> list[Link]:
        return [link for _, graph in self.project.graphs() for link in graph.links]

    def pick(self, number: int) -> str:
        ids = self.ids()
        return ids[number % len(ids)]

    def pick_together(self, numbers: list[int]) -> list[str]:
        """Nodes of one graph: that of the first."""
        scope = self.project.home(self.pick(numbers[0]))
        picked = [self.pick(number) for number in numbers]
        return [id for id in picked if self.project.home(id) == scope]

    def new_id(self, kind: str = "n") -> str:
        id = self.project.new_id(kind)
        assert id not in self.ids_given, "an id was given twice"
        self.ids_given.add(id)
        return id

    def do(self, label: str, *edits: Edit) -> None:
        before = as_saved(self.project)
        with self.document.step(label):
            for edit in edits:
                self.document.apply(edit)
        self.note(before)

    def note(self, before: str) -> None:
        """Remember a step, after it went back and forth once."""
        after = as_saved(self.project)
        if after == before:
            return
        self.document.undo()
        assert as_saved(self.project) == before
        self.document.redo()
        assert as_saved(self.project) == after
        self.past.append(before)
        self.future.clear()

    # -- edits

    @initialize(count=st.integers(2, 12))
    def begin(self, count: int) -> None:
        """A chain, so that the walk needn't spend its first half on getting somewhere."""
        ids = [self.new_id() for _ in range(count)]
        links = tuple(Link(first, "output", second, "x") for first, second in pairwise(ids))
        self.do("Begin", AddNodes(tuple(Node(id, "Linear", "layer") for id in ids), links))

    @rule(
        type=st.sampled_from(TYPES),
        name=NAMES,
        place=PLACES,
        params=st.dictionaries(PARAMS, VALUES, max_size=3),
    )
    def add(self, type: str, name: str, place: tuple[float, float], params: dict[str, object]) -> None:
        self.do("Add", AddNodes((Node(self.new_id(), type, name, params, place),)))

    @precondition(lambda self: self.ids())
    @rule(first=PICKS, second=PICKS, port=st.sampled_from(PORTS), end=st.sampled_from(PORTS))
    def connect(self, first: int, second: int, port: str, end: str) -> None:
        link = Link(self.pick(first), port, self.pick(second), end)
        graph = self.project.graph_of(self.project.home(link.target))
        joined = nx.DiGraph([(one.source, one.target) for one in graph.links])
        joined.add_edge(link.source, link.target)
        possible = nx.is_directed_acyclic_graph(joined) and graph.feeding(link.target, end) is None
        possible = possible and link.source in graph.nodes
        before = as_saved(self.project)
        try:
            self.do("Connect", Connect(link))
        except GraphError:
            assert not possible
            assert as_saved(self.project) == before
        else:
            assert possible

    @rule(ends=st.lists(st.tuples(PICKS, PICKS, st.sampled_from(PORTS)), min_size=1, max_size=4))
    def add_wired(self, ends: list[tuple[int, int, str]]) -> None:
        """Two nodes and links among everything, possible or not."""
        nodes = tuple(Node(self.new_id(), "Concatenate") for _ in range(2))
        ids = [*self.project.graph.nodes, *(node.id for node in nodes)] * 2
        links = tuple(Link(ids[a % len(ids)], "output", ids[b % len(ids)], port) for a, b, port in ends)
        before = as_saved(self.project)
        try:
            self.do("Add wired", AddNodes(nodes, links))
        except GraphError:
            assert as_saved(self.project) == before
        else:
            assert set(links) <= set(self.project.graph.links)

    @precondition(lambda self: self.links())
    @rule(number=PICKS)
    def disconnect(self, number: int) -> None:
        links = self.links()
        self.do("Disconnect", Disconnect(links[number % len(links)]))

    @precondition(lambda self: self.links())
    @rule(number=PICKS, second=PICKS, end=st.sampled_from(PORTS))
    def move_end(self, number: int, second: int, end: str) -> None:
        links = self.links()
        link = links[number % len(links)]
        before = as_saved(self.project)
        try:
            self.do(
                "Move wire",
                Disconnect(link),
                Connect(replace(link, target=self.pick(second), target_port=end)),
            )
        except GraphError:
            assert as_saved(self.project) == before, "half of a step was left"

    @precondition(lambda self: self.ids())
    @rule(numbers=st.lists(PICKS, min_size=1, max_size=4))
    def remove(self, numbers: list[int]) -> None:
        self.do("Delete", Remove(tuple(self.pick(number) for number in numbers)))

    @precondition(lambda self: self.ids())
    @rule(number=PICKS, name=PARAMS, value=st.one_of(VALUES, st.just(UNSET)))
    def set_param(self, number: int, name: str, value: object) -> None:
        self.do("Set", SetParam(self.pick(number), name, value))

    @precondition(lambda self: self.ids())
    @rule(number=PICKS, values=st.lists(st.integers(0, 3), min_size=1, max_size=4))
    def type_in_a_field(self, number: int, values: list[int]) -> None:
        before, id = as_saved(self.project), self.pick(number)
        self.document.seal()
        for value in values:
            at = as_saved(self.project)
            with self.document.step("Set", merge=f"{id}.units"):
                self.document.apply(SetParam(id, "units", value))
            if as_saved(self.project) != at:
                self.future.clear()  # also where it is typed back afterwards: what was undone is gone by then
        self.note(before)

    @precondition(lambda self: self.ids())
    @rule(number=PICKS, name=NAMES)
    def rename(self, number: int, name: str) -> None:
        self.do("Rename", Rename(self.pick(number), name))

    @precondition(lambda self: self.ids())
    @rule(places=st.dictionaries(PICKS, PLACES, min_size=1, max_size=3))
    def move(self, places: dict[int, tuple[float, float]]) -> None:
        self.do("Move", Move({self.pick(number): place for number, place in places.items()}))

    @rule(title=NAMES, notes=NAMES, batch=st.integers(1, 512), lr=st.floats(1e-6, 1))
    def describe(self, title: str, notes: str, batch: int, lr: float) -> None:
        plan = Plan(batch=batch).with_(optimiser=Choice("SGD", {"lr": lr}), epochs=batch)
        self.do("Describe", SetTitle(title), SetNotes(notes), SetPlan(plan))

    @rule(name=NAMES)
    def fail_half_way(self, name: str) -> None:
        before, revision = as_saved(self.project), self.document.revision
        with pytest.raises(GraphError), self.document.step("Fail"):
            self.document.apply(AddNodes((Node(self.new_id(), "Linear", name),)))
            self.document.apply(Remove(("n0",)))
        assert as_saved(self.project) == before
        assert self.document.revision == revision

    # -- clipboard

    @precondition(lambda self: self.ids())
    @rule(numbers=st.lists(PICKS, min_size=1, max_size=4))
    def copy(self, numbers: list[int]) -> None:
        self.clipboard = copy_text(self.project, self.pick_together(numbers))

    @precondition(lambda self: self.clipboard)
    @rule(at=PLACES)
    def paste(self, at: tuple[float, float]) -> None:
        before, there = as_saved(self.project), set(self.ids())
        pasted = paste(self.document, self.clipboard, at)
        assert pasted and not there.intersection(pasted) and not self.ids_given.intersection(pasted)
        self.ids_given.update(pasted)
        self.note(before)
        assert self.document.undo_label == "Paste"

    # -- history and files

    @rule()
    def undo(self) -> None:
        now = as_saved(self.project)
        assert (self.document.undo() is None) == (not self.past)
        if self.past:
            self.future.append(now)
            assert as_saved(self.project) == self.past.pop()
        else:
            assert as_saved(self.project) == now

    @rule()
    def redo(self) -> None:
        now = as_saved(self.project)
        assert (self.document.redo() is None) == (not self.future)
        if self.future:
            self.past.append(now)
            assert as_saved(self.project) == self.future.pop()
        else:
            assert as_saved(self.project) == now

    @rule()
    def there_and_back(self) -> None:
        end, steps = as_saved(self.project), len(self.past)
        for _ in range(steps):
            assert self.document.undo() is not None
        assert self.document.undo_label is None
        assert as_saved(self.project) == (self.past[0] if self.past else end)
        for _ in range(steps):
            assert self.document.redo() is not None
        assert as_saved(self.project) == end

    @rule()
    def save(self) -> None:
        self.document.mark_saved()
        assert not self.document.modified

    @rule()
    def save_and_load(self) -> None:
        text = to_text(self.project)
        self.document.replace(from_text(text))
        assert to_text(self.project) == text
        assert not self.document.modified
        self.past.clear()
        self.future.clear()

    # -- what always holds

    @invariant()
    def links_are_consistent(self) -> None:
        for _, graph in self.project.graphs():
            ids = list(graph.nodes)
            assert ids == sorted(ids, key=natural)
            assert list(graph.links) == sorted(graph.links)
            assert {id: node.id for id, node in graph.nodes.items()} == {id: id for id in ids}
            for link in graph.links:
                assert link.source in graph.nodes and link.target in graph.nodes
                assert graph.feeding(link.target, link.target_port) == link
            assert [link for id in ids for link in graph.outgoing(id)] == list(graph.links)
            assert sorted(link for id in ids for link in graph.incoming(id)) == list(graph.links)
            assert graph._bends.keys() <= set(graph.links)

    @invariant()
    def there_is_no_cycle(self) -> None:
        for _, graph in self.project.graphs():
            place = {id: index for index, id in enumerate(graph.order())}
            assert place.keys() == graph.nodes.keys()
            assert all(place[link.source] < place[link.target] for link in graph.links)
            fresh = nx.DiGraph([(link.source, link.target) for link in graph.links])
            for id in list(graph.nodes)[:3]:
                assert graph.descendants(id) == (nx.descendants(fresh, id) if id in fresh else set())

    @invariant()
    def a_file_gives_it_back(self) -> None:
        text = to_text(self.project)
        text.encode("utf-8")
        again = from_text(text)
        assert again == self.project
        assert to_text(again) == text

    @invariant()
    def the_history_is_as_long_as_the_steps(self) -> None:
        assert (self.document.undo_label is None) == (not self.past)
        assert (self.document.redo_label is None) == (not self.future)

    @invariant()
    def everyone_heard_of_everything(self) -> None:
        assert [change.revision for change in self.changes] == list(range(1, self.document.revision + 1))

    @invariant()
    def no_id_is_given_twice(self) -> None:
        project = self.project
        ids = [*self.ids(), *project.blocks, *project.frames, *project.notes_on_canvas]
        assert len(ids) == len(set(ids))
        self.ids_given.update(ids)
        assert all(int(id[1:]) < project.next_id for id in ids)

    @invariant()
    def a_fresh_name_is_free(self) -> None:
        graph = self.project.graph
        assert fresh_name(graph, "conv") not in {node.name for node in graph.nodes.values()}


DocumentWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("NEUROLOOM_WALKS", "60")), stateful_step_count=40, deadline=None
)
TestDocumentWalk = DocumentWalk.TestCase
