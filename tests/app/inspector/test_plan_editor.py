"""The plan editor: phases, objectives, what is trained, schedules, stop rules; each edit one step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.inspector.inspector import InspectorPanel
from app.inspector.plan_fields import BatchSpec, Removable, Tool
from app.theme import current_theme, set_theme
from app.widgets.fields import FieldRow
from app.workspace.plan_parts import moves
from app.workspace.workspace import Workspace
from engine.document.blocks import group
from engine.document.edits import AddNodes, Remove
from engine.document.graph import Link, Node
from engine.document.plan import Choice, Follow, Minimise, Plan, Rollout, Rule, Stop
from engine.errors import ParamError
from tests.app.inspector.plan_hands import (
    add,
    choose,
    first,
    names_in,
    offered,
    opened,
    page_of,
    plan_of,
    press,
    write,
)


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


def test_agents_act_and_weights_follow(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    editor = opened(inspector)
    with qtbot.waitSignal(net.message):
        add(editor.objectives.add, "Act in an environment")
    maze, layer = Node("n8", "GridWorld", "maze"), Node("n9", "Linear", "values", {"units": 4})
    net.apply("Add", AddNodes((maze, layer), links=(Link("n8", "state", "n9", "x"),)))
    add(editor.objectives.add, "Act in an environment")
    assert plan_of(net).phases[0].objectives[1] == Rollout("n8", policy="n9")
    assert editor.rollout.isVisible() and not editor.rule.isVisible()
    assert editor.objectives.rows[1] == ("Act in maze", "16 agents")
    write(qtbot, editor.fields["agents"], "4")
    assert plan_of(net).phases[0].objectives[1] == Rollout("n8", policy="n9", agents=4)
    assert not editor.rollout.notice.isVisible()
    add(editor.objectives.add, "Let weights follow others")
    step = plan_of(net).phases[0].objectives[2]
    assert isinstance(step, Follow) and step.node != step.leader and editor.follow.isVisible()
    write(qtbot, editor.fields["rate"], "0.01")
    assert plan_of(net).phases[0].objectives[2] == replace(step, rate=0.01)
    assert editor.objectives.rows[2][1] == "rate 0.01"


def test_a_rule_takes_more_nodes_also_inside_blocks(
    net: Workspace, inspector: InspectorPanel, qtbot: QtBot
) -> None:
    nodes = (Node("n8", "Means", "means"), Node("n9", "Responsibilities", "responsibilities"))
    net.apply("Add", AddNodes(nodes))
    editor = opened(inspector)
    add(editor.objectives.add, "Apply a node's own rule")
    add(editor.rule.add, "responsibilities")
    assert plan_of(net).phases[0].objectives[1] == Rule("n8", also=("n9",))
    assert editor.objectives.rows[1] == ("Rule of means and 1 more", "own rule")
    assert net.parts["n8"] == net.parts["n9"] == "trained"
    with net.document.step("Group"):
        for one in group(net.document.project, ["n9"], "inner"):
            net.document.apply(one)
    row = editor.rule.findChildren(Removable)[-1]
    assert row.key == "n9" and "responsibilities in inner" in row.button.toolTip()
    instance = next(one for one, node in net.document.project.graph.nodes.items() if node.block)
    assert moves(net, plan_of(net).phases[0].objectives[1]) == {"n8", instance}
    qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    assert plan_of(net).phases[0].objectives[1] == Rule("n8")
    net.undo()
    assert plan_of(net).phases[0].objectives[1] == Rule("n8", also=("n9",))


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


def test_another_theme_leaves_everything_as_it_was(net: Workspace, inspector: InspectorPanel) -> None:
    editor = opened(inspector)
    editor.phases.add.click()
    press(editor, "chooseOnCanvas")
    net.select(("n3",))
    before = current_theme().name
    try:
        marks = [button for button in editor.findChildren(Tool) if button.isEnabled()]
        old = [button.icon().pixmap(14).toImage() for button in marks]
        set_theme("light" if before == "dark" else "dark")
        again = page_of(inspector).editor
        assert marks and all(
            button.icon().pixmap(14).toImage() != image for button, image in zip(marks, old, strict=True)
        )
        assert again is editor
        assert again.phases.list.currentRow() == 1
        assert again.minimise.trained.take.text() == "Train this one"
        assert net.parts["n3"] == "trained"
    finally:
        set_theme(before)


def test_another_project_starts_simple(net: Workspace, inspector: InspectorPanel) -> None:
    opened(inspector)
    project = net.document.project
    net.show(replace(project, title="Other"), None)
    assert page_of(inspector).simple.isVisible()


def test_schedules_are_drawn(net: Workspace, inspector: InspectorPanel, qtbot: QtBot) -> None:
    page = page_of(inspector)
    assert not page.plot.isVisible()
    choose(page.fields["schedule"], "Warm-up")
    assert page.plot.isVisible()
    factors = page.plot.factors
    assert factors[0] < 0.05 and max(factors) == pytest.approx(1, abs=0.05) and factors[-1] < 0.01
    assert "Learning rate from" in page.plot.accessibleName()
    choose(page.fields["schedule"], "Plateau")
    assert not page.plot.isVisible()  # it depends on what training brings
    assert offered(page.fields["schedule.monitor"])[0] == "val_loss"


def test_the_fast_switch(net: Workspace, inspector: InspectorPanel) -> None:
    page_of(inspector).fields["fast"].control.click()  # type: ignore[attr-defined]
    assert plan_of(net).fast
    page = page_of(inspector)
    assert page.simple.isVisible()  # nothing else has to be known for it
    assert "what wins is kept" in page.fast_says.text()
    page.focus.add_phase()  # any plan has a fast path
    assert "what wins is kept" in page.fast_says.text()
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
