"""The views dock: live views of the selected node, views that stay, and the run behind them."""

from __future__ import annotations

import logging
from functools import partial
from time import monotonic

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app.look.base import Subject, ViewKind
from app.look.dock.card import ViewCard
from app.look.dock.card_menu import CardMenu
from app.look.dock.dock_menu import DockMenu
from app.look.dock.drawing import Drawing
from app.look.dock.first_sight import beside_lead, first_sight
from app.look.dock.following import ENOUGH, follow, following, may_lead
from app.look.dock.grid import CardGrid
from app.look.dock.offered import NOTHING, offered, sign_of, why_empty
from app.look.dock.on_nodes import OnNodes
from app.look.dock.pinned import Layout, keep, kept, place_of
from app.look.dock.playback import Playback
from app.look.dock.recording import Recording
from app.look.dock.states import name_of
from app.look.dock.stored_runs import StoredRuns
from app.look.dock.strip import Strip
from app.look.dock.timeline import Timeline
from app.look.registry import view_kinds
from app.widgets.labels import label
from app.workspace.engine_parts import split_on_show
from app.workspace.open_document import TrainableDocument
from app.workspace.scopes import only_drawn
from app.workspace.watching import Live, Probes
from engine.document.document import Change
from engine.feed.history import History

log = logging.getLogger(__name__)

REDRAW_MS = 250
STALE_AFTER = 0.8  # seconds that training has to take a change over before views are called old
WHOLE = "Whole model"


class ViewsDock(QWidget):
    """Cards in a grid: pinned ones first, then those that follow the selection."""

    room_wanted = Signal(bool)  # a view was enlarged: the dock would like the place of the canvas

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewsDock")
        self._workspace = workspace
        self._node_id = ""
        self._wanted_example = 0
        self._pinned: list[ViewCard] = []
        self._followed: list[ViewCard] = []
        self._signs: dict[int, object] = {}  # what each card's node was when its view was made
        self._offered: list[ViewKind] = []  # for the selected node
        self._lead: ViewKind | None = None  # a node's, that is shown first of the whole network
        self._dirty = True
        self._loading = False
        self._stale_before = 0
        self._changed_at = 0.0
        self._path = workspace.document.path
        self.on_nodes: OnNodes | None = None
        self.playback = Playback(workspace, self)
        self.recording = Recording(workspace, self)
        self.stored_runs = StoredRuns(workspace, self)
        self.strip = Strip()
        self.strip.set_whole(Subject(workspace))
        self.grid = CardGrid()
        self.timeline = Timeline(self.playback)
        self._card_menu = CardMenu(self)
        self._dock_menu = DockMenu(self)
        self._message = label(NOTHING, "empty", wrap=True)
        self._message.setObjectName("viewsMessage")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._message)
        self._stack.addWidget(self.grid)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 6, 16, 8)
        column.setSpacing(6)
        column.addWidget(self.strip)
        column.addLayout(self._stack, 1)
        column.addWidget(self.timeline)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(int(STALE_AFTER * 1000) + 50)
        self.drawing = Drawing(self._draw, self)
        self._live = Live(workspace, self, self._probes, self.refresh, REDRAW_MS)
        self._connect()
        self._read_layout()
        self._selected(workspace.selection)

    def _connect(self) -> None:
        workspace = self._workspace
        self._later.timeout.connect(self._live.ask)
        self.strip.example_wanted.connect(self._another_example)
        self.strip.kind_toggled.connect(self._toggle_kind)
        self.strip.added.connect(self._add)
        self.strip.menu_wanted.connect(self._offer_menu)
        self.grid.moved.connect(self._order_changed)
        self.grid.scrolled.connect(self._live.ask)
        self.playback.moved.connect(self._live.pace.now)
        workspace.selected.connect(self._selected)
        workspace.changed.connect(self._changed)
        workspace.inferred.connect(self._again)
        workspace.engine_ready.connect(self._again)
        workspace.state_changed.connect(self._state_changed)
        workspace.title_changed.connect(self._title_changed)
        workspace.closing.connect(self._keep_layout)

    # -- cards ------------------------------------------------------------------------------------

    @property
    def node_id(self) -> str:
        """The node whose views follow the selection, empty for none."""
        return self._node_id

    @property
    def cards(self) -> list[ViewCard]:
        """All cards in the order of the grid."""
        return [*self._pinned, *self._followed]

    def card(self, kind_id: str, node_id: str | None = None) -> ViewCard | None:
        """The card of a kind, of a node where one is named."""
        return next(
            (
                card
                for card in reversed(self.cards)
                if card.kind.id == kind_id and node_id in (None, card.subject.node_id)
            ),
            None,
        )

    def pin(self, kind_id: str, node_id: str = "", *, before: int | None = None) -> ViewCard | None:
        """Adds a card that stays; None for a kind that there is not. The one there is, is pinned."""
        kind = view_kinds().get(kind_id)
        if kind is None:
            return None
        found = self.card(kind_id, node_id)
        if found is not None:
            if not found.pinned:
                self._pin(found)
            return found
        card = self._make(kind, Subject(self._workspace, node_id), pinned=True)
        if card is None:
            return None
        self._pinned.insert(len(self._pinned) if before is None else before, card)
        self._dirty = self._dirty or not self._node_id
        self._show_cards()
        self._keep_layout()
        return card

    def close_card(self, card: ViewCard) -> None:
        """Ends a card. One that follows the selection does not come back for other nodes either."""
        if card in self._followed:
            follow(card.kind.id, False, self._workspace.settings)
            self._followed.remove(card)
        elif card in self._pinned:
            self._pinned.remove(card)
            self._dirty = self._dirty or not self._node_id
        self._end(card)
        self._show_cards()
        self._keep_layout()

    def _make(self, kind: ViewKind, subject: Subject, *, pinned: bool) -> ViewCard | None:
        try:
            card = ViewCard(kind, subject, pinned=pinned)
        except Exception:  # one view that fails must not take the others with it
            log.exception("the view %s could not be made", kind.id)
            return None
        self._signs[card.key] = sign_of(subject)
        card.needs_changed.connect(self._live.again)
        card.changed.connect(self._card_changed)
        card.close_wanted.connect(self.close_card)
        card.enlarge_wanted.connect(self.enlarge)
        card.menu_wanted.connect(self._offer_card_menu)
        card.pin_wanted.connect(self._toggle_pin)
        card.step_wanted.connect(self._focus_beside)
        card.shift_wanted.connect(self._shift)
        return card

    def _end(self, card: ViewCard) -> None:
        if self.grid.only is card:
            self.enlarge(card)
        del self._signs[card.key]
        card.hide()
        card.deleteLater()

    def _show_cards(self) -> None:
        self.grid.show_cards(self.cards)
        self._describe()
        self._live.again()

    def _toggle_pin(self, card: ViewCard) -> None:
        if card.pinned:
            self._pinned.remove(card)
            card.set_pinned(False)
            fits = card.subject.node_id == self._node_id and card.kind in self._offered
            if fits and self.card(card.kind.id, self._node_id) is None:
                self._followed.append(card)
            else:
                self._end(card)
            self._show_cards()
            self._keep_layout()
        else:
            self._pin(card)

    def _pin(self, card: ViewCard) -> None:
        self._followed.remove(card)
        self._pinned.append(card)
        card.set_pinned(True)
        self._show_cards()
        self._keep_layout()

    # -- which node -------------------------------------------------------------------------------

    def _selected(self, ids: tuple[str, ...]) -> None:
        self._node_id = ids[0] if len(ids) == 1 else ""
        self._dirty = True
        self._live.again()
        if self._followed and self.isVisible() and self.grid.only is None:
            self.grid.bring_in(self._followed[0])

    def _again(self) -> None:
        self._dirty = True
        self._live.again()

    def _changed(self, change: Change) -> None:
        if change.kind == "load":
            self._stale_before = 0
            self._read_layout()
        elif not only_drawn(change.edits):
            self._stale_before, self._changed_at = change.revision, monotonic()
            self._later.start()
        else:
            return
        self._again()

    def _bring_up_to_date(self) -> None:
        """Make the cards that the selected node asks for, and end those of the last."""
        self._dirty = False
        if self._node_id and self._workspace.node(self._node_id) is None:
            self._node_id = ""
        subject = Subject(self._workspace, self._node_id)
        kinds = offered(subject, pinned=bool(self._pinned))
        lead = first_sight(self._workspace) if kinds and not self._node_id else None
        self._lead = lead[0] if lead else None
        self._offered = kinds = beside_lead(kinds, self._lead)
        taken = {card.kind.id for card in self._pinned if card.subject.node_id == self._node_id}
        enough = ENOUGH if self._node_id else 0
        chosen = following(kinds, self._workspace.settings, enough)
        wanted = [(kind, subject) for kind in chosen if kind.id not in taken]
        if lead and may_lead(lead[0], self._workspace.settings):
            wanted.insert(0, lead)
        known = {(card.kind.id, card.subject): card for card in self._followed}
        cards = [known.get((kind.id, one)) or self._make(kind, one, pinned=False) for kind, one in wanted]
        if not self._node_id and cards and cards[0] and cards[0] not in self._followed:
            cards[0].size_name = "L"
        for card in set(self._followed) - set(cards):
            self._end(card)
        self._followed = [card for card in cards if card is not None]
        for card in self.cards:
            card.show_name()
            self._remake(card)
        self.grid.show_cards(self.cards)
        self._describe()

    def _remake(self, card: ViewCard) -> None:
        """Make a view again whose node is something else now, once that is known."""
        sign = sign_of(card.subject)
        if card.gone or sign == self._signs.get(card.key) or self._workspace.errors():
            return
        self._signs[card.key] = sign
        card.remake()

    def _toggle_kind(self, kind_id: str, shown: bool) -> None:
        card = self.card(kind_id, self._node_id)
        if not shown and card is not None and card.pinned:
            self.close_card(card)
        follow(kind_id, shown, self._workspace.settings)
        self._again()

    def _add(self, kind_id: str, whole: bool) -> None:
        card = self.pin(kind_id, "" if whole else self._node_id)
        if card is not None:
            self.grid.bring_in(card)
            card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _describe(self) -> None:
        """Say whose views these are."""
        subject = Subject(self._workspace, self._node_id)
        kinds = self._offered
        shown = frozenset(
            card.kind.id
            for card in self.cards
            if card.kind == self._lead or card.subject.node_id == self._node_id
        )
        self._message.setText(why_empty(subject, kinds))
        title = name_of(subject) if self._node_id else WHOLE if kinds else ""
        whole = [self._lead, *kinds] if self._lead is not None else kinds
        self.strip.show_subject(subject if kinds and self._node_id else None, title, whole, shown)
        self._stack.setCurrentIndex(1 if self.cards else 0)

    # -- views ---------------------------------------------------------------------------------

    def _probes(self) -> Probes:
        if self._dirty:
            self._bring_up_to_date()
        self._record()
        shown = [self.grid.only, *self._pinned] if self.grid.only else self.cards
        return frozenset().union(*(card.probes() for card in shown))

    def _record(self) -> None:
        self.recording.record(self.cards, hidden=not self.isVisible())

    def refresh(self) -> None:
        """Draw what is new."""
        self.drawing.ask(self.cards)
        self.timeline.refresh()
        self.strip.show_example(self._example(), split_on_show(self._workspace.trainer))

    def _draw(self, card: ViewCard) -> None:
        if card in self.cards and self.grid.in_view(card):
            settled = monotonic() - self._changed_at > STALE_AFTER
            card.refresh(self.playback, self._stale_before if settled else 0)

    def _example(self) -> int | None:
        for card in reversed(self.cards):
            for snapshot in card.pane.drawn.values():
                if "example" in snapshot.extra:
                    return int(snapshot.extra["example"])
        return None

    # -- the pinned example -----------------------------------------------------------------------

    def _another_example(self, way: int) -> None:
        shown = self._example()
        wanted = self._wanted_example + way
        if way > 0 and shown is not None and shown < self._wanted_example:
            # The trainer stays at the last example when asked for one beyond it: then begin again.
            wanted = 0
        self._wanted_example = max(0, wanted)
        if self._workspace.trainer is not None:
            self._workspace.trainer.pin(self._wanted_example)

    # -- enlarging, moving, comparing ---------------------------------------------------------------

    def enlarge(self, card: ViewCard) -> None:
        """Fills the dock with a card, or brings all back."""
        enlarged = not card.enlarged
        if self.grid.only is not None and self.grid.only is not card:
            self.grid.only.set_enlarged(False)
        card.set_enlarged(enlarged)
        self.grid.show_only(card if enlarged else None)
        if enlarged:
            card.setFocus(Qt.FocusReason.OtherFocusReason)
        self.room_wanted.emit(enlarged)
        self._live.again()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.grid.only is not None:
            self.enlarge(self.grid.only)
        else:
            super().keyPressEvent(event)

    def _focus_beside(self, card: ViewCard, way: int) -> None:
        found = self.grid.beside(card, way)
        if found is not None:
            found.setFocus(Qt.FocusReason.TabFocusReason)
            self.grid.bring_in(found)

    def _shift(self, card: ViewCard, way: int) -> None:
        place = self.grid.cards.index(card) + way
        if 0 <= place < len(self.grid.cards):
            self.grid.move_card(card, place + (way > 0))
            self.grid.bring_in(card)

    def _order_changed(self) -> None:
        """A card was moved. What was put among the pinned ones stays there."""
        order = self.grid.cards
        last = max((place for place, card in enumerate(order) if card.pinned), default=-1)
        for card in order[: last + 1]:
            card.set_pinned(True)
        self._pinned = [card for card in order if card.pinned]
        self._followed = [card for card in order if not card.pinned]
        self._show_cards()
        self._keep_layout()

    def compare(self, card: ViewCard, run: str) -> None:
        """Shows the same view of a stored run beside it, as soon as that is read."""
        self.stored_runs.read(run, partial(self._compare, card))

    def _compare(self, card: ViewCard, run: str, history: History) -> None:
        if card in self.cards:
            card.compare((run, history))
            self._live.again()

    # -- on nodes ---------------------------------------------------------------------------------

    def show_on(self, on_nodes: OnNodes) -> None:
        """Lets views hang on the nodes of a canvas."""
        self.on_nodes = on_nodes
        self._hang(kept(self._workspace.settings, self._path))
        on_nodes.changed.connect(self._keep_layout)

    def kind_of_card(self, key: str) -> str:
        """The id of the kind of a card by its key; empty for an unknown one."""
        return next((card.kind.id for card in self.cards if str(card.key) == key), "")

    def on_node(self, card: ViewCard) -> bool:
        """Whether the view of a card hangs on its node."""
        return self.on_nodes is not None and self.on_nodes.hangs(card.subject.node_id) == card.kind.id

    def toggle_on_node(self, card: ViewCard) -> None:
        """Hangs the view on its node, or takes it off."""
        if self.on_nodes is None:
            return
        if self.on_node(card):
            self.on_nodes.take_off(card.subject.node_id)
        else:
            self.on_nodes.hang(card.kind.id, card.subject.node_id)

    def _hang(self, layout: Layout) -> None:
        if self.on_nodes is not None:
            for kind_id, node_id in layout.on_nodes:
                self.on_nodes.hang(kind_id, node_id)

    # -- layout and settings ------------------------------------------------------------------------

    def layout_now(self) -> Layout:
        """What is kept of the dock."""
        pinned = tuple(place_of(card) for card in self._pinned)
        return Layout(pinned, self.on_nodes.places() if self.on_nodes is not None else ())

    def _card_changed(self) -> None:
        self.grid.arrange()
        self._live.again()
        self._keep_layout()

    def _keep_layout(self) -> None:
        if not self._loading:
            keep(self._workspace.settings, self._path, self.layout_now())

    def _title_changed(self) -> None:
        path = self._workspace.document.path
        if path != self._path:  # saved under another name
            self._path = path
            self._keep_layout()

    def _read_layout(self) -> None:
        """Shows the cards that were pinned when the project was open last."""
        self._loading = True
        self._path = self._workspace.document.path
        while self._pinned:
            self._end(self._pinned.pop())
        if self.on_nodes is not None:
            self.on_nodes.take_all_off()
        layout = kept(self._workspace.settings, self._path)
        for place in layout.pinned:
            pinned = self.pin(place.kind, place.node)
            if pinned is not None:
                pinned.set_size(place.size)
                pinned.pane.view.restore(place.state)
                if place.compared:
                    self.compare(pinned, place.compared)
        self._hang(layout)
        self._loading = False
        self._dirty = True

    def _state_changed(self, state: str) -> None:
        if state == "loading":  # another run begins, and its history with it, seen or not
            self.playback.go_live()
        if state in ("loading", "running") and self._dirty:  # they are recorded, seen or not
            self._bring_up_to_date()
        self._record()
        self._live.ask()

    def record_while_hidden(self, on: bool) -> None:
        """Whether views are recorded while the dock is hidden."""
        self.recording.set_while_hidden(on)
        self._record()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._record()

    def _offer_card_menu(self, card: ViewCard, place: QPoint) -> None:
        menu = self._card_menu.menu(card)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def _offer_menu(self, place: QPoint) -> None:
        menu = self._dock_menu.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)
