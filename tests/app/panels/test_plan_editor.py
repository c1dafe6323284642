"""The plan editor: phases, objectives, what is trained, schedules, stop rules; each edit one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.editor.scene import GraphScene
from app.panels.inspector import InspectorPanel
from app.panels.plan_fields import AddButton, BatchSpec
from app.panels.plan_page import PlanPage
from app.panels.plan_phases import PlanEditor
from app.panels.plan_rows import RowList
from app.widgets.fields import FieldRow
from app.workspace import Workspace
from engine.edits import AddNodes, Remove, SetPlan
from engine.errors import ParamError
from engine.graph import Link, Node
from engine.plan import Choice, Minimise, Phase, Plan, Rule, Stop


@pytest.fixture
def net(shaped: Workspace) -> Workspace:
    """Iris (n1) through two layers (n2, n3) into two losses (n4, n5); a rate (n6) is measured."""
    nodes = (
        Node("n1", "Iris", "iris"),
        Node("n2", "Linear", "hidden", {"units": 8}),
        Node("n3", "Linear", "classes", {"units": 3}),
        Node("n4", "CrossEntropy", "cross-entropy"),
        Node("n5", "CrossEntropy", "side loss"),
        Node("n6", "Accuracy", "accuracy"),
    )
    links = (
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n2", "output", "n5", "prediction"),
        Link("n3", "output", "n6", "prediction"),
        *(Link("n1", "species", one, "target") for one in ("n4", "n5", "n6")),
    )
    assert shaped.apply("Add", AddNodes(nodes, links))
    return shaped


@pytest.fixture
def inspector(net: Workspace, qtbot: QtBot) -> Iterator[InspectorPanel]:
    made = InspectorPanel(net)
    qtbot.addWidget(made)
    made.resize(300, 900)
    made.show()
    yield made


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


def test_a_supervised_plan_stays_simple(net: Workspace, inspector: InspectorPanel) -> None:
    page = page_of(inspector)
    assert page.simple.isVisible() and page.more.isVisible() and page.editor is None
    assert net.parts == {}
    editor = opened(inspector)
    assert not page.simple.isVisible()
    editor.fewer.click()
    assert page.simple.isVisible() and not editor.isVisible()
    assert net.document.undo_label == "Add"


def test_phases_are_added_copied_moved_and_removed(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    editor = opened(inspector)
    write(qtbot, editor.fields["phase_name"], "Warm start")
    editor.phases.add.click()
    assert names_in(editor.phases) == ["Warm start", "Phase 2"]
    assert editor.phases.list.currentRow() == 1
    write(qtbot, editor.fields["epochs"], "3")
    assert [phase.stop.epochs for phase in plan_of(net).phases] == [10, 3]
    press(editor, "phases_copy")
    qtbot.keyClick(editor.phases.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(editor.phases.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert [phase.stop.epochs for phase in plan_of(net).phases] == [3, 10, 3]
    assert editor.phases.list.currentRow() == 0
    qtbot.keyClick(editor.phases.list, Qt.Key.Key_Delete)
    assert names_in(editor.phases) == ["Warm start", "Phase 2"]
    labels = []
    while net.document.undo_label not in (None, "Add"):
        labels.append(net.document.undo_label)
        net.undo()
    assert labels == [
        "Remove phase",
        "Move phase",  # to change places with its twin is no step
        "Duplicate phase",
        "Change epochs",
        "Add phase",
        "Rename phase",
    ]
    assert plan_of(net) == Plan()
    assert names_in(editor.phases) == ["Phase 1"]


def test_the_last_phase_and_objective_stay(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    for rows in (editor.phases, editor.objectives):
        assert not rows.remove.isVisible()
        qtbot.keyClick(rows.list, Qt.Key.Key_Delete)
    assert plan_of(net) == Plan()


def test_objectives_take_turns(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    add(editor.objectives.add, "Lower a loss")
    write(qtbot, editor.fields["name"], "generator")
    write(qtbot, editor.fields["every"], "5")
    objectives = plan_of(net).phases[0].objectives
    assert [one.every for one in objectives] == [1, 5]
    assert editor.objectives.rows == (("Lower all losses", "Adam"), ("generator", "Adam, every 5"))
    qtbot.keyClick(editor.objectives.list, Qt.Key.Key_Up)
    assert editor.fields["name"].control.text() == ""  # type: ignore[attr-defined]
    press(editor, "objectives_down")
    assert names_in(editor.objectives) == ["generator", "Lower all losses"]
    assert editor.objectives.list.currentRow() == 1
    press(editor, "objectives_remove")
    assert [one.name for one in plan_of(net).phases[0].objectives] == ["generator"]


def test_a_loss_one_loss_or_a_weighted_sum(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    field = editor.fields["loss"]
    assert offered(field) == ["all losses", "cross-entropy", "side loss", "a weighted sum"]
    choose(field, "side loss")
    assert first(net).loss == "n5"
    choose(field, "a weighted sum")
    assert first(net).loss == {"n5": 1.0}
    write(qtbot, editor.fields["weight.n4"], "0.25")
    assert first(net).loss == {"n4": 0.25, "n5": 1.0}
    write(qtbot, editor.fields["weight.n5"], "")
    assert first(net).loss == {"n4": 0.25}
    write(qtbot, editor.fields["weight.n4"], "")
    assert first(net).loss == {"n4": 0.25}
    assert editor.minimise.loss.notice.text() == "The sum needs at least one loss."
    net.apply("Remove", Remove(("n4",)))
    assert "There is no loss n4 any more" in editor.minimise.loss.notice.text()
    choose(field, "all losses")
    assert first(net).loss == "all" and editor.minimise.loss.notice.text() == ""


def test_what_is_trained_is_chosen_on_the_canvas_in_one_step(
    net: Workspace, inspector: InspectorPanel
) -> None:
    editor = opened(inspector)
    net.select(("n2",))  # a node's page takes the place of the plan's
    net.select(())
    editor = opened(inspector)
    press(editor, "chooseOnCanvas")
    net.select(("n1", "n3", "n4"))
    assert page_of(inspector).editor is editor
    trained = editor.minimise.trained
    assert trained.shown.text() == "1 chosen" and trained.take.text() == "Train this one"
    assert first(net).of == ()
    assert (net.parts["n2"], net.parts["n3"]) == ("frozen", "trained")
    press(editor, "takeChosen")
    assert first(net).of == ("n3",)
    assert net.document.undo_label == "Choose what is trained"
    assert net.selection == () and page_of(inspector).editor is editor
    press(editor, "remove_n3")
    assert first(net).of == ()
    net.undo()
    assert first(net).of == ("n3",)
    press(editor, "trainEveryLayer")
    assert first(net).of == ()
    add(trained.add, "hidden")
    assert first(net).of == ("n2",)


def test_choosing_can_be_given_up(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    press(editor, "chooseOnCanvas")
    net.select(("n3",))
    qtbot.keyClick(editor.minimise.trained.take, Qt.Key.Key_Escape)
    assert not page_of(inspector).choosing
    assert first(net).of == () and net.selection == ()
    assert net.document.undo_label == "Add"


def test_the_canvas_shows_what_an_objective_does(net: Workspace, inspector: InspectorPanel) -> None:
    scene = GraphScene(net)
    editor = opened(inspector)
    plan = Plan((Phase((Minimise("n5"), Minimise("n4", of=("n3",)))),))
    net.apply("Plan", SetPlan(plan))
    assert {one: item.part for one, item in scene.node_items.items()} == {
        "n1": "",
        "n2": "trained",
        "n3": "untouched",
        "n4": "untouched",
        "n5": "",
        "n6": "",
    }
    editor.objectives.list.setCurrentRow(1)
    assert [scene.node_items[one].part for one in ("n2", "n3", "n5")] == ["frozen", "trained", "untouched"]
    net.select(("n3",))
    assert {item.part for item in scene.node_items.values()} == {""}
    net.select(())
    assert scene.node_items["n3"].part == "trained"
    inspector.hide()
    assert scene.node_items["n3"].part == ""


def test_a_chosen_layer_that_takes_no_part_is_told_of(net: Workspace, inspector: InspectorPanel) -> None:
    net.apply("Plan", SetPlan(Plan((Phase((Minimise("n5", of=("n3",)),)),))))
    notice = opened(inspector).minimise.trained.notice
    assert notice.text() == "classes is no part of what leads to this loss."
    net.apply("Remove", Remove(("n3",)))
    assert "no longer in the network" in notice.text()


def test_every_setting_of_an_objective_is_stored(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    editor = opened(inspector)
    assert not editor.fields["clip"].isVisible()
    press(editor, "moreOfObjective")
    for name, text in (("clip", "1.5"), ("accumulate", "4"), ("noise", "0.3")):
        write(qtbot, editor.fields[name], text)
    editor.fields["decay_biases"].control.click()  # type: ignore[attr-defined]
    choose(editor.fields["average"], "Moving average")
    write(qtbot, editor.fields["average.decay"], "0.99")
    add(editor.minimise.penalties.add, "L1")
    add(editor.minimise.penalties.add, "Weight elimination")
    write(qtbot, editor.fields["penalties.1.scale"], "2")
    press(editor, "remove_penalties_0")
    add(editor.minimise.rates.add, "classes")
    write(qtbot, editor.fields["rate.n3"], "0.1")
    assert first(net) == Minimise(
        clip=1.5,
        accumulate=4,
        noise=0.3,
        decay_biases=False,
        average=Choice("EMA", {"decay": 0.99}),
        penalties=(Choice("WeightElimination", {"scale": 2.0}),),
        rates={"n3": 0.1},
    )
    choose(editor.fields["average"], "none")
    assert first(net).average is None
    assert Plan.from_json(plan_of(net).to_json()) == plan_of(net)


def test_when_a_phase_ends(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    write(qtbot, editor.fields["patience"], "4")
    assert offered(editor.fields["monitor"])[:3] == ["val_loss", "train_loss", "val_accuracy"]
    choose(editor.fields["monitor"], "val_accuracy")
    add(editor.stop.also.add, "Value reached")
    write(qtbot, editor.fields["also.0.value"], "0.95")
    add(editor.stop.also.add, "Time")
    write(qtbot, editor.fields["also.1.seconds"], "90")
    assert plan_of(net).stop == Stop(
        10,
        4,
        "val_accuracy",
        also=(Choice("Reaches", {"value": 0.95}), Choice("Seconds", {"seconds": 90.0})),
    )
    press(editor, "remove_also_0")
    assert [one.name for one in plan_of(net).stop.also] == ["Seconds"]
    assert "also.0.seconds" in editor.fields
    net.apply("Remove", Remove(("n6",)))
    assert editor.fields["monitor"].control.currentText() == "val_accuracy, not recorded"  # type: ignore[attr-defined]
    assert editor.stop.notice.text() == "Nothing records val_accuracy: choose another value to watch."


@pytest.mark.parametrize(
    ("name", "text"), [("epochs", "0"), ("every", "0"), ("phase_batch", "0"), ("optimiser.lr", "-1")]
)
def test_bad_text_is_explained_and_changes_nothing(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot, name: str, text: str
) -> None:
    editor = opened(inspector)
    field = editor.fields[name]
    revision = net.document.revision
    write(qtbot, field, text)
    assert field.error.isVisible() and field.error_text.endswith("outside that.")
    assert net.document.revision == revision and plan_of(net) == Plan()


def test_batches_of_all_rows(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    field = editor.fields["phase_batch"]
    assert field.control.placeholderText() == "64, as the plan"  # type: ignore[attr-defined]
    write(qtbot, field, "all rows")
    assert plan_of(net).phases[0].batch == 0
    qtbot.keyClick(field.control, Qt.Key.Key_Return)
    assert field.control.text() == "all rows"  # type: ignore[attr-defined]
    choose(editor.fields["optimiser"], "L-BFGS")
    assert editor.minimise.optimiser.notice.text() == ""
    write(qtbot, field, "")
    assert plan_of(net).phases[0].batch is None
    assert "all rows" in editor.minimise.optimiser.notice.text()
    with pytest.raises(ParamError):
        BatchSpec("batch", "int", 64, minimum=1).parse("none")


def test_a_rule_needs_a_node_that_has_one(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    with qtbot.waitSignal(net.message):
        add(editor.objectives.add, "Apply a node's own rule")
    net.apply("Add", AddNodes((Node("n8", "Perceptron", "neuron"),)))
    add(editor.objectives.add, "Apply a node's own rule")
    assert plan_of(net).phases[0].objectives[1] == Rule("n8")
    assert editor.rule.isVisible() and not editor.minimise.isVisible()
    assert editor.objectives.rows[1] == ("Rule of neuron", "own rule")
    write(qtbot, editor.fields["every"], "2")
    assert plan_of(net).phases[0].objectives[1].every == 2
    assert net.parts["n8"] == "trained" and net.parts["n2"] == "untouched"


def test_typing_is_one_step_and_undo_shows_what_was(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    editor = opened(inspector)
    field = editor.fields["optimiser.lr"]
    write(qtbot, field, "0.025")
    assert first(net).optimiser.params["lr"] == 0.025
    assert net.document.undo_label == "Change learning rate"
    qtbot.keyClick(field.control, Qt.Key.Key_Return)
    net.undo()
    assert plan_of(net) == Plan()
    assert field.control.text() == "0.001"  # type: ignore[attr-defined]


def test_the_same_field_of_two_phases_is_two_steps(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    editor = opened(inspector)
    editor.phases.add.click()
    write(qtbot, editor.fields["epochs"], "3")
    editor.phases.list.setCurrentRow(0)
    write(qtbot, editor.fields["epochs"], "5")
    net.undo()
    assert [phase.stop.epochs for phase in plan_of(net).phases] == [10, 3]


def test_an_undo_that_takes_the_phase_on_show_shows_another(
    net: Workspace, inspector: InspectorPanel
) -> None:
    editor = opened(inspector)
    editor.phases.add.click()
    net.undo()
    assert editor.phases.list.currentRow() == 0
    assert page_of(inspector).focus.place == (0, 0)
    net.redo()
    assert names_in(editor.phases) == ["Phase 1", "Phase 2"]


def test_the_editor_comes_back_as_it_was_left(net: Workspace, inspector: InspectorPanel) -> None:
    editor = opened(inspector)
    editor.phases.add.click()
    net.select(("n2",))
    net.select(())
    again = page_of(inspector).editor
    assert again is not None and again is not editor
    assert again.phases.list.currentRow() == 1


def test_another_project_starts_simple(net: Workspace, inspector: InspectorPanel) -> None:
    opened(inspector)
    project = net.document.project
    net.show(replace(project, title="Other"), None)
    assert page_of(inspector).simple.isVisible()


def test_schedules_are_drawn(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    page = page_of(inspector)
    assert not page.picture.isVisible()
    choose(page.fields["schedule"], "Warm-up")
    assert page.picture.isVisible()
    factors = page.picture.factors
    assert factors[0] < 0.05 and max(factors) == pytest.approx(1, abs=0.05) and factors[-1] < 0.01
    assert "Learning rate from" in page.picture.accessibleName()
    choose(page.fields["schedule"], "Plateau")
    assert not page.picture.isVisible()  # it depends on what training brings
    assert offered(page.fields["schedule.monitor"])[0] == "val_loss"


def test_the_fast_switch(net: Workspace, inspector: InspectorPanel) -> None:
    page_of(inspector).fields["fast"].control.click()  # type: ignore[attr-defined]
    assert plan_of(net).fast
    page = page_of(inspector)
    assert page.simple.isVisible()  # nothing else has to be known for it
    assert "what wins is kept" in page.fast_says.text()
    page.focus.add_phase()
    assert page.fast_says.text().endswith("this one trains plainly.")
    net.undo()
    net.undo()
    assert not plan_of(net).fast


def test_the_whole_editor_is_reached_by_tab(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    add(editor.objectives.add, "Lower a loss")
    press(editor, "moreOfObjective")
    inspector.activateWindow()
    page_of(inspector).title_field.setFocus()
    seen: set[str] = set()
    for _ in range(80):
        widget = inspector.focusWidget()
        assert widget is not None
        seen.add(widget.objectName())
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    wanted = {"phases", "phases_add", "objectives", "objectives_up", "chooseOnCanvas", "addTrained"}
    wanted |= {"control_loss", "control_lr", "control_schedule", "add_penalties", "addRate", "control_clip"}
    wanted |= {"control_epochs", "control_monitor", "add_also", "control_batch", "control_fast"}
    assert wanted <= seen


def test_everything_has_a_name_for_screen_readers(net: Workspace, inspector: InspectorPanel) -> None:
    editor = opened(inspector)
    editor.phases.add.click()
    for field in page_of(inspector).fields.values():
        assert field.control.accessibleName()
    for button in editor.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text() or isinstance(button.parent(), FieldRow)
