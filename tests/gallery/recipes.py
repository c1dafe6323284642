"""For every node type, optimiser and schedule: a small project that can train it.

The recipes know data sets, not node types: a layer is tried on images, on sequences, on tables and on whole
numbers until its shapes work out, so that a new type needs no line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from math import prod
from pathlib import Path

from engine.catalogue import Catalogue, Column, Data, Layer, Loss, Metric, NodeType, load_catalogue
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES
from engine.data.open.annotated import open_it as open_annotated
from engine.data.open.opening import open_data
from engine.data.open.series import open_it as open_series
from engine.data.open.text import open_pairs
from engine.data.watch import Watch
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Choice, Fit, Minimise, Phase, Plan, Rule, Stop
from engine.shapes.shapes import check
from engine.values import Value
from tests.engine.data.public_made import public_folder
from tests.gallery.boxed import boxed
from tests.gallery.on_texts import masked, paired, segmented
from tests.gallery.read_off import READ_OFF, read_off
from tests.gallery.unpooled import unpooled
from tests.gallery.worlds import in_world

# Where a layer is tried: data, the column it reads, the column to predict, a layer in between or none.
GROUNDS = (
    ("Iris", "features", "species", ""),
    ("Digits", "image", "digit", ""),
    ("SantaFe", "window", "next", ""),
    ("SantaFe", "window", "next", "Transpose"),
    ("Digits", "digit", "digit", ""),
    ("Digits", "image", "digit", "Patches"),
    ("Digits", "image", "digit", "Reshape"),
)
BETWEEN: Mapping[str, Mapping[str, Value]] = {"Reshape": {"shape": (1, 4, 4, 4)}}
# Of the loss types by what a target is: classes, a yes or no, a quantity.
TARGETS = (("Iris", "species", 3), ("BreastCancer", "benign", 1), ("Diabetes", "progression", 1))
# Values for parameters whose default suits another size than that of the data here.
FITTING: Mapping[str, Mapping[str, Value]] = {
    "Reshape": {"shape": (2, -1)},
    **{one: {"size": 6} for one in ("Crop", "RandomCrop")},
    "LabelNoise": {"classes": 3},
    "GroupNorm": {"groups": 2},
    "TypedLinear": {"rows": "0 1 0 0 1; 1 0 -1 0.5 0"},
    "DrawnPoints": {"points": tuple((at / 20, (at % 7) / 7, at % 2) for at in range(40))},
    **{one: {"units": 4} for one in ("Perceptron", "DeltaRule", "LeastSquares", "GaussianProcess")},
    **{one: {"units": 3} for one in ("SupportVectors", "GaussianClasses")},
}
# The file that a node type of a person's own data is tried with, opened as the window opens it.
FILES = Path(__file__).parents[1] / "data_files"
OPENED: Mapping[str, str] = {
    "SeriesFile": "tides.csv",
    "TextCorpus": "story.txt",
    "LabelledText": "reviews.jsonl",
    "TextPairs": "pairs.tsv",
    "AnnotatedText": "notes.tsv",
    "TableFile": "plants.csv",
    "ArrayFile": "flowers.npz",
    "CloudFile": "solids",
    "GraphFile": "friends.edges",
    "GraphFolder": "graphs",
    "ImageFolder": "images",
}
# Types whose package is an extra that is not installed here.
LACKING = () if find_spec("gymnasium") else ("Gymnasium",)
EVERYTHING = 100_000  # as batch: one step an epoch
OF_CLASSES = ("SupportVectors", "GaussianClasses")  # rules that are taught classes and not numbers


def opened(type_id: str) -> Mapping[str, Value]:
    """The parameters of a node type that was opened on its file."""
    path = FILES / OPENED[type_id]
    if type_id == "SeriesFile":  # what a table is otherwise
        return open_series(path, Watch()).params
    if type_id == "AnnotatedText":
        return open_annotated(path, Watch()).params
    return (open_pairs(path, Watch()) if type_id == "TextPairs" else open_data(path)).params


def plan(**changes: object) -> Plan:
    """Two epochs of one step each."""
    return Plan().with_(batch=EVERYTHING, epochs=2, **changes)


def recipes() -> dict[str, Project]:
    """Every project by name; layers with several outputs once an output."""
    return {name: project.copy() for name, project in _built().items()}


@cache  # three files name their tests after them, and building takes seconds
def _built() -> dict[str, Project]:
    return dict(_recipes(load_catalogue()))


def _recipes(catalogue: Catalogue) -> Iterator[tuple[str, Project]]:
    for node_type in catalogue.types():
        if node_type.kind == "layer":
            yield from _layers(catalogue, node_type)
        elif node_type.type_id in LACKING:
            continue
        elif node_type.type_id in READ_OFF:
            yield node_type.type_id, read_off(plan())
        elif node_type.kind == "data":
            yield node_type.type_id, _data(node_type)
        elif node_type.kind == "transform":
            yield node_type.type_id, _transform(catalogue, node_type)
        elif node_type.kind in ("loss", "metric"):
            in_boxes = issubclass(node_type, (Loss, Metric)) and node_type.traits.boxes
            made = boxed(node_type.type_id, plan()) if in_boxes else _measured(catalogue, node_type)
            yield node_type.type_id, made
        elif node_type.kind == "source":
            yield node_type.type_id, _source(node_type)
        elif node_type.kind == "output":
            yield node_type.type_id, _output(node_type)
    for name, found in OPTIMISERS.items():
        table = _squares if found.closure == "residuals" else _table
        yield f"optimiser {name}", table(plan(optimiser=Choice(name, {"lr": 0.01})))
    for name in SCHEDULES:
        yield f"schedule {name}", _table(plan(schedule=Choice(name, {})))


def _project(nodes: list[Node], links: list[Link], how: Plan | None = None) -> Project:
    return Project(title="Recipe", graph=Graph(nodes, links), plan=how or plan(), next_id=len(nodes) + 1)


def _table(how: Plan) -> Project:
    nodes = [Node("n1", "Iris"), Node("n2", "Linear", params={"units": 3}), Node("n3", "CrossEntropy")]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", "species", "n3", "target"),
    ]
    return _project(nodes, links, how)


def _squares(how: Plan) -> Project:
    nodes = [Node("n1", "Iris"), Node("n2", "Linear", params={"units": 4}), Node("n3", "MSE")]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", "features", "n3", "target"),
    ]
    return _project(nodes, links, how)


def _layers(catalogue: Catalogue, node_type: type[NodeType]) -> Iterator[tuple[str, Project]]:
    made = node_type(FITTING.get(node_type.type_id))
    if isinstance(made, Layer) and made.hands_on == {"output": "x"}:
        yield node_type.type_id, _on_target(node_type)
        return
    if made.hands_on == {"tokens": "x"}:
        yield node_type.type_id, masked(node_type.type_id, opened("TextCorpus"), plan())
        return
    if made.classes_of == {"word": "x", "others": "x"}:
        yield node_type.type_id, paired(node_type.type_id, opened("TextCorpus"), plan())
        return
    if node_type.type_id == "Segments":
        yield node_type.type_id, segmented(node_type.type_id, opened("AnnotatedText"), plan())
        return
    ports = {port.name for port in made.inputs()}
    if "places" in ports | {port.name for port in made.outputs()}:
        yield from unpooled(node_type.type_id, plan())
        return
    if "edges" in ports or "sizes" in ports:
        for batches in ("block-diagonal", "padded") if "edges" in ports else ("block-diagonal",):
            yield f"{node_type.type_id} {batches}", _graphs(node_type, batches)
        return
    if {"noise", "time"} <= ports:
        yield node_type.type_id, _in_noise(node_type)
        return
    if isinstance(made, Layer) and (made.learns_from or made.teaches):
        for port in made.outputs():
            name = node_type.type_id if port.name == "output" else f"{node_type.type_id} {port.name}"
            yield name, _mixture(made, port.name)
        return
    if "mask" in ports:
        yield node_type.type_id, _set(node_type)
        return
    if {"action", "reward"} & ports:
        yield node_type.type_id, in_world(made, plan())
        return
    for port in made.outputs():
        name = node_type.type_id if port.name == "output" else f"{node_type.type_id} {port.name}"
        for ground in GROUNDS:
            project = _layer(made, port.name, *ground)
            if not check(project, catalogue).errors:
                yield name, project
                break
        else:
            yield name, project  # the test shows its problems


def _on_target(node_type: type[NodeType]) -> Project:
    """A layer for class numbers, between the data and the loss."""
    project = _table(plan())
    nodes = [
        *project.graph.nodes.values(),
        Node("n4", node_type.type_id, "tried", FITTING[node_type.type_id]),
    ]
    links = [link for link in project.graph.links if link.target_port != "target"]
    return _project(nodes, [*links, Link("n1", "species", "n4", "x"), Link("n4", "output", "n3", "target")])


def _graphs(node_type: type[NodeType], batches: str) -> Project:
    """A layer on graphs of several sizes, then one row for each, scores and a loss."""
    packed, along = batches == "block-diagonal", node_type.type_id != "GraphReadout"
    params = {**open_data(FILES / "shapes.edges").params, "batches": batches}
    nodes = [
        Node("n1", "GraphFile", params=params),
        Node("n2", node_type.type_id if along else "GraphConvolution", "tried"),
        Node("n3", "GraphReadout" if packed else "MaskedPool"),
        Node("n4", "Linear", params={"units": 2}),
        Node("n5", "CrossEntropy"),
    ]
    counted = "sizes" if packed else "mask"
    links = [
        Link("n1", "nodes", "n2", "nodes"),
        Link("n1", "edges" if packed else "adjacency", "n2", "edges"),
        Link("n2", "output", "n3", "nodes" if packed else "x"),
        Link("n1", counted, "n3", counted),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "label", "n5", "target"),
    ]
    return _project(nodes, links)


def _in_noise(node_type: type[NodeType]) -> Project:
    """A layer that mixes examples with noise by a time."""
    nodes = [
        Node("n1", "Iris"),
        Node("n2", node_type.type_id, "tried"),
        Node("n3", "GaussianNoise", params={"size": (4,)}),
        Node("n4", "UniformNoise", params={"size": (1,), "positive": True}),
        Node("n5", "Linear", params={"units": 4}),
        Node("n6", "MSE"),
    ]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n3", "output", "n2", "noise"),
        Link("n4", "output", "n2", "time"),
        Link("n2", "output", "n5", "x"),
        Link("n5", "output", "n6", "prediction"),
        Link("n3", "output", "n6", "target"),
    ]
    return _project(nodes, links)


def _mixture(made: NodeType, port: str) -> Project:
    """The parts of a mixture, which learn in one step; classes are told by what leaves one of them."""
    parts = ("Means", "Covariances", "MixingWeights", "Responsibilities")
    nodes = [Node(f"n{number}", type_id) for number, type_id in enumerate(("Iris", *parts), 1)]
    nodes += [Node("n6", "Flatten"), Node("n7", "Linear", params={"units": 3}), Node("n8", "CrossEntropy")]
    links = [Link("n1", "features", "n2", "x")]
    links += [Link(f"n{number}", "output", f"n{number + 1}", "x") for number in (2, 3, 4)]
    links += [
        Link(f"n{parts.index(made.type_id) + 2}", port, "n6", "x"),
        Link("n6", "output", "n7", "x"),
        Link("n7", "output", "n8", "prediction"),
        Link("n1", "species", "n8", "target"),
    ]
    learns = (Rule("n2", also=("n3", "n4", "n5")), Minimise(of=("n7",)))
    return _project(nodes, links, Plan((Phase(learns, Stop(2)),), batch=0))


def _set(node_type: type[NodeType]) -> Project:
    """A layer on point clouds and their masks."""
    params = opened("CloudFile")
    nodes = [
        Node("n1", "CloudFile", params=params),
        Node("n2", node_type.type_id, "tried"),
        Node("n3", "Linear", params={"units": 2}),
        Node("n4", "CrossEntropy"),
    ]
    links = [
        Link("n1", "points", "n2", "x"),
        Link("n1", "mask", "n2", "mask"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "label", "n4", "target"),
    ]
    return _project(nodes, links)


def _layer(made: NodeType, port: str, data: str, column: str, target: str, between: str) -> Project:
    """Data, the layer, then whatever leads to a prediction: flattened where needed, a dense layer, a loss."""
    params = FITTING.get(made.type_id, {})
    nodes = [Node("n1", data), Node("n2", made.type_id, "tried", dict(params))]
    links = []
    source = ("n1", column)
    if between:
        nodes.append(Node("n6", between, params=dict(BETWEEN.get(between, {}))))
        links.append(Link(*source, "n6", "x"))
        source = ("n6", "output")
    for entry in made.inputs():
        names = [f"{entry.name}{number}" for number in (1, 2)] if entry.many else [entry.name]
        taught = entry.name == "target" and made.type_id in OF_CLASSES
        links += [Link(*(("n1", target) if taught else source), "n2", name) for name in names]
    quantity = target == "next"
    how = None
    if isinstance(made, Layer) and made.learns_by_rule:
        learns = Fit("n2") if made.fits_all else Rule("n2")
        how = Plan((Phase((learns, Minimise(of=("n4",))), Stop(2)),), batch=EVERYTHING)
    nodes += [
        Node("n3", "Flatten"),
        Node("n4", "Linear", params={"units": 1 if quantity else 10}),
        Node("n5", "MSE" if quantity else "CrossEntropy"),
    ]
    links += [
        Link("n2", port, "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", target, "n5", "target"),
    ]
    return _project(nodes, links, how)


def _data(node_type: type[NodeType]) -> Project:
    params: Mapping[str, Value] = FITTING.get(node_type.type_id, {})
    if node_type.type_id in OPENED:
        params = opened(node_type.type_id)
    assert issubclass(node_type, Data)
    if node_type.public:
        params = {"path": str(public_folder(node_type.public))}
    return data_project(node_type, params)


def data_project(node_type: type[Data], params: Mapping[str, Value]) -> Project:
    """A small network for what a data node holds: says a target from the first column, or that column."""
    made = node_type(params)
    columns = made.columns()
    target = next((column for column in columns[1:] if _is_class(column)), columns[min(1, len(columns) - 1)])
    if columns[0].dtype == "int64" and len(columns[0].shape) == 1:
        follows = any(column.name == "next" for column in columns)
        return _tokens(made, dict(params), None if follows else target)
    outputs = (len(target.classes), *target.shape) if _is_class(target) else target.shape
    nodes = [
        Node("n1", node_type.type_id, params=dict(params)),
        Node("n2", "Flatten"),
        Node("n3", "Linear", params={"units": prod(outputs)}),
        Node("n4", "CrossEntropy" if _is_class(target) else "MSE"),
    ]
    last = "n3"
    links = [Link("n1", columns[0].name, "n2", "x"), Link("n2", "output", "n3", "x")]
    if _is_class(target) and target.shape:  # a class for each pixel
        nodes.append(Node("n5", "Reshape", params={"shape": outputs}))
        links.append(Link("n3", "output", "n5", "x"))
        last = "n5"
    links += [Link(last, "output", "n4", "prediction"), Link("n1", target.name, "n4", "target")]
    return _project(nodes, links)


def _tokens(made: Data, params: dict[str, Value], target: Column | None) -> Project:
    """Tokens looked up in a table; a class an example or at each place, or the next token, is to be said."""
    pairs = made.type_id == "TextPairs"
    known = len(made.columns()[0].classes)
    size = int(getattr(made, "target_size" if pairs else "size", known))
    nodes = [
        Node("n1", made.type_id, params=params),
        Node("n2", "Embedding", params={"entries": size, "size": 4}),
        Node("n3", "Linear", params={"units": len(target.classes) if target else size}),
        Node("n4", "CrossEntropy"),
    ]
    last = "n2"
    links = [Link("n1", "target" if pairs else "tokens", "n2", "x")]
    if target and not target.shape:
        nodes.append(Node("n5", "Flatten"))
        links.append(Link("n2", "output", "n5", "x"))
        last = "n5"
    links += [
        Link(last, "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", target.name if target else "next", "n4", "target"),
    ]
    return _project(nodes, links)


def _transform(catalogue: Catalogue, node_type: type[NodeType]) -> Project:
    """Between a table and a dense layer, or between its classes and the loss."""
    table = _table(plan())
    nodes = [*table.graph.nodes.values(), Node("n4", node_type.type_id, "changed")]
    for wire in (table.graph.feeding("n2", "x"), table.graph.feeding("n3", "target")):
        assert wire is not None
        kept = [link for link in table.graph.links if link != wire]
        changed = [
            Link(wire.source, wire.source_port, "n4", "x"),
            Link("n4", "output", wire.target, wire.target_port),
        ]
        project = _project(nodes, [*kept, *changed])
        if not check(project, catalogue).errors:
            break
    return project


def _is_class(column: Column) -> bool:
    return bool(column.classes)


def _measured(catalogue: Catalogue, node_type: type[NodeType]) -> Project:
    """The loss, or the metric beside a loss, on the first kind of target that suits it.

    Ports of other names than target take the prediction, as a teacher's scores or those of made examples.
    """
    for data, target, units in TARGETS:
        nodes = [Node("n1", data), Node("n2", "Linear", params={"units": units})]
        links = [Link("n1", "features", "n2", "x")]
        kinds = [node_type]
        if node_type.kind == "metric":
            usual = "CrossEntropy" if units > 1 else "BCEWithLogits" if target == "benign" else "MSE"
            found = catalogue.get(usual)
            assert found is not None
            kinds.append(found)
        for number, kind in enumerate(kinds, start=3):
            nodes.append(Node(f"n{number}", kind.type_id))
            for port in kind.ports_in:
                source = ("n1", target) if port.name == "target" else ("n2", "output")
                links.append(Link(*source, f"n{number}", port.name))
        project = _project(nodes, links)
        if not check(project, catalogue).problems:
            break
    return project


def _source(node_type: type[NodeType]) -> Project:
    """Noise beside the features of a table."""
    project = _table(plan())
    kept = [link for link in project.graph.links if link.target != "n2"]
    nodes = [*project.graph.nodes.values(), Node("n4", node_type.type_id, "noise", {"size": 3})]
    nodes.append(Node("n5", "Concatenate"))
    port = node_type().outputs()[0].name
    links = [*kept, Link("n1", "features", "n5", "x1"), Link("n4", port, "n5", "x2")]
    return _project(nodes, [*links, Link("n5", "output", "n2", "x")])


def _output(node_type: type[NodeType]) -> Project:
    project = _table(plan())
    nodes = [*project.graph.nodes.values(), Node("n4", node_type.type_id, "answer")]
    links = [*project.graph.links, Link("n2", "output", "n4", node_type().inputs()[0].name)]
    return _project(nodes, links)
