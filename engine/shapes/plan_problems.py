"""What in a plan doesn't fit its graph: losses, layers and rules that are gone, or do nothing there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from engine.catalogue import Layer, Loss, NodeType
from engine.document.edits import SetPlan
from engine.document.graph import Project
from engine.document.plan import Minimise, Objective, Plan, Rule
from engine.shapes.problems import Fix, Problem

Weights = Callable[[str], int]


def plan_problems(
    project: Project, types: Mapping[str, NodeType], weights: Weights | None
) -> Iterator[Problem]:
    """The problems of a plan with the nodes it names, each with the step that fixes it.

    `weights` tells how many numbers a node learns; None where that isn't known of all nodes.
    """
    for at, phase in enumerate(project.plan.phases):
        for place, objective in enumerate(phase.objectives):
            where = _where(project.plan, at, place)
            found = _of_rule(project, types, objective) if isinstance(objective, Rule) else None
            if isinstance(objective, Minimise):
                found = _of_loss(project, types, objective) or _of_trained(project, weights, objective)
            if found is not None:
                message, label, fixed = found
                fix = None if fixed is None else Fix(label, _changing(at, place, fixed))
                yield Problem(None, f"{where} {message}", fix=fix, code="plan-nodes")


_Found = tuple[str, str, Objective | None]


def _of_rule(project: Project, types: Mapping[str, NodeType], rule: Rule) -> _Found | None:
    node = project.graph.nodes.get(rule.node)
    if node is None:
        return "applies the rule of a node that is not in the graph.", "", None
    kind = types.get(rule.node)
    if kind is None or (isinstance(kind, Layer) and kind.learns_by_rule):
        return None
    return f"applies the rule of {node.name or rule.node}, which has none.", "", None


def _of_loss(project: Project, types: Mapping[str, NodeType], objective: Minimise) -> _Found | None:
    if objective.loss == "all":
        return None
    wanted = (objective.loss,) if isinstance(objective.loss, str) else tuple(objective.loss)
    if all(isinstance(types.get(one), Loss) for one in wanted):
        return None
    return "lowers a loss that is not in the graph.", "Lower all losses", replace(objective, loss="all")


def _of_trained(project: Project, weights: Weights | None, objective: Minimise) -> _Found | None:
    there = tuple(one for one in objective.of if one in project.graph.nodes)
    fixed = replace(objective, of=there)
    if there != objective.of:
        label = "Leave it out" if there else "Train every layer"
        return "trains a layer that is not in the graph.", label, fixed
    if there and weights is not None and not any(weights(one) for one in there):
        return "trains only nodes without weights.", "Train every layer", replace(objective, of=())
    return None


def _where(plan: Plan, phase: int, objective: int) -> str:
    """How the objective is found in the plan."""
    several = len(plan.phases[phase].objectives) > 1
    title = plan.phases[phase].objectives[objective].name
    name = f"The objective {title}" if title else f"Objective {objective + 1}" if several else "The objective"
    if len(plan.phases) == 1:
        return f"{name} of the plan"
    return f"{name} of phase {phase + 1}"


def _changing(phase: int, place: int, objective: Objective) -> Callable[[Project], tuple[SetPlan]]:
    def edits(project: Project) -> tuple[SetPlan]:
        phases = list(project.plan.phases)
        objectives = list(phases[phase].objectives)
        objectives[place] = objective
        phases[phase] = replace(phases[phase], objectives=tuple(objectives))
        return (SetPlan(replace(project.plan, phases=tuple(phases))),)

    return edits
