"""What a person does in the plan editor: open it, type, choose from lists, press buttons."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.inspector import InspectorPanel
from app.inspector.plan_fields import AddButton
from app.inspector.plan_page import PlanPage
from app.inspector.plan_phases import PlanEditor
from app.inspector.plan_rows import RowList
from app.widgets.fields import FieldRow
from app.workspace.workspace import Workspace
from engine.document.plan import Minimise, Plan


def page_of(inspector: InspectorPanel) -> PlanPage:
    assert isinstance(inspector.page, PlanPage)
    return inspector.page


def opened(inspector: InspectorPanel) -> PlanEditor:
    """The editor, opened as a person does it."""
    page = page_of(inspector)
    if not page.focus.whole:
        page.more.click()
    settle()
    assert page.editor is not None and page.editor.isVisible()
    return page.editor


def settle() -> None:
    """New rows are shown, and old ones go, only with the next events."""
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def plan_of(workspace: Workspace) -> Plan:
    return workspace.document.project.plan


def first(workspace: Workspace) -> Minimise:
    objective = plan_of(workspace).phases[0].objectives[0]
    assert isinstance(objective, Minimise)
    return objective


def write(qtbot: QtBot, field: FieldRow, text: str) -> None:
    control = field.control
    assert isinstance(control, QLineEdit)
    control.setFocus()
    control.selectAll()
    if text:
        qtbot.keyClicks(control, text)
    else:
        qtbot.keyClick(control, Qt.Key.Key_Backspace)


def choose(field: FieldRow, text: str) -> None:
    combo = field.control
    assert isinstance(combo, QComboBox)
    at = combo.findText(text)
    assert at >= 0, [combo.itemText(index) for index in range(combo.count())]
    combo.setCurrentIndex(at)
    combo.activated.emit(at)


def offered(field: FieldRow) -> list[str]:
    combo = field.control
    assert isinstance(combo, QComboBox)
    return [combo.itemText(index) for index in range(combo.count())]


def add(button: AddButton, text: str) -> None:
    menu = button.make_menu()
    next(action for action in menu.actions() if action.text() == text).trigger()
    menu.deleteLater()
    settle()


def press(parent: QWidget, name: str) -> None:
    button = parent.findChild(QAbstractButton, name)
    assert button is not None and button.isVisible(), name
    button.click()
    settle()


def names_in(rows: RowList) -> list[str]:
    return [name for name, _ in rows.rows]
