"""Edits of the blocks of a project: their definitions. Nodes inside are changed like any others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.document.edit_base import NODE_ID, Edit, Together, checked_text, keep_ids, one_of, with_one
from engine.document.edits_canvas import AddFrame, AddNote
from engine.document.graph import Block, Project
from engine.document.scopes import refuse_instance, refuse_sharing, refuse_taken
from engine.errors import GraphError


@dataclass(frozen=True)
class AddBlock(Edit):
    """Add the definition of a block, with the nodes in it; its instances come by AddNodes."""

    block: Block

    def __post_init__(self) -> None:  # a graph that goes on changing must not change under the history
        object.__setattr__(self, "block", self.block.copy())

    def apply(self, project: Project) -> Edit:
        block = self.block.copy()
        nodes = block.graph.nodes
        if block.id in project.blocks:
            raise GraphError(f'There are two blocks with the id "{block.id}".')
        for id in nodes:
            if not NODE_ID.fullmatch(id):
                raise GraphError(f'A node\'s id is "n" and a number, not "{id[:40]}".')
        refuse_taken(project, nodes)
        for node in nodes.values():
            refuse_sharing(block.graph, node)
            if node.block == block.id:
                raise GraphError(f'The block "{block.name or block.id}" cannot contain itself.')
            if node.block:
                refuse_instance(project, "", node.block, node.id)
        project.blocks = with_one(project.blocks, block.id, block)
        keep_ids(project, block.id, *nodes)
        return RemoveBlock(block.id)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.block.graph.nodes)


@dataclass(frozen=True)
class RemoveBlock(Edit):
    """Remove the definition of a block that has no instances, with the frames and notes in it."""

    block_id: str

    def apply(self, project: Project) -> Edit:
        block = project.block(self.block_id)
        if project.instances(self.block_id):
            raise GraphError(f'The block "{(block.name or block.id)[:40]}" is in use.')
        del project.blocks[self.block_id]
        frames = [frame for frame in project.frames.values() if frame.scope == block.id]
        notes = [note for note in project.notes_on_canvas.values() if note.scope == block.id]
        for frame in frames:
            del project.frames[frame.id]
        for note in notes:
            del project.notes_on_canvas[note.id]
        back = (AddBlock(block), *map(AddFrame, frames), *map(AddNote, notes))
        return back[0] if len(back) == 1 else Together(back)


@dataclass(frozen=True)
class RenameBlock(Edit):
    """Give a block another name; it is the one under which all its instances are known."""

    block_id: str
    name: str

    def apply(self, project: Project) -> Edit:
        block = one_of(project.blocks, self.block_id, "block")
        named = replace(block, name=checked_text(self.name, "A block's name"))
        project.blocks[self.block_id] = named
        return RenameBlock(self.block_id, block.name)
