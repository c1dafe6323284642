"""What commands use of the window they are in."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QWidget

from app.canvas.view import GraphView
from app.documents.document_page import DocumentPage
from app.documents.documents import Documents
from app.workspace.settings import Settings
from app.workspace.workspace import Workspace


class InFront(Protocol):
    """The document in front and what shows it. Dialogs about it stand over `central`."""

    central: QWidget

    @property
    def document_page(self) -> DocumentPage: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def canvas(self) -> GraphView: ...


class Window(InFront, Protocol):
    """The documents that are open, the user's settings, and how to show, tell and ask."""

    documents: Documents
    settings: Settings

    @property
    def at_work(self) -> bool: ...
    def show_workbench(self) -> None: ...
    def tell(self, text: str, kind: str) -> None: ...
    def may_stop_training(self, page: DocumentPage, purpose: str) -> bool: ...
