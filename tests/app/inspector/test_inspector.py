"""The inspector: typed fields, sentences under bad text, facts, several nodes, the plan."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton

from app.inspector.inspector import InspectorPanel
from app.inspector.node_page import NodePage
from app.inspector.plan_page import PlanPage
from app.inspector.several_page import SeveralPage
from app.inspector.state_field import NO_STATE
from app.widgets.fields import FieldRow
from app.workspace.workspace import Workspace
from engine.document.blocks import group, ports_of
from engine.document.edits import AddNodes, Remove, Rename, SetParam, SetPlan
from engine.document.graph import Node
from engine.shapes.problems import Fix, Problem
from tests.app.conftest import add_iris


@pytest.fixture
def inspector(shaped: Workspace, qtbot) -> Iterator[InspectorPanel]:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    made = InspectorPanel(shaped)
    qtbot.addWidget(made)
    made.resize(300, 700)
    made.show()
    yield made


def node_page(inspector: InspectorPanel) -> NodePage:
    assert isinstance(inspector.page, NodePage)
    return inspector.page


def plan_page(inspector: InspectorPanel) -> PlanPage:
    assert isinstance(inspector.page, PlanPage)
    return inspector.page


def write(qtbot, field: FieldRow, text: str) -> None:  # type: ignore[no-untyped-def]
    control = field.control
    assert isinstance(control, QLineEdit)
    control.setFocus()
    control.selectAll()
    qtbot.keyClicks(control, text)


def units(workspace: Workspace) -> object:
    node = workspace.node("n2")
    assert node is not None
    return node.params["units"]


def test_the_help_tells_the_formula_and_where_it_comes_from(
    shaped: Workspace, inspector: InspectorPanel
) -> None:
    shaped.select(("n2",))
    help_text = node_page(inspector).findChild(QLabel, "nodeHelp").text()
    assert "y = f(W x + b)" in help_text and "Rosenblatt, 1958" in help_text
    shaped.select(("n3",))
    assert "Σ<sub>j</sub>" in node_page(inspector).findChild(QLabel, "nodeHelp").text()


def test_what_is_typed_is_what_is_stored(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    """A-25"""
    shaped.select(("n2",))
    field = node_page(inspector).fields["units"]
    write(qtbot, field, " 64 ")
    assert units(shaped) == 64 and type(units(shaped)) is int
    qtbot.keyClick(field.control, Qt.Key.Key_Return)
    assert field.control.text() == "64"  # type: ignore[attr-defined]
    shaped.undo()
    assert units(shaped) == 3
    assert field.control.text() == "3"  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["0,5", "abc", "-1", "1e400", "1.5", "", "0", "nan", "9" * 400])
def test_bad_text_changes_nothing_and_is_explained(
    shaped: Workspace, inspector: InspectorPanel, qtbot, text: str
) -> None:  # type: ignore[no-untyped-def]
    """A-24"""
    shaped.select(("n2",))
    field = node_page(inspector).fields["units"]
    field.control.setText("3")  # type: ignore[attr-defined]
    write(qtbot, field, "x")
    revision = shaped.document.revision
    field.control.setText(text)  # type: ignore[attr-defined]
    field.control.textEdited.emit(text)  # type: ignore[attr-defined]
    assert field.error_text.endswith(".")
    assert field.error.isVisible()
    assert shaped.document.revision == revision
    assert units(shaped) == 3
    qtbot.keyClick(field.control, Qt.Key.Key_Escape)
    assert field.error_text == ""
    assert field.control.text() == "3"  # type: ignore[attr-defined]


def test_escape_takes_the_typing_back_and_then_leaves(
    shaped: Workspace, inspector: InspectorPanel, qtbot
) -> None:  # type: ignore[no-untyped-def]
    shaped.select(("n2",))
    field = node_page(inspector).fields["units"]
    write(qtbot, field, "64")
    assert units(shaped) == 64
    qtbot.keyClick(field.control, Qt.Key.Key_Escape)
    assert units(shaped) == 3
    assert field.control.text() == "3"  # type: ignore[attr-defined]
    with qtbot.waitSignal(inspector.left):
        qtbot.keyClick(field.control, Qt.Key.Key_Escape)


def test_numbers_step_with_the_arrow_keys(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.select(("n2",))
    control = node_page(inspector).fields["units"].control
    qtbot.keyClick(control, Qt.Key.Key_Up)
    assert units(shaped) == 4
    qtbot.keyClick(control, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert units(shaped) == 14
    for _ in range(3):
        qtbot.keyClick(control, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert units(shaped) == 4


def test_typing_in_one_field_is_one_step(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.select(("n2",))
    page = node_page(inspector)
    write(qtbot, page.fields["units"], "128")
    qtbot.keyClick(page.fields["units"].control, Qt.Key.Key_Return)
    write(qtbot, page.fields["units"], "256")
    shaped.undo()
    assert units(shaped) == 128
    shaped.undo()
    assert units(shaped) == 3


def test_choices_and_switches(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.select(("n2",))
    page = node_page(inspector)
    box, combo = page.fields["bias"].control, page.fields["activation"].control
    assert isinstance(box, QCheckBox) and isinstance(combo, QComboBox)
    box.click()
    combo.setCurrentText("ReLU")
    combo.activated.emit(combo.currentIndex())
    node = shaped.node("n2")
    assert node is not None
    assert node.params["bias"] is False
    assert node.params["activation"] == "ReLU"
    shaped.undo()
    assert combo.currentText() != "ReLU"


def test_the_name_is_typed_in_place(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.select(("n2",))
    field = node_page(inspector).name_field
    field.selectAll()
    qtbot.keyClicks(field, "x'); import os #")
    assert shaped.node("n2").name == "x'); import os #"  # type: ignore[union-attr]
    shaped.undo()
    assert field.text() == "classes"


def test_facts_follow_the_graph(shaped: Workspace, inspector: InspectorPanel) -> None:
    shaped.select(("n2",))
    facts = node_page(inspector)._facts
    assert facts["in"].text() == "N×4"
    assert facts["out"].text() == "N×3"
    assert facts["parameters"].text() == "15"
    shaped.apply("Set units", SetParam("n2", "units", 1000))
    assert facts["out"].text() == "N×1000"
    assert facts["parameters"].text() == "5,000"


def test_without_the_engine_facts_wait(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    add_iris(workspace)
    inspector = InspectorPanel(workspace)
    qtbot.addWidget(inspector)
    workspace.select(("n2",))
    assert node_page(inspector)._facts["out"].text() == "…"


def test_problems_of_the_node_are_listed_with_their_fix(shaped: Workspace, inspector: InspectorPanel) -> None:
    shaped.select(("n2",))
    mend = Fix("Use 9 units", lambda project: (SetParam("n2", "units", 9),))
    shaped.shapes.problems = [Problem("n2", "classes: three is too few.", severity="warning", fix=mend)]
    shaped.inferred.emit()
    text, button = (
        inspector.page.findChild(QLabel, "problemText"),
        inspector.page.findChild(QPushButton, "fixButton"),
    )
    assert text is not None and text.text() == "Three is too few."
    assert button is not None
    button.click()
    assert units(shaped) == 9
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert inspector.page.findChild(QPushButton, "fixButton") is None


def test_an_unknown_type_shows_what_it_holds(shaped: Workspace, inspector: InspectorPanel) -> None:
    shaped.apply("Add", AddNodes((Node("n9", "FromTheFuture", "later", {"power": 9}),)))
    shaped.select(("n9",))
    page = node_page(inspector)
    assert page.fields == {}
    assert shaped.node("n9").params == {"power": 9}  # type: ignore[union-attr]


def test_several_nodes_share_what_they_have_in_common(
    shaped: Workspace, inspector: InspectorPanel, qtbot
) -> None:  # type: ignore[no-untyped-def]
    shaped.apply("Add", AddNodes((Node("n8", "Linear", "more", {"units": 7}),)))
    shaped.select(("n2", "n8"))
    page = inspector.page
    assert isinstance(page, SeveralPage)
    field = page.fields["units"]
    assert field.control.text() == ""  # type: ignore[attr-defined]
    write(qtbot, field, "5")
    assert [shaped.node(one).params["units"] for one in ("n2", "n8")] == [5, 5]  # type: ignore[union-attr]
    shaped.undo()
    assert [shaped.node(one).params["units"] for one in ("n2", "n8")] == [3, 7]  # type: ignore[union-attr]


def test_different_types_share_nothing(shaped: Workspace, inspector: InspectorPanel) -> None:
    shaped.select(("n1", "n2", "n3"))
    assert isinstance(inspector.page, SeveralPage)
    assert inspector.page.fields == {}


def test_every_setting_of_the_plan_is_stored(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    page = plan_page(inspector)
    for name, text in (
        ("epochs", "7"),
        ("batch", "32"),
        ("seed", "5"),
        ("patience", "2"),
        ("optimiser.lr", "1e-2"),
    ):
        write(qtbot, page.fields[name], text)
    plan = shaped.document.project.plan
    assert (plan.epochs, plan.batch, plan.seed, plan.patience) == (7, 32, 5, 2)
    assert plan.optimiser.params["lr"] == 0.01
    write(qtbot, page.fields["patience"], "x")
    assert shaped.document.project.plan.patience == 2
    page.fields["patience"].control.clear()  # type: ignore[attr-defined]
    page.fields["patience"].control.textEdited.emit("")  # type: ignore[attr-defined]
    assert shaped.document.project.plan.patience is None


def test_another_optimiser_brings_its_own_fields(shaped: Workspace, inspector: InspectorPanel) -> None:
    page = plan_page(inspector)
    combo = page.fields["optimiser"].control
    assert isinstance(combo, QComboBox)
    combo.setCurrentText("SGD")
    combo.activated.emit(combo.currentIndex())
    assert shaped.document.project.plan.optimiser.name == "SGD"
    assert "optimiser.momentum" in page.fields and "optimiser.beta1" not in page.fields
    box = page.fields["optimiser.nesterov"].control
    assert isinstance(box, QCheckBox)
    box.click()
    notice = page.notice("optimiser")
    assert "momentum" in notice.text() and notice.isVisible()
    shaped.undo()
    shaped.undo()
    assert "optimiser.beta1" in page.fields
    assert notice.text() == ""


def test_title_and_notes(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    page = plan_page(inspector)
    page.title_field.selectAll()
    qtbot.keyClicks(page.title_field, "Flowers")
    qtbot.keyClicks(page.notes_field, "Three kinds")
    assert shaped.document.project.title == "Flowers"
    assert shaped.document.project.notes == "Three kinds"
    shaped.undo()
    assert page.notes_field.toPlainText() == ""
    shaped.undo()
    assert page.title_field.text() == "Untitled"


def test_the_device_is_no_part_of_the_project(shaped: Workspace, inspector: InspectorPanel) -> None:
    revision = shaped.document.revision
    combo = plan_page(inspector).fields["device"].control
    assert isinstance(combo, QComboBox)
    combo.setCurrentText("cpu")
    combo.activated.emit(combo.currentIndex())
    assert shaped.device == "cpu"
    assert shaped.document.revision == revision


def test_how_rows_belong_together_is_asked_where_there_are_several_data_nodes(
    inspector: InspectorPanel,
) -> None:
    workspace = inspector._workspace
    page = plan_page(inspector)
    assert "pairing" not in page.fields and not page._rows["pairing"].isVisible()
    workspace.apply("Add", AddNodes((Node("n9", "Iris", "others"),)))
    page.refresh()
    combo = page.fields["pairing"].control
    assert isinstance(combo, QComboBox) and combo.isVisible()
    combo.setCurrentText("unpaired")
    combo.activated.emit(combo.currentIndex())
    assert workspace.document.project.plan.pairing == "unpaired"
    workspace.undo()
    assert workspace.document.project.plan.pairing == "as connected"


def test_pages_do_not_pile_up(shaped: Workspace, inspector: InspectorPanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    pages = []
    for _ in range(20):
        shaped.select(("n2",))
        pages.append(weakref.ref(inspector.page))
        shaped.select(())
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert sum(page() is not None for page in pages) == 0


def test_every_control_has_a_name_for_screen_readers(shaped: Workspace, inspector: InspectorPanel) -> None:
    for ids in ((), ("n2",), ("n1",), ("n3",)):
        shaped.select(ids)
        assert inspector.page.fields or ids != ("n2",)
        for field in inspector.page.fields.values():
            assert field.control.accessibleName()


def test_the_state_of_a_scanned_block_is_chosen_among_its_outputs_by_name(
    shaped: Workspace, inspector: InspectorPanel
) -> None:
    shaped.apply("Group", *group(shaped.document.project, ["n2"]))
    block = next(iter(shaped.document.project.blocks))
    entry, leaving = (found[0] for found in ports_of(shaped.document.project, block))
    shaped.apply("Name", Rename(leaving.id, "hidden"))
    shaped.enter(block)
    shaped.select((entry.id,))
    combo = inspector.findChild(QComboBox, "control_state")
    assert combo is not None
    assert [combo.itemText(index) for index in range(combo.count())] == [NO_STATE, "hidden"]
    assert combo.currentText() == NO_STATE
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    node = shaped.node(entry.id)
    assert node is not None and node.params["state"] == leaving.id
    shaped.apply("Name", Rename(leaving.id, "memory"))
    assert combo.currentText() == "memory"
    shaped.apply("Remove", Remove((leaving.id,)))
    assert combo.currentText() == f"{leaving.id}, which is gone"
    shaped.undo()
    shaped.undo()
    shaped.undo()
    assert combo.currentText() == NO_STATE


def test_pages_that_come_and_go_leave_nothing_at_the_document(
    shaped: Workspace, inspector: InspectorPanel
) -> None:
    """PySide keeps a weak reference for good for each connection to what is no QObject."""
    before = weakref.getweakrefcount(shaped.document)
    for ids in (("n2",), (), ("n2", "n3"), ()):
        shaped.select(ids)
    inspector.edit_plan()
    assert weakref.getweakrefcount(shaped.document) == before == 0


def test_the_plan_tells_what_a_run_takes(shaped: Workspace, inspector: InspectorPanel) -> None:
    page = plan_page(inspector)
    assert (
        page.memory_says.text().startswith("About ") and "a batch of 64 examples" in page.memory_says.text()
    )
    assert shaped.apply("Change batch size", SetPlan(shaped.document.project.plan.with_(batch=8)))
    assert "a batch of 8 examples" in page.memory_says.text() and not page.memory_says.isHidden()
    assert shaped.apply("Remove", Remove(("n2",)))
    assert page.memory_says.isHidden()
