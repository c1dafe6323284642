"""One small network in which every kind of step has something to train, and a plan of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.plan import (
    Chain,
    ChangeModel,
    Choice,
    Fit,
    Follow,
    Minimise,
    Objective,
    Phase,
    Plan,
    Rollout,
    Rule,
    Stop,
)

NODES = (
    Node("n1", "Iris", "flowers"),
    Node("n2", "Linear", "hidden", {"units": 6, "activation": "tanh"}),
    Node("n3", "Linear", "classes", {"units": 3}),
    Node("n4", "CrossEntropy", "loss"),
    Node("n5", "Oja", "components", {"units": 2}),
    Node("n6", "GaussianProcess", "process", {"units": 4, "tune": False}),
    Node("n7", "Means", "means", {"components": 2}),
    Node("n8", "Covariances", "covariances", {"ridge": 0.01}),
    Node("n9", "MixingWeights", "weights"),
    Node("n10", "Responsibilities", "responsibilities"),
    Node("n11", "Block", "stack", {"block": "b12", "times": 2}),
    Node("n16", "Linear", "follower", {"units": 6, "activation": "tanh"}),
)
LINKS = (
    Link("n1", "features", "n2", "x"),
    Link("n2", "output", "n3", "x"),
    Link("n3", "output", "n4", "prediction"),
    Link("n1", "species", "n4", "target"),
    Link("n1", "features", "n5", "x"),
    Link("n1", "features", "n6", "x"),
    Link("n1", "features", "n6", "target"),
    Link("n1", "features", "n7", "x"),
    Link("n7", "output", "n8", "x"),
    Link("n8", "output", "n9", "x"),
    Link("n9", "output", "n10", "x"),
    Link("n1", "features", "n11", "n13"),
    Link("n1", "features", "n16", "x"),
)
STACK = Block(  # run twice, one after the other, with weights of their own
    "b12",
    "turned",
    Graph(
        (
            Node("n13", "BlockInput", "in"),
            Node("n14", "Oja", "turn", {"units": 4}),
            Node("n15", "BlockOutput", "out"),
        ),
        (Link("n13", "output", "n14", "x"), Link("n14", "output", "n15", "x")),
    ),
)
MAZE = Node("n1", "GridWorld", "maze", {"rows": 150, "validation": 0.2, "test": 0.2, "limit": 10})
WORLD = (  # an environment, and a network whose scores choose what agents do
    MAZE,
    NODES[1],
    Node("n3", "Linear", "scores", {"units": 4}),
    NODES[3],
)
MOVES = (
    Link("n1", "state", "n2", "x"),
    *LINKS[1:3],
    Link("n1", "action", "n4", "target"),
)
ADAM = Minimise(optimiser=Choice("Adam", {"lr": 0.02}))
KINDS: dict[str, tuple[Objective, ...]] = {
    "Minimise": (ADAM,),
    "several players": (
        replace(ADAM, name="hidden", of=("n2",), accumulate=2),
        replace(ADAM, name="head", of=("n3",), clip=0.5, schedule=Choice("Cosine")),
    ),
    "whole batch": (Minimise(optimiser=Choice("LBFGS"), name="line"),),
    "Rule": (Rule("n5"),),
    "Rule over several nodes": (Rule("n7", also=("n8", "n9", "n10")),),
    "Rule inside blocks": (Rule("n14", also=("n5",)),),
    "Fit": (Fit("n6"),),
    "Follow": (ADAM, Follow("n16", leader="n2", rate=0.5, every=2)),
    "Rollout": (
        Rollout(
            "n1", policy="n3", agents=4, memory=50, exploration=Choice("LinearExploration", {"turns": 6})
        ),
        replace(ADAM, name="imitate"),
    ),
    "Chain": (Chain(optimiser=Choice("HMC", {"leaps": 3, "warm_up": 2})),),
    "Change": (
        ChangeModel(Choice("Prune", {"fraction": 0.5}), name="cut", of=("n2", "n3")),
        replace(ADAM, name="rest"),
    ),
    "adversary": (replace(ADAM, adversary=Choice("PGD", {"steps": 2})),),
}
WHOLE = ("whole batch", "Rule over several nodes", "Fit", "Chain")  # these take all rows at once
PAIRED, UNPAIRED = "paired data", "unpaired data"
TWO_DATA_NODES: dict[str, tuple[Objective, ...]] = {
    PAIRED: (replace(ADAM, of=("n2", "n3")),),
    UNPAIRED: (
        replace(ADAM, name="source", loss="n4"),
        replace(ADAM, name="target", loss="n22", of=("n2",)),
    ),
}


def project(plan: Plan) -> Project:
    if any(isinstance(one, Rollout) for one in plan.objectives):
        return Project("Kinds", graph=Graph(WORLD, MOVES), plan=plan, next_id=10)
    return Project("Kinds", graph=Graph(NODES, LINKS), plan=plan, next_id=17, blocks={STACK.id: STACK})


def with_two_data_nodes(kind: str, plan: Plan) -> Project:
    """The network with its targets in a second data node, or with a second stream of flowers."""
    if kind == PAIRED:
        links = [replace(one, source="n20") if one.source_port == "species" else one for one in LINKS]
        return replace(project(plan), graph=Graph([*NODES, Node("n20", "Iris", "labels")], links))
    nodes = [
        *NODES,
        Node("n20", "Iris", "others", {"test": 0.4, "validation": 0.35, "seed": 3}),
        Node("n21", "Linear", "hidden too", {"units": 6, "activation": "tanh"}, shares="n2"),
        Node("n22", "ActivityL1", "small"),
    ]
    links = [*LINKS, Link("n20", "features", "n21", "x"), Link("n21", "output", "n22", "x")]
    return replace(project(plan), graph=Graph(nodes, links))


def of_kind(kind: str) -> Project:
    """A project whose plan has one phase of a kind of step, and three epochs."""
    batch = 0 if kind in WHOLE else 32
    steps = {**KINDS, **TWO_DATA_NODES}[kind]
    plan = Plan((Phase(steps, Stop(3, restore_best=False)),), batch=batch)
    return with_two_data_nodes(kind, plan) if kind in TWO_DATA_NODES else project(plan)


def of_all(wanted: Callable[[str], bool]) -> Project:
    """A project with an epoch of each kind that is wanted."""
    phases = [
        Phase(steps, Stop(1, restore_best=False), name=kind, batch=0 if kind in WHOLE else 32)
        for kind, steps in KINDS.items()
        if wanted(kind)
    ]
    return project(Plan(tuple(phases)))
