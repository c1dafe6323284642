"""What one tab works on: the document, what is selected, its shapes and its trainer.

Panels and the canvas hold what they use of it (`app.workspace.open_document`), and nothing of each
other. It is the only place where the document meets the engine parts that need torch, which arrive some
seconds after the window.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.workspace.engine_parts import EngineParts, RunControl, Shapes
from app.workspace.engine_start import EngineStart
from app.workspace.news import RunNews
from app.workspace.places import Places
from app.workspace.scopes import ROOT, Trail, only_drawn, trail_to, what_is_left
from app.workspace.settings import Settings
from engine.catalogue import Catalogue, NodeType, load_catalogue
from engine.document.document import Change, Document
from engine.document.edits import Edit
from engine.document.graph import Graph, Node, Project
from engine.document.shipped import datasets_folder
from engine.errors import NeuroloomError, TrainingError
from engine.shapes.problems import Problem

log = logging.getLogger(__name__)

POLL_MS = 50
TRAINER_DELAY_MS = 150
UNTRAINABLE = ("no-loss", "no-data")  # problems of a graph that is whole but for what training needs
ACTIVE = ("loading", "running", "paused", "stopping")
DEVICES = {"automatic": "auto", "cpu": "cpu", "cuda": "cuda", "mps": "mps"}


def checkpoints_kept(settings: Settings) -> tuple[int, int]:
    """Every how many epochs a checkpoint is kept (0: none beside last and best), and how many of those."""
    every = settings.number("training/checkpoint_every", 0)
    return every, settings.number("training/checkpoints_kept", 3, 1)


class Workspace(QObject):
    """Document, catalogue, selection, shapes and trainer of one tab.

    `shapes` and `trainer` are None until `engine_ready` was emitted.
    Every signal is emitted in the window's thread.
    """

    changed = Signal(object)  # engine.document.document.Change, after every step, undo, redo and load
    inferred = Signal()  # shapes, parameter counts and problems are up to date with the document
    selected = Signal(tuple)  # ids of the selected nodes
    ticked = Signal()  # the trainer's feed holds something new; at most 30 times a second
    state_changed = Signal(str)  # the trainer's state
    message = Signal(str, str)  # sentence for the user, "info" | "warning" | "error"
    node_message = Signal(str, str, str)  # the same with the node that it is about
    advised = Signal(object)  # engine.feed.feed.Event, what a run says
    settled = Signal(str)  # what an advised event was about is over; "" whatever a run said
    replaced = Signal(Path)  # the folder of a run that another has taken the place of
    engine_ready = Signal()
    title_changed = Signal()  # file name or unsaved mark
    starting = Signal()  # a run is about to begin
    closing = Signal()  # threads that work for the window end now
    revealed = Signal(str)  # a panel asks the canvas to show this node
    framed = Signal()  # a panel asks the canvas to show the whole graph
    scope_changed = Signal(str)  # another graph is shown: "" the whole network, or a block's id
    parts_shown = Signal()  # `parts` has changed
    layer_stepped = Signal()  # `layer_step` has changed
    file_wanted = Signal(str, object)  # a data node must read this Path; None: the user chooses one
    reading_wanted = Signal(str, str)  # a data node's file must be read by a node of this type in its place
    editor_wanted = Signal(str)  # the editor of its own that a node has, such as a pad to draw on, must open
    data_opened = Signal(str)  # a data node holds what was found in a file, with `remarks` on it

    def __init__(
        self,
        places: Places,
        catalogue: Catalogue | None = None,
        document: Document | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.places = places
        self.settings = places.settings()
        self.catalogue = catalogue or load_catalogue()
        self.document = document or Document()
        self.selection: tuple[str, ...] = ()
        # What the objective in the plan editor does with nodes: "trained", "frozen" or "untouched".
        self.parts: dict[str, str] = {}
        # The piece of a batch that is shown node by node (`engine.train.layer_steps.Piece`); empty for none.
        self.layer_step: Mapping[str, Any] = {}
        # What was said of a file when it was opened, by data node; not a part of the project.
        self.remarks: dict[str, tuple[str, ...]] = {}
        self.trail: Trail = ROOT
        self.loading = False  # whether a change of scope comes with another project
        self._entered: Trail = ROOT  # where the project that is being loaded will be shown
        self.shapes: Shapes | None = None
        self.trainer: RunControl | None = None
        self.engine: EngineParts | None = None
        self.engine_error: str | None = None
        self.train_when_ready = False  # asked for while the engine was starting
        self.takes_up: Path | None = None  # the stored run that it goes on with
        self._start: EngineStart | None = None
        self._own_start: EngineStart | None = None
        self._feed_version = -1
        self._news = RunNews(self)
        self._state = "idle"
        self._title: tuple[Path | str, bool] | None = None
        self._unsubscribe = self.document.subscribe(self._document_changed)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._look)
        self._retrain = QTimer(self)
        self._retrain.setSingleShot(True)
        self._retrain.setInterval(TRAINER_DELAY_MS)
        self._retrain.timeout.connect(self._tell_trainer)

    @property
    def owner(self) -> QObject:
        """The parent of what lives as long as the document."""
        return self

    # -- engine -----------------------------------------------------------------------------------

    def start_engine(self) -> None:
        """Begins to load torch in the background; call once, after the window is shown."""
        if self._start is None and self.shapes is None:
            self._own_start = EngineStart()
            self._own_start.begin()
            self.wait_for(self._own_start)

    def wait_for(self, start: EngineStart) -> None:
        """Takes the engine from a start that several workspaces use; whoever began it waits for its end."""
        if self._start is None and self.shapes is None:
            self._start = start
            self._poll.start()

    def adopt_engine(self, parts: EngineParts) -> None:
        """Creates shapes and trainer from loaded engine parts and brings them up to date."""
        self.engine = parts
        self.shapes = parts.shape_book(self.catalogue)
        self.trainer = parts.trainer(self.catalogue, datasets_folder(), self.places.runs)
        self._poll.start()
        self._infer(None)
        self.engine_ready.emit()
        self._retrain.start()
        if self.train_when_ready:
            self.train_when_ready = False
            self.train()

    @property
    def state(self) -> str:
        """The trainer's state: "idle", "loading", "running", "paused", "stopping", "finished" or "failed"."""
        return self.trainer.state if self.trainer is not None else "idle"

    @property
    def training(self) -> bool:
        """Whether a run is under way, paused included."""
        return self.state in ACTIVE

    @property
    def device(self) -> str:
        """What to train on, a key of DEVICES; a choice of this computer, not of the project."""
        stored = self.settings.text("training/device", "automatic")
        return stored if stored in DEVICES else "automatic"

    def set_device(self, name: str) -> None:
        """Remembers what to train on, for the next run. KeyError for a name that DEVICES lacks."""
        assert DEVICES[name]
        self.settings.keep("training/device", name)
        self._infer(frozenset())

    # -- scope ------------------------------------------------------------------------------------

    @property
    def scope(self) -> str:
        """What the canvas shows: "" the whole network, or a block by its id. Always there in the project."""
        return self.trail[-1]

    @property
    def graph(self) -> Graph:
        """The graph that the canvas shows."""
        return self.document.project.graph_of(self.scope)

    @property
    def way(self) -> tuple[tuple[str, str], ...]:
        """The scopes from the root to the one on show, each with its name."""
        project = self.document.project
        title = project.title or "Untitled"
        return tuple((scope, project.block(scope).name or scope if scope else title) for scope in self.trail)

    def enter(self, scope: str) -> None:
        """Shows another graph of the project, with nothing selected; an unknown scope is none."""
        project = self.document.project
        if scope != self.scope and (not scope or scope in project.blocks):
            self._go(trail_to(project, scope, self.trail))

    def leave(self) -> None:
        """Shows the graph around the block on show, with the block's node selected; at the root, nothing."""
        if len(self.trail) == 1:
            return
        left = self.scope
        self._go(self.trail[:-1])
        around = self.graph.nodes.values()
        self.select([node.id for node in around if node.block == left][:1])

    def _go(self, trail: Trail) -> None:
        self.select(())
        self.trail = trail
        self.scope_changed.emit(self.scope)

    def _begin_at(self, trail: Trail) -> None:
        """Shows another project; what was selected in the last one means nothing in it."""
        moved, chosen = trail[-1] != self.scope, self.selection
        self.trail, self.selection = trail, ()
        if chosen:
            self.selected.emit(())
        if moved:
            self.loading = True
            self.scope_changed.emit(self.scope)
            self.loading = False

    def _stay_inside(self) -> None:
        """Leaves blocks that an edit or undo has taken away."""
        trail = what_is_left(self.document.project, self.trail)
        if trail != self.trail:
            self._begin_at(trail)  # the graph of the old scope may be gone already

    # -- selection --------------------------------------------------------------------------------

    def select(self, ids: Iterable[str], *, seal: bool = True) -> None:
        """Selects these nodes and no others; ids that are not in the graph on show are left out.

        What is edited next is a step of its own, unless `seal` is false.
        """
        nodes = self.graph.nodes
        wanted = tuple(node_id for node_id in dict.fromkeys(ids) if node_id in nodes)
        if wanted != self.selection:
            self.selection = wanted
            if seal:
                self.document.seal()
            self.selected.emit(wanted)

    def node(self, node_id: str) -> Node | None:
        """The node with this id, in whatever scope it is."""
        graph = self.graph_around(node_id)
        return graph.nodes[node_id] if graph is not None else None

    def graph_around(self, node_id: str) -> Graph | None:
        """The graph that holds a node, if any does."""
        graphs = (graph for _, graph in self.document.project.graphs())
        # Nearly always the one on show.
        return next((graph for graph in (self.graph, *graphs) if node_id in graph.nodes), None)

    def type_of(self, node: Node) -> type[NodeType] | None:
        """The catalogue's type of a node; None for a placeholder."""
        return self.catalogue.get(node.type)

    def has_editor(self, node_id: str) -> bool:
        """Whether a node has an editor of its own, which `editor_wanted` opens."""
        node = self.node(node_id)
        kind = self.type_of(node) if node is not None else None
        return kind is not None and bool(kind.editor)

    def reveal(self, node_id: str) -> None:
        """Selects a node, in whatever scope it is, and asks the canvas to bring it into view."""
        if self.node(node_id) is not None:
            self.enter(self.document.project.home(node_id))
            self.select((node_id,))
            self.revealed.emit(node_id)

    def show_parts(self, parts: dict[str, str]) -> None:
        """Has the canvas show what an objective does with its nodes; nothing for {}."""
        if parts != self.parts:
            self.parts = parts
            self.parts_shown.emit()

    # -- editing ----------------------------------------------------------------------------------

    def apply(self, label: str, *edits: Edit, merge: str | None = None) -> bool:
        """Makes one undoable step of `edits`; False, with a message that says why, when it cannot be made."""
        try:
            with self.document.step(label, merge=merge):
                for edit in edits:
                    self.document.apply(edit)
        except NeuroloomError as error:
            self.message.emit(str(error), "error")
            return False
        return True

    def show(self, project: Project, path: Path | None, scope: str = "") -> None:
        """Shows another project, from inside the block `scope` if it has it; the history starts afresh."""
        self._entered = trail_to(project, scope if scope in project.blocks else "", ROOT)
        self.document.replace(project, path)
        self._entered = ROOT
        self.announce_title()

    def seal(self) -> None:
        """What is edited next is a step of its own. For signals to connect to: the document is no QObject."""
        self.document.seal()

    def undo(self) -> None:
        """Takes the last step back."""
        self.document.undo()

    def redo(self) -> None:
        """Makes the last undone step again."""
        self.document.redo()

    def announce_title(self) -> None:
        """Emits `title_changed` if the file name or the unsaved mark differ from what was last announced."""
        title = (self.document.path or self.document.project.title, self.document.modified)
        if title != self._title:
            self._title = title
            self.title_changed.emit()

    def _document_changed(self, change: Change) -> None:
        loaded = change.kind == "load"
        if loaded:
            self.train_when_ready = False
            self._begin_at(self._entered)
        else:
            self._stay_inside()
        nodes = self.graph.nodes
        kept = tuple(node_id for node_id in self.selection if node_id in nodes)
        if kept != self.selection:
            self.selection = kept
            self.selected.emit(kept)
        self.changed.emit(change)
        self.announce_title()
        if loaded:
            if self.trainer is not None and (self.training or self.trainer.feed.series()):
                # Weights and curves belong to the project that is gone.
                self.trainer.reset()
            self._infer(None)
        elif not only_drawn(change.edits):
            self._infer(change.touched)
        else:
            return
        if self.trainer is not None:
            self._retrain.start()

    def _infer(self, touched: frozenset[str] | None) -> None:
        if self.shapes is not None:
            self.shapes.device = DEVICES[self.device]
            self.shapes.update(self.document.project, touched)
            self.inferred.emit()

    def note(self, source: str, problems: Iterable[Problem]) -> None:
        """Lists what `source` has found beside the shapes, in place of what it found before."""
        if self.shapes is not None:
            stood_still = bool(self.shapes.errors)
            self.shapes.note(source, problems, self.document.project)
            self.inferred.emit()
            if stood_still and not self.shapes.errors and self.trainer is not None:
                self._retrain.start()

    # -- training ---------------------------------------------------------------------------------

    def errors(self) -> list[Problem]:
        """The problems that keep the graph from training; empty while the engine is still starting."""
        if self.shapes is None:
            return []
        if not self.document.project.graph.nodes:
            return [
                Problem(None, "There is nothing to train yet: add data, layers and a loss.", code="empty")
            ]
        return [one for one in self.shapes.problems if one.severity == "error" or one.code in UNTRAINABLE]

    @property
    def can_train_more(self) -> bool:
        """Whether there is a run that has ended and can go on from where it did."""
        if self.trainer is None:
            return False
        return self.state == "finished" or (self.state == "idle" and self.trainer.progress.step > 0)

    def train(self, weights: Path | None = None, *, again: bool = False) -> bool:
        """Starts a run of the document as it stands; False, with a message, when it cannot be trained.

        Layers that fit begin with `weights`: a run's folder, a checkpoint, a safetensors or a .pt file.
        A run that is under way goes on, unless another is to begin `again`.
        """
        if self.training and not again:
            return True
        if self.trainer is None:
            if weights is None and self.engine_error is None:
                self.train_when_ready = True
                self.message.emit(
                    "The engine is still starting; training begins by itself in a moment.", "info"
                )
            else:
                words = self.engine_error or "The engine is still starting; try again in a moment."
                self.message.emit(words, "info")
            return False
        if not self._may_train():
            return False
        self._retrain.stop()
        self.starting.emit()
        before, self.takes_up = self.trainer.folder if self.trainer.progress.step else None, None
        try:
            self.trainer.keep(*checkpoints_kept(self.settings))
            project, revision = self.document.snapshot(), self.document.revision
            self.trainer.start(project, revision, device=DEVICES[self.device], weights=weights)
        except NeuroloomError as error:
            self.message.emit(str(error), "error")
            return False
        if before is not None:
            self.replaced.emit(before)
        return True

    def go_on(self) -> bool:
        """Lets a run that pauses or has ended train on; False, with a message, when that cannot be."""
        if self.trainer is None or not self._may_train():
            return False
        if self.state == "paused":
            self.trainer.resume()
        elif self.can_train_more:
            self.trainer.more()
        return True

    def _may_train(self) -> bool:
        errors = self.errors()
        if errors:
            node_id = errors[0].node_id
            self._tell(errors[0].message, "error", node_id)
            if node_id:
                self.reveal(node_id)
        return not errors

    def continue_run(self, folder: Path, *, at_rest: bool = False) -> None:
        """Takes up a stored run of this very document, and trains on from where it ended unless `at_rest`."""
        if self.trainer is not None:
            self._retrain.stop()
            self.takes_up = folder
            project, revision = self.document.snapshot(), self.document.revision
            self.trainer.continue_from(folder, project, revision, at_rest=at_rest)

    def _tell_trainer(self) -> None:
        if self.trainer is None:
            return
        if errors := self.errors():
            if self.training:
                first = errors[0]
                self.trainer.hold(TrainingError(first.message, node_id=first.node_id))
            return
        project, revision = self.document.snapshot(), self.document.revision
        try:
            if self.training:
                self.trainer.update(project, revision)
            else:
                self.trainer.prepare(project, revision)
        except NeuroloomError as error:
            self.message.emit(str(error), "error")

    def _look(self) -> None:
        start = self._start
        if start is not None:
            if self.shapes is None and start.parts is not None:
                self.adopt_engine(start.parts)
            if start.finished:
                self._start = None
                if start.error:
                    self.engine_error = start.error
                    self.message.emit(start.error, "error")
        trainer = self.trainer
        if trainer is None:
            return
        if trainer.state != self._state:
            self._state = trainer.state
            self.state_changed.emit(self._state)
        version = trainer.feed.version
        if version != self._feed_version:
            self._feed_version = version
            self._news.pass_on(trainer.feed)
            self.ticked.emit()

    def _tell(self, sentence: str, kind: str, node_id: str | None) -> None:
        if node_id and self.node(node_id) is not None:
            self.node_message.emit(sentence, kind, node_id)
        else:
            self.message.emit(sentence, kind)

    # -- end --------------------------------------------------------------------------------------

    def close(self, timeout: float = 10.0) -> None:
        """Ends timers and threads: a run is checkpointed and stopped, a loading engine is waited for."""
        self.closing.emit()
        self._poll.stop()
        self._retrain.stop()
        self._unsubscribe()
        self._start = None
        if self._own_start is not None:
            self._own_start.join()
            self._own_start = None
        if self.trainer is not None:
            self.trainer.close(timeout)
