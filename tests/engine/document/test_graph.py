"""The graph answers quickly, in one order, and takes in nothing that isn't a graph."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import pytest

from engine.document.graph import Graph, Link, Node, Project
from engine.errors import GraphError
from engine.values import natural


def chain(*ids: str) -> Graph:
    links = [Link(a, "output", b, "x") for a, b in pairwise(ids)]
    return Graph([Node(id, "Linear") for id in ids], links)


def ladder(steps: int) -> Graph:
    """Two rails with two links a step: 2 to the power of `steps` ways from one end to the other."""
    nodes = [Node(f"n{number}", "Add") for number in range(2 * steps)]
    links = [
        Link(f"n{2 * step + side}", "output", f"n{2 * step + 2 + rail}", f"x{side + 1}")
        for step in range(steps - 1)
        for side in (0, 1)
        for rail in (0, 1)
    ]
    return Graph(nodes, links)


def test_nodes_and_links_come_in_order_of_number_whatever_the_order_they_were_given_in() -> None:
    nodes = [Node(id, "Add") for id in ("n10", "n2", "n1")]
    links = [
        Link("n10", "output", "n1", "x10"),
        Link("n2", "output", "n1", "x2"),
        Link("n2", "output", "n10", "x1"),
    ]
    graph, other = Graph(nodes, links), Graph(reversed(nodes), reversed(links))
    assert list(graph.nodes) == ["n1", "n2", "n10"]
    assert [str(link) for link in graph.links] == [
        "n2.output → n1.x2",
        "n2.output → n10.x1",
        "n10.output → n1.x10",
    ]
    assert sorted(graph.links, reverse=True) == list(reversed(graph.links))
    assert [link.target_port for link in graph.incoming("n1")] == ["x2", "x10"]
    assert graph.order() == ["n2", "n10", "n1"]
    assert graph == other
    assert graph.links == other.links


def test_ties_in_the_order_go_by_number() -> None:
    assert Graph([Node("n10", "A"), Node("n9", "A"), Node("n1", "A")]).order() == ["n1", "n9", "n10"]


def test_the_order_is_that_of_networkx() -> None:
    chance = random.Random(3)
    ids = [f"n{index}" for index in range(1, 60)]
    chance.shuffle(ids)
    links = {
        (target, f"x{port}"): Link(ids[chance.randrange(at)], "output", target, f"x{port}")
        for at, target in enumerate(ids)
        if at
        for port in range(1, chance.randint(1, 4))
    }
    graph = Graph([Node(id, "Add") for id in ids], links.values())
    plain = nx.DiGraph([(link.source, link.target) for link in graph.links])
    plain.add_nodes_from(ids)
    assert graph.order() == list(nx.lexicographical_topological_sort(plain, key=natural))


def test_ancestors_and_descendants() -> None:
    graph = chain("n1", "n2", "n3")
    assert graph.ancestors("n3") == {"n1", "n2"}
    assert graph.descendants("n1") == {"n2", "n3"}
    assert graph.ancestors("n1") == graph.descendants("n3") == set()
    with pytest.raises(GraphError, match="no node"):
        graph.ancestors("n9")


def test_a_cycle_is_seen_before_it_is_closed() -> None:
    graph = chain("n1", "n2", "n3")
    assert graph.would_cycle("n3", "n1")
    assert graph.would_cycle("n1", "n1")
    assert not graph.would_cycle("n1", "n3")


def test_many_ways_do_not_make_the_cycle_question_hard() -> None:
    graph = ladder(30)
    assert graph.would_cycle("n59", "n0")
    assert not graph.would_cycle("n0", "n59")
    assert len(graph.order()) == 60


@pytest.mark.parametrize(
    ("nodes", "links", "sentence"),
    [
        (["n1", "n1"], [], "two nodes"),
        (["n1"], [("n1", "n2")], "does not exist"),
        (["n1"], [("n1", "n1")], "feed itself"),
        (["n1", "n2"], [("n1", "n2"), ("n2", "n1")], "cycle: n1 → n2 → n1"),
        (["n1", "n2", "n3"], [("n1", "n3"), ("n2", "n3")], "already fed"),
    ],
)
def test_what_is_no_graph_is_refused(nodes: list[str], links: list[tuple[str, str]], sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        Graph([Node(id, "Linear") for id in nodes], [Link(a, "output", b, "x") for a, b in links])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": 1}, {1}, object(), b"x"])
def test_a_parameter_holds_only_what_a_file_gives_back(value: object) -> None:
    with pytest.raises(GraphError):
        Node("n1", "Linear", params={"units": value})  # type: ignore[dict-item]


def test_a_parameter_is_independent_of_what_it_was_made_from() -> None:
    kernel = [3, [5, 7]]
    node = Node("n1", "Conv2d", params={"kernel": kernel})  # type: ignore[dict-item]
    kernel.append(9)
    assert node.params == {"kernel": (3, (5, 7))}


@pytest.mark.parametrize("place", [(float("nan"), 0), (0, float("inf")), (1e300, 0)])
def test_a_node_lies_where_a_canvas_can_show_it(place: tuple[float, float]) -> None:
    with pytest.raises(GraphError, match="placed"):
        Node("n1", "Linear", position=place)


def test_a_copy_is_independent() -> None:
    project = Project(graph=chain("n1", "n2"), next_id=3)
    twin = project.copy()
    twin.graph._insert(Node(twin.new_id(), "Linear"))
    twin.graph._unplug(Link("n1", "output", "n2", "x"))
    assert list(project.graph.nodes) == ["n1", "n2"]
    assert len(project.graph.links) == 1
    assert project.next_id == 3
    assert project.graph.would_cycle("n2", "n1")
    assert not twin.graph.would_cycle("n2", "n1")


def test_parallel_links_count_as_one_way_until_the_last_is_gone() -> None:
    first, second = Link("n1", "output", "n2", "x1"), Link("n1", "h", "n2", "x2")
    graph = Graph([Node("n1", "LSTM"), Node("n2", "Add")], [first, second])
    assert graph.would_cycle("n2", "n1")
    graph._unplug(first)
    assert graph.would_cycle("n2", "n1")
    graph._unplug(second)
    assert not graph.would_cycle("n2", "n1")


def test_the_document_loads_neither_torch_nor_networkx_nor_qt() -> None:
    document = "graph edits document files clipboard plan autosave names dressing scopes renumber blocks"
    modules = [f"document.{name}" for name in document.split()]
    modules += ["catalogue.connect", "catalogue.training.optimisers", "shapes.rewire"]
    program = (
        "import sys, importlib\n"
        f"for name in {modules!r}: importlib.import_module('engine.' + name)\n"
        "print([name for name in ('torch', 'networkx', 'numpy', 'PySide6') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
