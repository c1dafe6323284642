"""Differences between two projects, in words."""

from dataclasses import replace

from engine.catalogue import load_catalogue
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Plan
from engine.runs.compare import Difference, compare, compare_facts, compare_runs, graph_hash, plan_hash
from tests.engine.train.networks import iris


def words(found: list[Difference]) -> list[str]:
    return [one.what for one in found]


def edited(
    project: Project, *nodes: Node, without: tuple[str, ...] = (), links: tuple[Link, ...] = ()
) -> Project:
    kept = {**project.graph.nodes, **{node.id: node for node in nodes}}
    kept = {id: node for id, node in kept.items() if id not in without}
    wires = [link for link in project.graph.links if link.source in kept and link.target in kept]
    return replace(project, graph=Graph(kept.values(), [*wires, *links]))


def test_a_copy_differs_in_nothing_wherever_its_nodes_stand() -> None:
    one = iris()
    moved = edited(one, replace(one.graph.nodes["n2"], position=(500.0, 3.0)))
    assert compare(one, moved, load_catalogue()) == []
    assert graph_hash(one) == graph_hash(moved) and plan_hash(one) == plan_hash(moved)


def test_settings_that_differ_are_named_with_both_values() -> None:
    one = iris(batch=32, epochs=4, optimiser=Choice("Adam", {"lr": 0.001}))
    other = iris(batch=64, epochs=8, patience=3, optimiser=Choice("Adam", {"lr": 0.01, "beta1": 0.8}))
    assert words(compare(one, other)) == [
        "batch size: 32 → 64",
        "epochs: 4 → 8",
        "patience: off → 3",
        "learning rate: 0.001 → 0.01",
        "beta1: 0.9 → 0.8",
    ]
    assert plan_hash(one) != plan_hash(other)


def test_a_default_left_out_is_the_same_as_one_written_down() -> None:
    one = iris(optimiser=Choice("Adam"))
    assert compare(one, iris(optimiser=Choice("Adam", {"lr": 0.001}))) == []
    node = one.graph.nodes["n3"]
    assert compare(one, edited(one, replace(node, params={"share": 0.5})), load_catalogue()) == []


def test_another_optimiser_says_only_what_follows_from_no_default() -> None:
    one, other = iris(optimiser=Choice("SGD", {"momentum": 0.9})), iris(optimiser=Choice("Adam"))
    assert words(compare(one, other)) == [
        "optimiser: SGD → Adam",
        "learning rate: 0.01 → 0.001",
        "momentum: 0.9 → not set",
    ]


def test_nodes_added_removed_changed_and_renamed() -> None:
    one = iris()
    hidden = one.graph.nodes["n2"]
    other = edited(
        one,
        replace(hidden, params={**hidden.params, "units": 32}),
        replace(one.graph.nodes["n4"], name="species"),
        Node("n9", "BatchNorm", "norm"),
        without=("n3",),
        links=(Link("n2", "output", "n4", "x"),),
    )
    found = compare(one, other, load_catalogue())
    assert words(found) == [
        "Dropout n3 removed",
        "norm (Batch norm) added",
        "hidden, units: 16 → 32",
        "classes, name: classes → species",
        "wire hidden (output) → species (x) added",
    ]
    assert {(one.kind, one.change) for one in found} >= {
        ("node", "added"),
        ("node", "removed"),
        ("node", "changed"),
        ("wire", "added"),
    }
    assert next(one for one in found if one.what.startswith("hidden, units")).node_id == "n2"
    assert graph_hash(one) != graph_hash(other)


def test_nodes_of_another_project_are_found_by_their_names() -> None:
    one = Project(graph=Graph([Node("n1", "Linear", "first"), Node("n2", "Linear", "second", {"units": 4})]))
    other = Project(
        graph=Graph([Node("n1", "Linear", "second", {"units": 5}), Node("n7", "Linear", "first")])
    )
    assert words(compare(one, other)) == ["second, units: 4 → 5"]


def test_a_muted_node_and_one_of_another_type_are_told() -> None:
    one = Project(graph=Graph([Node("n1", "Linear", "a"), Node("n2", "ReLU", "b")]))
    other = Project(graph=Graph([Node("n1", "Linear", "a", muted=True), Node("n2", "Tanh", "b")]))
    assert words(compare(one, other)) == ["a, muted: no → yes", "b, type: ReLU → Tanh"]


def test_facts_of_runs_stand_in_for_the_plan_that_they_override() -> None:
    before, after = {"epochs": 3, "seed": 0, "device": "cpu"}, {"epochs": 5, "seed": 0, "device": "cuda"}
    assert words(compare_facts(before, after)) == ["epochs: 3 → 5", "device: cpu → cuda"]
    one, other = Project(plan=Plan().with_(epochs=10)), Project(plan=Plan().with_(epochs=20))
    assert words(compare_runs((before, one), (after, other))) == ["epochs: 3 → 5", "device: cpu → cuda"]
    told = {"weights": {"file": "best.safetensors", "layers": 2, "of": 3}}
    assert words(compare_facts({"weights": None}, told)) == [
        "first weights: none → best.safetensors (2 of 3 layers)"
    ]
