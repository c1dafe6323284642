"""What an objective does with each node of the network, and what nodes are called in a plan."""

from __future__ import annotations

from collections.abc import Sequence

from app.workspace.open_document import TrainableDocument
from engine.catalogue import Environment, Layer, Loss, NodeType
from engine.catalogue.bypass import measured_names, origin
from engine.catalogue.identifiers import NameBook
from engine.document.graph import Graph, Node, Project
from engine.document.plan import ChangeModel, Follow, Objective, Rollout, Rule
from engine.errors import NeuroloomError

MEASURED = ("loss", "metric")
TRAINED, FROZEN, UNTOUCHED = "trained", "frozen", "untouched"


def is_layer(workspace: TrainableDocument, node: Node) -> bool:
    found = workspace.type_of(node)
    return bool(node.block) or (found is not None and issubclass(found, Layer))


def can_learn(workspace: TrainableDocument, node_id: str) -> bool:
    """Whether a node of the whole network has weights; while the engine starts, whether it may have."""
    node = workspace.document.project.graph.nodes.get(node_id)
    if node is None or not is_layer(workspace, node):
        return False
    shapes = workspace.shapes
    return shapes is None or bool(shapes.parameters(node_id)) or shapes.facts(node_id) is None


def learners(workspace: TrainableDocument) -> dict[str, str]:
    """The nodes that can be trained, each with its name, in the order of the network."""
    graph = workspace.document.project.graph
    return {one: named(graph, one) for one in _ordered(graph) if can_learn(workspace, one)}


def losses(workspace: TrainableDocument) -> dict[str, str]:
    """The loss nodes of the network, each with its name."""
    return _of_kind(workspace, Loss)


def rule_nodes(workspace: TrainableDocument, *, fits: bool = False) -> dict[str, str]:
    """The nodes that learn by a rule of their own, or that are fitted, each with its name."""
    project = workspace.document.project
    inside = [node for scope, graph in project.graphs() if scope for node in graph.nodes.values()]
    nodes = [*(project.graph.nodes[one] for one in _ordered(project.graph)), *([] if fits else inside)]
    return {node.id: named_in(project, node.id) for node in nodes if _by_rule(workspace, node, fits)}


def environments(workspace: TrainableDocument) -> dict[str, str]:
    """The nodes that agents can act in, each with its name."""
    return _of_kind(workspace, Environment)


def policies(workspace: TrainableDocument, environment: str) -> dict[str, str]:
    """The nodes that could score the actions of an environment, each with its name."""
    graph = workspace.document.project.graph
    behind = graph.descendants(environment) if environment in graph.nodes else set(graph.nodes)
    return {one: title for one, title in learners(workspace).items() if one in behind}


def named(graph: Graph, node_id: str) -> str:
    """The name of a node, or what can be said of one that is gone."""
    node = graph.nodes.get(node_id)
    return f"{node_id}, which is gone" if node is None else node.name or node_id


def named_in(project: Project, node_id: str) -> str:
    """The name of a node of any scope; one inside a block is said to be there."""
    node = project.find(node_id)
    if node is None or node_id in project.graph.nodes:
        return named(project.graph, node_id)
    return f"{node.name or node_id} in {project.block(project.home(node_id)).name or 'a block'}"


def recorded(workspace: TrainableDocument) -> tuple[str, ...]:
    """The names of the values that a run of this plan records after each epoch, in the order of use."""
    project = workspace.document.project
    keys = recorded_keys(workspace)
    metrics = [key for one, key in keys.items() if _metric(workspace, project.graph.nodes[one])]
    several = [key for key in keys.values() if key not in metrics]
    names = ["val_loss", *objective_series(project)]
    names += [f"val_{key}" for key in (*metrics, *(several if len(several) > 1 else ()))]
    trainer = workspace.trainer
    if trainer is not None:  # what the last run recorded beside that: accuracy of classifiers and the like
        names += [one for one in trainer.feed.series() if one.startswith("val_")]
    return tuple(dict.fromkeys(names))


def recorded_keys(workspace: TrainableDocument) -> dict[str, str]:
    """The name under which each loss and metric is recorded, by node; known before the engine has started."""
    project = workspace.document.project
    kinds = {one: workspace.type_of(node) for one, node in project.graph.nodes.items()}
    types = {one: kind() for one, kind in kinds.items() if kind is not None and kind.kind in MEASURED}
    return measured_names(project, types)


def objective_series(project: Project) -> tuple[str, ...]:
    """The names under which the objectives of a plan are recorded, in their order."""
    phases = project.plan.phases
    if sum(len(phase.objectives) for phase in phases) == 1:
        return ("train_loss",)
    book = NameBook(("step", "epoch", "phase"))  # the names that an exported script gives them
    found = []
    for number, phase in enumerate(phases, start=1):
        for index, objective in enumerate(phase.objectives, start=1):
            title = objective.name or (phase.name if len(phase.objectives) == 1 else "")
            if not title and isinstance(objective, ChangeModel):
                title = objective.change.name
            if not title and isinstance(objective, Rollout):
                title = "episode return"
            if not title and isinstance(objective, Follow):
                title = f"{named(project.graph, objective.node)} apart"
            if not title and isinstance(objective, Rule):
                node = project.find(objective.node)
                title = "" if node is None else f"{node.name or 'node'} rule"
            numbers = f"{number} {index}" if len(phases) > 1 else f"{index}"
            found.append(f"train_{book.give(title or f'objective {numbers}')}")
    return tuple(found)


def parts_of(workspace: TrainableDocument, objective: Objective) -> dict[str, str]:
    """What an objective does with each node: "trained", "frozen" or "untouched"; nothing for the others."""
    project = workspace.document.project
    graph = project.graph
    needed, trained = needs(workspace, objective), moves(workspace, objective)
    found: dict[str, str] = {}
    for node_id, node in graph.nodes.items():
        if node_id not in needed:
            if not _metric(workspace, node):  # it measures, whatever is trained
                found[node_id] = UNTOUCHED
        elif can_learn(workspace, node_id) or _by_rule(workspace, node):
            found[node_id] = TRAINED if node_id in trained else FROZEN
    _inside(workspace, project, found)
    return found


def merged(parts: Sequence[dict[str, str]]) -> dict[str, str]:
    """What several objectives do together: a node that one trains is trained, one that any runs is used."""
    found = {}
    for node_id in dict.fromkeys(node_id for one in parts for node_id in one):
        states = {one.get(node_id, "") for one in parts}
        strongest = next(one for one in (TRAINED, FROZEN, "", UNTOUCHED) if one in states)
        if strongest:
            found[node_id] = strongest
    return found


def needs(workspace: TrainableDocument, objective: Objective) -> set[str]:
    """The nodes that run for an objective, its losses among them."""
    project = workspace.document.project
    graph = project.graph
    if isinstance(objective, ChangeModel):
        return moves(workspace, objective)
    if isinstance(objective, Rollout):
        wanted = [objective.policy, objective.node]
    elif isinstance(objective, Follow):
        return moves(workspace, objective) | {objective.leader}.intersection(graph.nodes)
    elif isinstance(objective, Rule):
        wanted = list(_around(project, objective))
    elif objective.loss == "all":
        wanted = list(losses(workspace))
    else:
        wanted = [objective.loss] if isinstance(objective.loss, str) else list(objective.loss)
    wanted = [one for one in wanted if one in graph.nodes]
    return {*wanted, *(one for node_id in wanted for one in graph.ancestors(node_id))}


def moves(workspace: TrainableDocument, objective: Objective) -> set[str]:
    """The layers that an objective changes: those it names and all that share their weights."""
    project = workspace.document.project
    graph = project.graph
    if not isinstance(objective, Rule) and not objective.of:
        return set(graph.nodes)
    if isinstance(objective, Rollout):
        return set()
    chosen = _around(project, objective) if isinstance(objective, Rule) else objective.of
    roots = {_root(graph, one) for one in chosen if one in graph.nodes}
    return {one for one in graph.nodes if _root(graph, one) in roots}


def _around(project: Project, rule: Rule) -> tuple[str, ...]:
    """The nodes of the whole network that a rule moves: its own, and the blocks that hold some of them."""
    return tuple(dict.fromkeys(at for one in rule.nodes for at in project.standing(one)))


def _inside(workspace: TrainableDocument, project: Project, found: dict[str, str]) -> None:
    """What is true of a block is true of what is in it; of its instances, the one that learns most counts."""
    strongest = (TRAINED, FROZEN, UNTOUCHED)
    scopes = [(scope, graph) for scope, graph in project.graphs() if scope]
    for _ in scopes:  # a block in a block takes a round more
        for scope, graph in scopes:
            around = [found.get(one, FROZEN) for one in project.instances(scope)]
            part = next((one for one in strongest if one in around), UNTOUCHED)
            for node_id, node in graph.nodes.items():
                learns = node.block or (
                    is_layer(workspace, node)
                    and (workspace.shapes is None or bool(workspace.shapes.parameters(node_id)))
                )
                if learns or part == UNTOUCHED:
                    found[node_id] = part


def _root(graph: Graph, node_id: str) -> str:
    other = origin(graph, graph.nodes[node_id])
    return node_id if other is None else other.id


def _by_rule(workspace: TrainableDocument, node: Node, fits: bool | None = None) -> bool:
    kind = workspace.type_of(node)
    if kind is None or not issubclass(kind, Layer) or not kind.learns_by_rule:
        return False
    return fits is None or kind.fits_all == fits


def _metric(workspace: TrainableDocument, node: Node) -> bool:
    kind = workspace.type_of(node)
    return kind is not None and kind.kind == "metric"


def _of_kind(workspace: TrainableDocument, wanted: type[NodeType]) -> dict[str, str]:
    graph = workspace.document.project.graph
    found = {}
    for node_id in _ordered(graph):
        kind = workspace.type_of(graph.nodes[node_id])
        if kind is not None and issubclass(kind, wanted):
            found[node_id] = named(graph, node_id)
    return found


def _ordered(graph: Graph) -> list[str]:
    try:
        return list(graph.order())
    except NeuroloomError:  # a cycle, which the problems tell of
        return list(graph.nodes)
