"""The random walk goes on into blocks: nesting, sharing, muting, bending, framing, and a second document.

HYPOTHESIS_PROFILE=search walks new ways; NEUROLOOM_WALKS sets how many.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from engine.document.blocks import copy_independent, group, ungroup
from engine.document.clipboard import copy_text, paste
from engine.document.document import Document
from engine.document.dressing import COLOURS, Frame, Note
from engine.document.edits import (
    NODE_ID,
    AddFrame,
    AddNodes,
    AddNote,
    ChangeFrame,
    ChangeNote,
    Edit,
    RemoveBlock,
    RemoveFrame,
    RemoveNote,
    RenameBlock,
    SetBends,
    SetMuted,
    SetParam,
    SetShares,
)
from engine.document.files import from_text, to_text
from engine.document.graph import Link, Node
from engine.document.scopes import verify
from engine.errors import GraphError, ProjectFileError
from tests.engine.document.test_walk import NAMES, PICKS, PLACES, DocumentWalk, as_saved

SEVERAL = st.lists(PICKS, min_size=1, max_size=4)


class DrawingWalk(DocumentWalk):
    """The walk over the document, and over everything that is drawn beside its nodes and wires."""

    def __init__(self) -> None:
        super().__init__()
        self.other = Document()

    @initialize(bend=PLACES, shared=st.booleans())
    def begin_drawn(self, bend: tuple[float, float], shared: bool) -> None:
        """Two blocks in each other, one of them twice, with something of everything around them."""
        ids = [self.new_id() for _ in range(6)]
        nodes = [Node(id, "Linear", "layer", position=(100.0 * i, 0.0)) for i, id in enumerate(ids)]
        links = tuple(Link(first, "output", second, "x") for first, second in pairwise(ids))
        if shared:
            nodes[2] = replace(nodes[2], shares=ids[1])
        self.do("Begin", AddNodes(tuple(nodes), links, bends=dict.fromkeys(links, (bend,))))
        self.do("Frame", AddFrame(Frame(self.new_id("f"), "inner", members=frozenset(ids[1:3]))))
        self.do("Group", *group(self.project, ids[1:3], "Inner"))
        (inner,) = self.instances()
        self.do("Group", *group(self.project, [inner, ids[3]], "Outer"))
        (block,) = (block.id for block in self.project.blocks.values() if block.name == "Inner")
        again = Node(self.new_id(), "Block", "again", {"block": block})
        port = next(
            node.id for node in self.project.graph_of(block).nodes.values() if node.type == "BlockInput"
        )
        self.do("Add", AddNodes((again,), (Link(ids[0], "output", again.id, port),)))

    # -- helpers

    def do(self, label: str, *edits: Edit) -> None:
        lost = self.lost_ports()
        super().do(label, *edits)
        if label != "Change":
            assert lost or not self.lost_ports(), "a wire is left at a port that is gone"

    def lost_ports(self) -> set[Link]:
        """The wires at instances whose ports, named by ids, aren't in the definition."""
        found = set()
        for _, graph in self.project.graphs():
            for link in graph.links:
                for id, port in ((link.source, link.source_port), (link.target, link.target_port)):
                    block = self.project.blocks.get(graph.node(id).block)
                    if block is not None and NODE_ID.fullmatch(port) and port not in block.graph.nodes:
                        found.add(link)
        return found

    def scopes(self) -> list[str]:
        return [scope for scope, _ in self.project.graphs()]

    def instances(self) -> list[str]:
        return [id for id in self.ids() if self.project.node(id).block]

    def attempt(self, label: str, *edits: Edit) -> bool:
        """Do what may be impossible; then nothing may have changed."""
        before, revision = as_saved(self.project), self.document.revision
        try:
            self.do(label, *edits)
        except GraphError:
            assert as_saved(self.project) == before and self.document.revision == revision
            return False
        return True

    # -- blocks

    @precondition(lambda self: self.ids())
    @rule(numbers=SEVERAL, name=NAMES)
    def group(self, numbers: list[int], name: str) -> None:
        project, ids = self.project, self.pick_together(numbers)
        before, known = as_saved(project), set(self.ids())
        exact = not any(
            frame.members & set(ids) and not (frame.members <= set(ids) or frame.members > set(ids))
            for frame in project.frames.values()
        )
        try:
            edits = group(project, ids, name)
        except GraphError:
            assert as_saved(project) == before
            return
        self.do("Group", *edits)
        (instance,) = (id for id in self.instances() if id not in known)
        assert {project.home(id) for id in ids} == {project.node(instance).block}
        twin = project.copy()
        for edit in ungroup(twin, instance):
            edit.apply(twin)
        if exact:
            assert as_saved(twin) == before

    @precondition(lambda self: self.instances())
    @rule(number=PICKS)
    def ungroup(self, number: int) -> None:
        instances = self.instances()
        instance = instances[number % len(instances)]
        before = as_saved(self.project)
        try:
            edits = ungroup(self.project, instance)
        except GraphError:
            assert as_saved(self.project) == before
            return
        self.do("Ungroup", *edits)
        assert instance not in self.ids()

    @precondition(lambda self: self.project.blocks)
    @rule(number=PICKS, into=PICKS, times=st.sampled_from([1, 1, 3]))
    def add_instance(self, number: int, into: int, times: int) -> None:
        blocks, scopes = list(self.project.blocks), self.scopes()
        block, scope = blocks[number % len(blocks)], scopes[into % len(scopes)]
        inside = scope == block or (scope != "" and scope in self.project.contents(block))
        node = Node(self.new_id(), "Block", "copy", {"block": block, "times": times})
        assert self.attempt("Add", AddNodes((node,), into=scope)) is not inside

    @precondition(lambda self: self.instances() and self.project.blocks)
    @rule(number=PICKS, other=PICKS)
    def change_block(self, number: int, other: int) -> None:
        instances, blocks = self.instances(), list(self.project.blocks)
        block = blocks[other % len(blocks)]
        self.attempt("Change", SetParam(instances[number % len(instances)], "block", block))

    @precondition(lambda self: self.instances())
    @rule(number=PICKS)
    def make_independent(self, number: int) -> None:
        instances = self.instances()
        instance = instances[number % len(instances)]
        self.do("Independent", *copy_independent(self.project, instance))
        assert self.project.instances(self.project.node(instance).block) == [instance]

    @precondition(lambda self: self.project.blocks)
    @rule(number=PICKS, name=NAMES)
    def rename_or_remove_block(self, number: int, name: str) -> None:
        block = list(self.project.blocks)[number % len(self.project.blocks)]
        self.do("Rename", RenameBlock(block, name))
        used = bool(self.project.instances(block))
        assert self.attempt("Remove", RemoveBlock(block)) is not used

    # -- what nodes and wires have beside their values

    @precondition(lambda self: self.ids())
    @rule(numbers=SEVERAL, muted=st.booleans())
    def mute(self, numbers: list[int], muted: bool) -> None:
        self.do("Mute", SetMuted(tuple(self.pick(number) for number in numbers), muted))

    @precondition(lambda self: self.ids())
    @rule(first=PICKS, second=PICKS, alone=st.booleans())
    def share(self, first: int, second: int, alone: bool) -> None:
        node, other = self.pick(first), self.pick(second)
        done = self.attempt("Share", SetShares(node, "" if alone else other))
        if done and not alone:
            graph = self.project.graph_of(self.project.home(node))
            assert graph.weights_of(node) == graph.weights_of(other) != node

    @precondition(lambda self: self.links())
    @rule(number=PICKS, points=st.lists(PLACES, max_size=3))
    def bend(self, number: int, points: list[tuple[float, float]]) -> None:
        links = self.links()
        self.do("Bend", SetBends(links[number % len(links)], tuple(points)))

    # -- frames and notes

    @precondition(lambda self: self.ids())
    @rule(numbers=SEVERAL, title=NAMES, colour=st.sampled_from([*COLOURS, "octarine"]))
    def frame(self, numbers: list[int], title: str, colour: str) -> None:
        members = frozenset(self.pick_together(numbers))
        scope = self.project.home(next(iter(members)))
        self.do("Frame", AddFrame(Frame(self.new_id("f"), title, colour, members, scope)))

    @precondition(lambda self: self.project.frames)
    @rule(number=PICKS, more=PICKS, remove=st.booleans())
    def change_frame(self, number: int, more: int, remove: bool) -> None:
        frame = list(self.project.frames.values())[number % len(self.project.frames)]
        if remove:
            self.do("Unframe", RemoveFrame(frame.id))
        else:
            wider = replace(frame, title="wider", members=frame.members | {self.pick(more)})
            self.attempt("Frame", ChangeFrame(wider))

    @rule(number=PICKS, text=NAMES, place=PLACES)
    def note_on_canvas(self, number: int, text: str, place: tuple[float, float]) -> None:
        scopes = self.scopes()
        self.do("Note", AddNote(Note(self.new_id("t"), text, place, scope=scopes[number % len(scopes)])))

    @precondition(lambda self: self.project.notes_on_canvas)
    @rule(number=PICKS, text=NAMES, remove=st.booleans())
    def change_note(self, number: int, text: str, remove: bool) -> None:
        note = list(self.project.notes_on_canvas.values())[number % len(self.project.notes_on_canvas)]
        self.do("Note", RemoveNote(note.id) if remove else ChangeNote(replace(note, text=text)))

    # -- clipboard

    @precondition(lambda self: self.clipboard)
    @rule(at=PLACES, number=PICKS, independent=st.booleans())
    def paste(self, at: tuple[float, float], number: int = 0, independent: bool = False) -> None:
        before, there, lost = as_saved(self.project), set(self.ids()), self.lost_ports()
        revision, blocks = self.document.revision, set(self.project.blocks)
        scopes = self.scopes()
        into = scopes[number % len(scopes)]
        try:
            pasted = paste(self.document, self.clipboard, at, into, independent)
        except (GraphError, ProjectFileError) as error:
            assert (
                "no place outside" if self.only_ports() and not into else "contain itself"
            ) in error.message
            assert as_saved(self.project) == before and self.document.revision == revision
            return
        assert pasted and not there.intersection(pasted) and not self.ids_given.intersection(pasted)
        assert {self.project.home(id) for id in pasted if id.startswith("n")} <= {into}
        if independent:
            assert not {self.project.node(id).block for id in pasted if id.startswith("n")} & blocks
        assert lost or not self.lost_ports()
        self.note(before)
        assert self.document.undo_label == "Paste"

    @precondition(lambda self: self.ids())
    @rule(numbers=SEVERAL)
    def copy_with_notes(self, numbers: list[int]) -> None:
        ids = [*self.pick_together(numbers), *list(self.project.notes_on_canvas)[:2]]
        self.clipboard = copy_text(self.project, ids)

    def only_ports(self) -> bool:
        """Whether what was copied has no meaning outside a block."""
        copied = json.loads(self.clipboard)
        types = {node["type"] for node in copied["nodes"]}
        return types <= {"BlockInput", "BlockOutput"} and "notes_on_canvas" not in copied

    @precondition(lambda self: self.clipboard and not self.only_ports())
    @rule(at=PLACES)
    def paste_into_the_other_document(self, at: tuple[float, float]) -> None:
        """And change everything there: nothing of it may be seen here."""
        ours, theirs = as_saved(self.project), as_saved(self.other.project)
        there = len(self.other.project.graph.links)
        paste(self.other, self.clipboard, at)
        copied = json.loads(self.clipboard)
        if "blocks" not in copied and not any(node["type"].startswith("Block") for node in copied["nodes"]):
            assert len(self.other.project.graph.links) == there + len(copied["links"])
        verify(self.other.project)
        assert from_text(to_text(self.other.project)) == self.other.project
        pasted = self.other.revision
        with self.other.step("Change"):
            for _, graph in self.other.project.graphs():
                for id in list(graph.nodes):
                    self.other.apply(SetParam(id, "changed", True))
        assert as_saved(self.project) == ours
        if self.other.revision > pasted:  # else there are notes alone, and no node to change
            self.other.undo()
        self.other.undo()
        assert as_saved(self.other.project) == theirs
        self.other.redo()

    @precondition(lambda self: self.other.project.graph.nodes)
    @rule(number=PICKS)
    def copy_from_the_other_document(self, number: int) -> None:
        ids = list(self.other.project.graph.nodes)
        self.clipboard = copy_text(self.other.project, ids[number % len(ids) :][:4])


DrawingWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("NEUROLOOM_WALKS", "60")),
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # on a busy machine its first step takes long
)
TestDrawingWalk = DrawingWalk.TestCase
