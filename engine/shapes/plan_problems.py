"""What in a plan doesn't fit its graph: losses, layers and rules that are gone, or do nothing there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from engine.catalogue import Data, Environment, Layer, Loss, NodeType
from engine.catalogue.training.checks import looking, without_looking
from engine.document.edits import SetPlan
from engine.document.graph import Project
from engine.document.plan import WHOLE, Follow, Minimise, Objective, Plan, Rollout, Rule
from engine.shapes.problems import Fix, Problem

Weights = Callable[[str], int]


def plan_problems(
    project: Project, types: Mapping[str, NodeType], weights: Weights | None
) -> Iterator[Problem]:
    """The problems of a plan with the nodes it names, each with the step that fixes it.

    `types` are those of all nodes, also inside blocks. `weights` tells how many numbers a node learns; None
    where that isn't known of all nodes.
    """
    for at, phase in enumerate(project.plan.phases):
        for place, objective in enumerate(phase.objectives):
            where = _where(project.plan, at, place)
            found = None
            if isinstance(objective, Rollout | Follow):
                found = _of_pair(project, types, objective)
                if place and isinstance(objective, Rollout):
                    message = f"{where} acts after others: what is taken before it learns from random moves."
                    yield Problem(None, message, severity="warning", code="plan-order")
            elif isinstance(objective, Rule):
                found = _of_rule(project, types, objective)
                yield from _of_rows(project, types, at, objective, where)
            if isinstance(objective, Minimise):
                found = _of_loss(project, types, objective) or _of_trained(project, weights, objective)
            if found is not None:
                message, label, fixed = found
                fix = None if fixed is None else Fix(label, _changing(at, place, fixed))
                yield Problem(None, f"{where} {message}", fix=fix, code="plan-nodes")


def split_problems(project: Project, data: Iterable[Data]) -> Iterator[Problem]:
    """What of the plan needs a validation split, where one of the `data` that it trains on has none."""
    if not any("validation" in one.lacks() for one in data):
        return
    for found in looking(project.plan)[:1]:
        message = f"{found}, but the data have no validation split: its fraction is 0."
        fix = Fix("Turn it off", lambda now: (SetPlan(without_looking(now.plan)),))
        yield Problem(None, message, fix=fix, code="plan-splits")


_Found = tuple[str, str, Objective | None]


def _of_rule(project: Project, types: Mapping[str, NodeType], rule: Rule) -> _Found | None:
    nodes = {one: node for _, graph in project.graphs() for one, node in graph.nodes.items()}
    gone = [one for one in rule.nodes if one not in nodes]
    if gone:
        first, *others = [one for one in rule.nodes if one not in gone] or [""]
        fixed = replace(rule, node=first, also=tuple(others)) if first else None
        return "applies the rule of a node that is not in the graph.", "Leave it out", fixed
    given = [what for one in rule.nodes if (what := _taught(types, one))]
    if len(given) > len(set(given)):
        return f"has two nodes that give {given[-1]}: make a rule of each.", "", None
    for one in rule.nodes:
        kind, name = types.get(one), nodes[one].name or one
        if kind is None:
            continue
        if not isinstance(kind, Layer) or not kind.learns_by_rule:
            return f"applies the rule of {name}, which has none.", "", None
        if kind.rule_ports and one not in project.graph.nodes:
            target = kind.rule_ports[0].title
            return f"applies the rule of {name}, whose {target} does not reach into its block.", "", None
        if kind.learns_from and kind.learns_from not in given:
            teachers = [other for other in nodes if _taught(types, other) == kind.learns_from]
            fixed = replace(rule, also=(*rule.also, teachers[0])) if len(teachers) == 1 else None
            label = f"Add {nodes[teachers[0]].name or teachers[0]}" if len(teachers) == 1 else ""
            return f"has no node that gives {kind.learns_from}, from which {name} learns.", label, fixed
    return None


def _taught(types: Mapping[str, NodeType], node_id: str) -> str:
    kind = types.get(node_id)
    return kind.teaches if isinstance(kind, Layer) else ""


def _of_rows(
    project: Project, types: Mapping[str, NodeType], at: int, rule: Rule, where: str
) -> Iterator[Problem]:
    """A rule that needs all rows at once and has batches of some."""
    phase, kinds = project.plan.phases[at], [types.get(one) for one in rule.nodes]
    kind = next((kind for kind in kinds if isinstance(kind, Layer) and kind.learns_from_all), None)
    if kind is None or project.plan.batch_of(phase) == WHOLE:
        return
    phases = list(project.plan.phases)
    phases[at] = replace(phase, batch=WHOLE)
    fixed = SetPlan(replace(project.plan, phases=tuple(phases)))
    message = f"{where} applies the rule of {kind.title}, which needs all rows in one batch."
    yield Problem(None, message, fix=Fix("Take all rows at once", lambda _: (fixed,)), code="plan-rows")


def _of_pair(project: Project, types: Mapping[str, NodeType], step: Rollout | Follow) -> _Found | None:
    """What is wrong with the two nodes that a step names."""
    acts = isinstance(step, Rollout)
    beside = step.policy if isinstance(step, Rollout) else step.leader
    does = "acts" if acts else "lets weights follow"
    if any(one not in project.graph.nodes for one in (step.node, beside)):
        return f"{does}, but names a node that is not in the graph.", "", None
    kind, other = types.get(step.node), types.get(beside)
    if acts and kind is not None and not isinstance(kind, Environment):
        title = project.graph.node(step.node).name or kind.title
        return f"acts in {title}, which is no environment.", "", None
    if other is not None and not isinstance(other, Layer):
        title = project.graph.node(beside).name or other.title
        return f"{does} by {title}, which is no layer.", "", None
    if not acts and kind is not None and not isinstance(kind, Layer):
        title = project.graph.node(step.node).name or kind.title
        return f"lets {title} follow, which has no weights.", "", None
    return None


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
