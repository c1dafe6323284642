"""Files and folders become data nodes: looked into beside the window, added as one step."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.canvas.editing.first_plan import first_plan
from app.canvas.items.geometry import FIRST_PORT, TALL, WIDTH, Point, finite, free_spot, snapped
from app.canvas.view import GraphView
from app.data.card import OpeningCard
from app.data.import_page import ImportPage
from app.widgets.background import Background
from app.widgets.banner import Notice
from app.workspace.data_files import choose, path_spec, table_params
from app.workspace.document_file import DocumentFile
from app.workspace.thread_progress import ThreadProgress
from app.workspace.workspace import Workspace
from engine.data.open.importing import guessed_form, is_text
from engine.data.open.opening import Opened, open_data, open_for, stamp
from engine.data.open.replacing import replaced
from engine.data.tables.sniff import TYPED, Form, form_in, params_of
from engine.data.watch import Stopped, Watch
from engine.document.document import Change
from engine.document.edits import AddNodes, Edit, SetParam
from engine.document.graph import Node
from engine.document.names import names_of
from engine.errors import DataError, NeuroloomError, reason_of
from engine.shapes.rewire import replacing
from engine.values import Value

log = logging.getLogger(__name__)

PATIENCE_MS = 200  # what is opened sooner needs no card
LOOK_MS = 60
PAIRS = "TextPairs"
TEXTS = (".csv", ".tsv", ".tab", ".dat", ".arff", ".txt", ".data")  # that hold tables, by their names
SECOND = "Its lines belong to those of a second file: choose that one, too."
STEP = TALL + 24.0  # from one new node down to the next


@dataclass(frozen=True)
class Wanted:
    """What to open: `place` is where the first node's corner goes (scene), `onto` a node it may be for.

    `sure` says that the node must read the file, without a question; `form` are the parameters of a table's
    node that reads its own file again, and says how. `type_id` asks for a node of that type in its place.
    For a node of `pairs`, `second` is the file whose lines go with those of the first, where it is chosen.
    """

    paths: tuple[Path, ...]
    place: Point | None = None
    onto: str = ""
    sure: bool = False
    form: Mapping[str, Value] | None = None
    type_id: str = ""
    pairs: bool = False
    second: Path | None = None


@dataclass(frozen=True)
class Found:
    """What was opened of what was wanted, and a sentence for each that was not."""

    wanted: Wanted
    opened: tuple[tuple[Path, Opened], ...] = ()
    errors: tuple[str, ...] = ()
    stopped: bool = False
    ask: tuple[Form, str] | None = None  # how its one file may be written, and why the user is asked


def look_into(wanted: Wanted, progress: ThreadProgress) -> Found:
    """Opens one path after another; called in a thread. What fails is a sentence, and the rest goes on."""
    opened: list[tuple[Path, Opened]] = []
    errors: list[str] = []
    for path in wanted.paths:
        progress.name, progress.fraction, progress.doing = path.name, None, "looking"
        try:
            opened.append((path, _opened(path, wanted, progress.watch())))
        except Stopped:
            return Found(wanted, stopped=True)
        except NeuroloomError as error:
            errors.append(str(error))
        except MemoryError:
            errors.append(f'"{path.name}" does not fit into memory.')
        except Exception as error:  # an opener, or a library below it, may fail in any way
            log.exception("%s could not be opened", path)
            errors.append(f'"{path.name}" could not be opened: {reason_of(error)}')
    return Found(wanted, tuple(opened), tuple(errors), ask=_asks(wanted, opened, errors))


def _asks(
    wanted: Wanted, opened: Sequence[tuple[Path, Opened]], errors: Sequence[str]
) -> tuple[Form, str] | None:
    """How the one file may be written, where the user has to say it."""
    path = wanted.paths[0]
    if len(wanted.paths) > 1 or wanted.type_id or wanted.pairs or not path.name.casefold().endswith(TEXTS):
        return None
    if errors and is_text(path):
        return (form_in(wanted.form) if wanted.form is not None else guessed_form(path)), errors[0]
    if not opened or wanted.form is not None or wanted.onto:
        return None
    form = form_in(opened[0][1].params)
    odd = form.decimal == "," or form.delimiter not in (",", ";", "\t", "arff")
    return (form, "This table is written in an unusual way: is it read as you mean it?") if odd else None


def _opened(path: Path, wanted: Wanted, watch: Watch) -> Opened:
    if wanted.type_id:
        return open_for(path, wanted.type_id, watch)
    if wanted.pairs:
        return _pairs(path, wanted.second, watch)
    if wanted.form is None:
        return open_data(path, watch)
    from engine.data.open.tables import open_as

    try:
        return open_as(path, wanted.form, watch)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error


def _pairs(path: Path, second: Path | None, watch: Watch) -> Opened:
    """Pairs of texts in one or two files; one that is no table waits for the second."""
    from engine.data.open.text import open_pairs

    if second is None:
        try:
            return open_for(path, PAIRS, watch)
        except DataError:
            params: dict[str, Value] = {"path": str(path), "stamp": stamp(path)}
            return Opened(PAIRS, params, path.stem, (SECOND,))
    try:
        return open_pairs(path, watch, second)
    except (OSError, ValueError) as error:  # a sentence of a portable reader
        raise DataError(reason_of(error)) from error


class FilledPage(Protocol):
    """The page of a document that data are put into."""

    file: DocumentFile

    @property
    def workspace(self) -> Workspace: ...
    @property
    def canvas(self) -> GraphView: ...
    def show_data(self) -> None: ...


class DataOpening(QObject):
    """Opens data for one document. Requests wait for each other; nothing changes until one is done."""

    def __init__(self, page: FilledPage, parent: QWidget) -> None:
        super().__init__(parent)
        self._page, self._parent = page, parent
        self._workspace = page.workspace
        self._waiting: deque[Wanted] = deque()
        self._progress = ThreadProgress()
        self._worker = Background("data-opening", self)
        self._worker.finished.connect(self._finished)
        self.card = OpeningCard(page.canvas)
        self.card.button.clicked.connect(self.cancel)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self.card.appear)
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self._look)
        self._workspace.changed.connect(self._changed)
        self._workspace.closing.connect(self.close)
        self._workspace.file_wanted.connect(self._wanted)
        self._workspace.reading_wanted.connect(self.read_as)

    @property
    def busy(self) -> bool:
        """Whether a file is being looked into."""
        return self._worker.busy

    def open(self, paths: Sequence[Path], place: Point | None = None, onto: str = "") -> None:
        """Adds a data node for each file or folder; one that is dropped onto a data node may be its file."""
        if paths:
            self._ask(Wanted(tuple(paths), place, onto if len(paths) == 1 else ""))

    def read(self, node_id: str, path: Path) -> None:
        """Lets a data node read this file, or read its own again as its parameters say."""
        node = self._workspace.node(node_id)
        listed = node.params.get("list_file") if node is not None else None
        if isinstance(listed, str) and listed.casefold().endswith(TYPED) and (path / listed).is_file():
            path = path / listed  # a table that holds the images
        own = node is not None and node.params.get("path") == str(path) and node.params.get("table")
        form = table_params(self._workspace, node) if node is not None and own else None
        pairs = node is not None and node.type == PAIRS
        other = node.params.get("other") if node is not None and pairs else None
        second = path.parent / other if isinstance(other, str) and other else None
        self._ask(Wanted((path,), onto=node_id, sure=True, form=form, pairs=pairs, second=second))

    def read_as(self, node_id: str, type_id: str) -> None:
        """Puts a node of another type, which reads the same file, in a data node's place."""
        node = self._workspace.node(node_id)
        path = node.params.get("path") if node is not None else None
        if isinstance(path, str) and path:
            self._ask(Wanted((Path(path),), onto=node_id, sure=True, type_id=type_id))

    def _wanted(self, node_id: str, path: Path | None) -> None:
        node = self._workspace.node(node_id)
        spec = path_spec(self._workspace.type_of(node)) if node is not None else None
        if node is None or spec is None:
            return
        chosen = path or choose(self._parent, self._workspace, spec, str(node.params.get(spec.name, "")))
        if chosen is not None:
            self.read(node_id, chosen)

    def cancel(self) -> None:
        """Gives up what is being opened, and what waits; the document stays as it is."""
        self._waiting.clear()
        self._progress.stop.set()
        self.card.say_cancelling()

    def close(self) -> None:
        """Ends the thread."""
        self._waiting.clear()
        self._progress.stop.set()
        self._rest()
        self._worker.close()

    def _ask(self, wanted: Wanted) -> None:
        if self.busy:
            self._waiting.append(wanted)
            return
        self._progress = ThreadProgress()
        self.card.begin(wanted.paths[0].name)
        self._patience.start()
        self._looking.start()
        self._worker.ask(partial(look_into, wanted, self._progress))

    def _look(self) -> None:
        self.card.show_progress(self._progress.name, self._progress.fraction, self._progress.doing)

    def _rest(self) -> None:
        self._patience.stop()
        self._looking.stop()
        self.card.hide()

    def _changed(self, change: Change) -> None:
        if change.kind == "load" and self.busy:
            self.cancel()  # what was wanted was wanted in another project

    # -- what was found ---------------------------------------------------------------------------

    def _finished(self, found: Found | None, error: NeuroloomError | None) -> None:
        self._rest()
        if found is None:
            self._workspace.message.emit(str(error), "error")
        elif found.stopped or self._progress.stop.is_set():
            self._workspace.message.emit("Opening was cancelled; nothing was added.", "info")
        else:
            self._take(found)
        if self._waiting:
            self._ask(self._waiting.popleft())

    def _take(self, found: Found) -> None:
        wanted = found.wanted
        node = self._workspace.node(wanted.onto) if wanted.onto else None
        if found.ask is not None:
            self._import(found)
        elif found.opened and node is not None:
            path, opened = found.opened[0]
            if wanted.type_id:
                self._become(node, path, opened)
            else:
                self._offer(node, path, opened, wanted)
        elif found.opened and not wanted.sure:
            self.add(found.opened, wanted.place)
        if found.errors and found.ask is None:
            more = f" {len(found.errors) - 1} more could not be opened." if len(found.errors) > 1 else ""
            self._workspace.message.emit(found.errors[0] + more, "error")

    def _import(self, found: Found) -> None:
        """Asks how a file is written; what was opened is taken where the guess was right."""
        assert found.ask is not None
        path = found.wanted.paths[0]
        page = ImportPage(path, *found.ask, self._parent)
        page.accepted.connect(partial(self._imported, found, page))
        page.finished.connect(page.deleteLater)
        page.open()

    def _imported(self, found: Found, page: ImportPage) -> None:
        wanted, chosen = found.wanted, page.chosen()
        if found.opened and found.ask is not None and chosen == found.ask[0]:
            self.add(found.opened, wanted.place)
        else:
            self._ask(replace(wanted, form=params_of(chosen)))

    def add(self, opened: Sequence[tuple[Path, Opened]], place: Point | None = None) -> tuple[str, ...]:
        """Adds the nodes as one step, selects them and has their data shown; returns their ids."""
        workspace = self._workspace
        unknown = next((one.type for _, one in opened if workspace.catalogue.get(one.type) is None), None)
        if unknown is not None:
            workspace.message.emit(f"There is no node type called {unknown[:60]!r}.", "error")
            return ()
        workspace.enter("")  # data stand outside of blocks
        nodes = self._nodes(opened, place)
        label = f"Add {nodes[0].name}" if len(nodes) == 1 else f"Add {len(nodes)} data nodes"
        if not workspace.apply(label, AddNodes(tuple(nodes)), *first_plan(workspace, nodes)):
            return ()
        for node, (_, one) in zip(nodes, opened, strict=True):
            workspace.remarks[node.id] = one.remarks
        ids = tuple(node.id for node in nodes)
        workspace.select(ids if len(ids) == 1 else ids[:1])
        self._page.show_data()
        self._page.canvas.reveal(ids[0])
        workspace.data_opened.emit(ids[0])
        return ids

    def _nodes(self, opened: Sequence[tuple[Path, Opened]], place: Point | None) -> list[Node]:
        workspace, canvas = self._workspace, self._page.canvas
        taken = names_of(workspace.graph)
        boxes = {key: item.box() for key, item in canvas.graph_scene.node_items.items()}
        if place is None:
            centre = canvas.navigation.centre
            place = (centre.x() - WIDTH / 2, centre.y() - FIRST_PORT)
        nodes: list[Node] = []
        for _, one in opened:
            x, y = snapped(free_spot(place, (WIDTH, TALL), boxes, step=(0.0, STEP)))
            name = _free_name(one.name.strip()[:60] or one.type, taken)
            taken.add(name)
            node_id = workspace.document.project.new_id()
            nodes.append(Node(node_id, one.type, name, dict(one.params), finite((x, y))))
            boxes[node_id] = (x, y, x + WIDTH, y + TALL)
            place = (x, y + STEP)
        return nodes

    def _offer(self, node: Node, path: Path, opened: Opened, wanted: Wanted) -> None:
        """A file came onto a data node: it may read it where it is of its kind."""
        if node.type != opened.type:
            if not wanted.sure:
                self.add([(path, opened)], wanted.place)
                return
            known = self._workspace.catalogue.get(opened.type)
            what = known.title if known is not None else opened.type
            text = f"“{path.name}” is no file for “{node.name}”: it would be read as {what}."
            self._tell(text, (("Add another node", partial(self.add, [(path, opened)], None)),), node.id)
        elif wanted.sure:
            self.use(node.id, path, opened)
        else:
            self._tell(
                f"“{path.name}” was dropped onto “{node.name}”.",
                (
                    ("Use this file", partial(self.use, node.id, path, opened)),
                    ("Add another node", partial(self.add, [(path, opened)], wanted.place)),
                ),
            )

    def _become(self, node: Node, path: Path, opened: Opened) -> None:
        """A node of another type takes this one's place, with wires where ports fit, as one step."""
        workspace = self._workspace
        project, catalogue = workspace.document.project, workspace.catalogue
        kind = catalogue.get(opened.type)
        title = kind.title.lower() if kind is not None else opened.type
        try:
            edits = replacing(project, catalogue, node.id, opened.type, opened.params)
        except NeuroloomError as error:
            workspace.message.emit(str(error), "error")
            return
        new = next((edit.nodes[0].id for edit in edits if isinstance(edit, AddNodes)), "")
        before = len(project.graph.outgoing(node.id))
        if not new or not workspace.apply(f"Read {path.name} as {title}", *edits):
            return
        workspace.remarks[new] = opened.remarks
        workspace.select((new,))
        self._page.show_data()
        workspace.data_opened.emit(new)
        lost = before - len(workspace.document.project.graph.outgoing(new))
        if lost > 0:
            wires = "one wire" if lost == 1 else f"{lost} wires"
            self._tell(f"“{path.name}” is read as {title}; {wires} had no port to begin at any more.", ())

    def use(self, node_id: str, path: Path, opened: Opened) -> bool:
        """Lets a node read a file that was opened, as one step; roles of columns that still exist stay."""
        workspace = self._workspace
        node = workspace.node(node_id)
        if node is None or node.type != opened.type:
            workspace.message.emit("The node that was to read this file is no longer there.", "info")
            return False
        new = replaced(node.params, opened.params)
        edits: list[Edit] = [
            SetParam(node_id, name, value) for name, value in new.items() if node.params.get(name) != value
        ]
        workspace.remarks[node_id] = opened.remarks
        if edits and not workspace.apply(f"Read {path.name}", *edits):
            return False
        workspace.select((node_id,))
        self._page.show_data()
        workspace.data_opened.emit(node_id)
        return True

    def _tell(
        self, text: str, answers: tuple[tuple[str, Callable[[], object]], ...], node_id: str = ""
    ) -> None:
        self._page.file.noticed.emit(Notice(text, "info", node_id, answers))


def _free_name(stem: str, taken: set[str]) -> str:
    number = 2
    name = stem
    while name in taken:
        name = f"{stem} {number}"
        number += 1
    return name
