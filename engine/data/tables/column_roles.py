"""What the columns of a table are for: proposals that the user sees, and may change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.data.tables.column_kinds import MOST_CLASSES, Guess
from engine.values import Value

TARGETS = ("target", "label", "labels", "class", "y", "species", "outcome", "diagnosis", "category", "output")
CLASSES = ("label", "labels", "class", "category", "species", "diagnosis", "digit", "class label")
WEIGHTS = ("sample_weight", "sample weight", "case_weight", "instance_weight", "row_weight", "fnlwgt")
GROUPS = ("group", "groups", "group_id", "subject", "subject_id", "patient", "patient_id")
SPLITS = ("split", "set", "subset", "partition", "fold")
PARTS = ({"train", "training"}, {"val", "valid", "validation", "dev"}, {"test", "testing"})
NUMBERED = (
    "id",
    "index",
    "no",
    "nr",
    "no.",
    "nr.",
    "#",
    "row",
    "rowid",
    "row_id",
    "unnamed: 0",
    "key",
    "uuid",
)
TREATED = ("group", "groups")  # may also say what was done to a row
FEW_GROUPS = (5, 10)  # fewer can hardly be split
NEEDED = ("target", "weight", "time")  # of rows without one there is no use
FEW = 20  # different whole numbers that a target may have to be classes
DROPPED = 0.1  # fraction of rows with a blank input above which they are filled


@dataclass(slots=True)
class Plan:
    """A role for each column, the parameters that go with them, and sentences on both."""

    roles: list[str]
    params: dict[str, Value] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def roles(found: Sequence[Guess], rows: int, first: int = 1) -> Plan:
    """Proposes what each column is for; kinds of whole targets may become categories.

    `first` is the number of the first row in the file.
    """
    plan = Plan([_first_role(one, rows) for one in found])
    _say_ignored(found, plan)
    for one in found:
        if one.name.casefold() in TARGETS and one.distinct == 1 and rows > 1:
            plan.remarks.append(f'"{one.name}" cannot be the target: it is the same in every row.')
    _special(found, plan)
    target = _target(found, plan)
    if target is None:
        plan.remarks.append("No column looks like a target: choose one.")
    else:
        _aim(found[target], plan, target, rows)
    _dates(found, plan)
    _narrow(found, plan)
    _say_odd(found, plan, first)
    _say_forms(found, plan)
    return plan


def _first_role(one: Guess, rows: int) -> str:
    if one.kind in ("text", "path") or one.missing == rows or (one.distinct <= 1 and rows > 1):
        return "ignore"
    named = one.name.casefold()
    counts_rows = one.kind == "whole" and one.steps and one.distinct == rows and rows > 2
    if counts_rows and (named in NUMBERED or named.startswith("column ") or named.endswith(("_id", " id"))):
        return "ignore"
    if one.kind in ("whole", "category") and one.distinct == rows > 20 and named in NUMBERED:
        return "ignore"
    return "input"


def _say_ignored(found: Sequence[Guess], plan: Plan) -> None:
    reasons: dict[str, list[str]] = {}
    for one, role in zip(found, plan.roles, strict=True):
        if role == "ignore":
            if one.holds:
                why = one.holds
            elif not one.distinct:
                why = "empty"
            elif one.distinct == 1:
                why = "the same in every row"
            elif one.kind == "path":
                why = "names of image files"
            elif one.kind == "text":
                why = "texts that differ from row to row"
            else:
                why = "numbers of the rows"
            reasons.setdefault(why, []).append(one.name)
    for why, names in reasons.items():
        plan.remarks.append(f"Left out as {why}: {listed(names)}.")
        if why == "names of image files":
            plan.remarks.append("To train on the images themselves, open their folder.")


def _special(found: Sequence[Guess], plan: Plan) -> None:
    """Columns whose names say that they are weights, groups or splits."""
    for at, one in enumerate(found):
        named = one.name.casefold()
        if plan.roles[at] == "ignore" and named not in GROUPS:
            continue
        if named in WEIGHTS and one.kind in ("number", "whole"):
            plan.roles[at] = "weight"
            plan.remarks.append(f'"{one.name}" is the weight of each row.')
        elif (
            named in GROUPS
            and one.distinct >= FEW_GROUPS[named in TREATED]
            and one.counts
            and max(one.counts.values()) > 1
        ):
            plan.roles[at] = "group"
            plan.params["split"] = "by group"
            plan.remarks.append(f'"{one.name}" says which rows belong together: each group is in one split.')
        elif named in SPLITS and one.kind == "category":
            words = {text.casefold() for text in one.details}
            if all(words & part for part in PARTS) and words <= set().union(*PARTS):
                plan.roles[at] = "split"
                plan.params["split"] = "as given"
                plan.remarks.append(f'"{one.name}" says which rows are for training, validation and test.')


def _target(found: Sequence[Guess], plan: Plan) -> int | None:
    fit = [at for at, role in enumerate(plan.roles) if role == "input" and found[at].kind != "date"]
    images = any(one.kind == "path" for one in found)
    if len([role for role in plan.roles if role == "input"]) < 2 and not images:
        return None
    named = [at for name in TARGETS for at in fit if found[at].name.casefold() == name]
    return named[0] if named else fit[-1] if fit else None


def _aim(one: Guess, plan: Plan, at: int, rows: int) -> None:
    plan.roles[at] = "target"
    why = "by its name" if one.name.casefold() in TARGETS else "as the last column"
    named = one.name.casefold() in CLASSES
    few = len(one.counts) <= FEW and len(one.counts) <= rows / 2
    if one.kind == "whole" and one.counts and (named or few):
        one.kind, one.details = "category", tuple(sorted(one.counts, key=int))
    what = f"{len(one.details)} classes" if one.kind in ("category", "yes-no") else "a number"
    plan.remarks.append(f'The target is "{one.name}", {why}: {what}.')
    if one.kind in ("number", "whole") and (abs(one.middle) > 10 or one.spread > 10):
        plan.params["target_scaling"] = "standardise"
        plan.remarks.append(f'"{one.name}" is standardised, as it is far from 0: see "Scale targets".')


def _dates(found: Sequence[Guess], plan: Plan) -> None:
    """A date is what rows are put in order by; it is an input only where there is no other."""
    inputs = [at for at, role in enumerate(plan.roles) if role == "input"]
    dates = [at for at in inputs if found[at].kind == "date"]
    if dates and len(dates) < len(inputs):
        plan.roles[dates[0]] = "time"
        plan.remarks.append(f'"{found[dates[0]].name}" is the time of each row, and no input.')
    for at in dates:
        if found[at].unsure and found[at].details == ("%Y%m%d",):
            plan.remarks.append(
                f'"{found[at].name}" is read as days, as 20210131 is one: are they? If not, set it to whole.'
            )
        elif found[at].unsure:
            plan.remarks.append(f'"{found[at].name}" is read as day, then month; it could be the other way.')


def _narrow(found: Sequence[Guess], plan: Plan) -> None:
    """Inputs with too many classes would be too many features."""
    wide = [
        at for at, role in enumerate(plan.roles) if role == "input" and len(found[at].details) > MOST_CLASSES
    ]
    for at in wide:
        if found[at].kind == "category":
            plan.roles[at] = "ignore"
            count = len(found[at].details)
            plan.remarks.append(f'Left out as it has {count:,} classes: "{found[at].name}".')


def say_missing(found: Sequence[Guess], plan: Plan, rows: int, hit: int) -> None:
    """What happens to the `hit` rows in which some input is missing, and to those without their target."""
    inputs = [one for one, role in zip(found, plan.roles, strict=True) if role == "input" and one.missing]
    for one, role in zip(found, plan.roles, strict=True):
        if role in NEEDED and one.missing:
            plan.remarks.append(f'{one.missing:,} of {rows:,} rows lack the {role} "{one.name}": left out.')
    if not hit:
        return
    fill = hit > DROPPED * rows
    if fill:
        plan.params["missing"] = "fill with mean"
    named = listed([f"{one.name} ({one.missing:,})" for one in inputs], quote=False)
    what = "filled with means and common classes of the training rows" if fill else "left out"
    plan.remarks.append(f'{hit:,} of {rows:,} rows have blank inputs, {what} ("Missing inputs"): {named}.')


def _say_odd(found: Sequence[Guess], plan: Plan, first: int) -> None:
    for one in found:
        if one.odd:
            more = f" (and {one.odds - 1:,} more cells)" if one.odds > 1 else ""
            at, text = one.odd[0]
            where = f"Row {first + at:,}" if at >= 0 else "Some row"
            so = "and counts as missing" if one.kind in ("number", "whole") else "so all of them are texts"
            plan.remarks.append(
                f'{where} has "{text[:40]}" in "{one.name}"{more}, which is no number {so} ("Missing is").'
            )


def _say_forms(found: Sequence[Guess], plan: Plan) -> None:
    """Numbers and times that are not written plainly, and how they are read."""
    forms: dict[str, list[str]] = {}
    for one, role in zip(found, plan.roles, strict=True):
        if role == "ignore":
            continue
        if one.kind in ("number", "whole") and one.details:
            forms.setdefault(one.details[0], []).append(one.name)
        elif one.kind == "number" and one.unsure:
            plan.remarks.append(
                f'A comma in "{one.name}" is read as the decimal mark: 1,234 is a little more than 1. '
                'If it parts thousands, set "Decimal mark" to a point.'
            )
        elif one.kind == "date" and one.details and "%#z" in one.details[0]:
            plan.remarks.append(
                f'The times in "{one.name}" say how far they are from UTC: each is read as one instant.'
            )
    for form, names in forms.items():
        unit = form.partition("5 ")[2]
        value = f"1234.5, without the {unit}" if unit else "1234.5"
        value = "numbers, k for thousands, M for millions, B for billions" if unit == "kMB" else value
        plan.remarks.append(f"Numbers written as {form} are read as {value}: {listed(names)}.")


def listed(names: Sequence[str], most: int = 6, quote: bool = True) -> str:
    """Some names in a sentence."""
    shown = [f'"{name}"' if quote else name for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most:,} more" if len(names) > most else "")
