"""Typed parameters: declared once on a class, read from text, checked, shown."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from engine.errors import ParamError
from engine.values import Value, shown

Pair = tuple[int, int] | int | str
Ints = tuple[int, ...]
Floats = tuple[float, ...]
FilePath = str  # "" or the absolute path of a file or folder
Names = tuple[str, ...]
Rows = tuple[tuple[Value, ...], ...]

_KINDS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "text",
    "Pair": "pair",
    "Ints": "ints",
    "Floats": "floats",
    "FilePath": "path",
    "Names": "names",
    "Rows": "rows",
}
_TEXTS = ("text", "path")
_LISTS = ("names", "rows")
_LONGEST_TEXT = 10_000
_MOST_ITEMS = 100_000
_LARGEST_WHOLE = 2**53
_YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


@dataclass(frozen=True, slots=True)
class ParamSpec:
    """One parameter of a node type, an optimiser or a schedule.

    `kind` is int, float, bool, choice, pair (two ints, or one for both), ints, floats, text, path (of a file
    or folder; absolute), names (texts) or rows (a table of plain values). `minimum` and `maximum` bound each
    number, `above` and `below` bound it without being reached. `words` are the texts a pair may be instead
    ("same"). An `optional` parameter may be None. One that is `hidden` is found by reading a file, or set
    in a panel of its own, and has no field. A path is asked for as a file, or as a `folder`. `when` names
    another parameter, and the values of it with which this one says anything.
    """

    name: str
    kind: str
    default: Value
    label: str = ""
    doc: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    optional: bool = False
    unit: str = ""
    hidden: bool = False
    folder: bool = False
    when: tuple[str, tuple[Value, ...]] | None = None

    @property
    def flag(self) -> str:
        """The parameter as an option on a command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()

    def parse(self, text: str) -> Any:
        """The value the user typed. Errors: `ParamError` with a sentence that says what is accepted."""
        stripped = text.strip()
        if self.kind in _TEXTS:
            return self.check(text if self.kind == "text" else stripped)
        if self.kind == "names":
            return self.check(tuple(part.strip() for part in text.split(",") if part.strip()))
        if self.kind == "rows":
            raise ParamError(f"{self.title} is a table; it cannot be typed in one line.")
        if self.optional and stripped.casefold() in ("", "none", "off"):
            return None
        if not stripped:
            raise ParamError(f"{self.title} needs {self._accepts()}.")
        if self.kind == "bool":
            if stripped.casefold() not in _YES_OR_NO:
                raise ParamError(f"{self.title} is yes or no, not {shown(stripped)}.")
            return _YES_OR_NO[stripped.casefold()]
        if self.kind == "choice":
            known = {choice.casefold(): choice for choice in self.choices}
            return self.check(known.get(stripped.casefold(), stripped))
        if self.kind == "floats":  # "0,5" is no list: that comma may be a decimal one
            parts = stripped.strip("()[]").replace(";", " ").split()
            return self.check(tuple(self._number(part.rstrip(",")) for part in parts))
        if self.kind in ("pair", "ints"):
            if stripped.casefold() in self.words:
                return stripped.casefold()
            parts = stripped.strip("()[]").replace("×", " ").replace("x", " ").replace(",", " ").split()
            numbers = tuple(self._number(part) for part in parts)
            return self.check(numbers[0] if self.kind == "pair" and len(numbers) == 1 else numbers)
        return self.check(self._number(stripped))

    def check(self, value: Value | Sequence[Value]) -> Any:
        """The value in its canonical form. Errors: `ParamError` where it is outside what is allowed."""
        if value is None:
            if self.optional:
                return None
            raise ParamError(f"{self.title} needs {self._accepts()}.")
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise ParamError(f"{self.title} is yes or no, not {shown(value)}.")
            return value
        if self.kind == "choice":
            if value not in self.choices:
                raise ParamError(f"{self.title} is one of {', '.join(self.choices)}; not {shown(value)}.")
            return value
        if self.kind in _LISTS:
            return self._check_list(value)
        if self.kind in _TEXTS:
            if not isinstance(value, str):
                raise ParamError(f"{self.title} is text, not {shown(value)}.")
            if len(value) > _LONGEST_TEXT:
                raise ParamError(f"{self.title} may hold at most {_LONGEST_TEXT:,} characters.")
            return value
        if self.kind == "pair":
            return self._check_pair(value)
        if self.kind in ("ints", "floats"):
            if isinstance(value, (list, tuple)) and value:
                return tuple(self._bounded(item) for item in value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return (self._bounded(value),)
            raise ParamError(f"{self.title} needs {self._accepts()}; {shown(value)} is not that.")
        return self._bounded(value)

    def format(self, value: Value) -> str:
        """The value as the inspector shows it; `parse` reads it back."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple):
            if self.kind == "rows":
                return f"{len(value):,} row{'' if len(value) == 1 else 's'}"
            sizes = self.kind == "pair" or self.name in ("shape", "size")
            return (" × " if sizes else ", ").join(str(item) for item in value)
        if isinstance(value, float):
            return repr(value)
        if self.kind == "pair" and isinstance(value, int):
            return f"{value} × {value}"
        return str(value)

    def _check_list(self, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise ParamError(f"{self.title} needs {self._accepts()}; {shown(value)} is not that.")
        if len(value) > _MOST_ITEMS:
            raise ParamError(f"{self.title} may hold at most {_MOST_ITEMS:,} entries.")
        inner = str if self.kind == "names" else (list, tuple)
        for item in value:
            if not isinstance(item, inner):
                raise ParamError(f"{self.title} needs {self._accepts()}; {shown(item)} is not one.")
        return tuple(item if isinstance(item, str) else tuple(item) for item in value)

    def _check_pair(self, value: Any) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, (list, tuple)) and len(value) == 2:
            first, second = (self._bounded(item) for item in value)
            return first if first == second else (first, second)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._bounded(value)
        raise ParamError(f"{self.title} needs {self._accepts()}; {shown(value)} is not that.")

    def _bounded(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParamError(f"{self.title} needs {self._accepts()}; {shown(value)} is not that.")
        whole = self.kind not in ("float", "floats")
        if not whole and abs(value) <= sys.float_info.max:
            value = float(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise ParamError(f"{self.title} needs {self._accepts()}; {value} is not a finite number.")
        if whole and not isinstance(value, int):
            raise ParamError(f"{self.title} is a whole number, not {value}.")
        if (
            (self.minimum is not None and value < self.minimum)
            or (self.maximum is not None and value > self.maximum)
            or (self.above is not None and value <= self.above)
            or (self.below is not None and value >= self.below)
            or (isinstance(value, int) and abs(value) > _LARGEST_WHOLE)
        ):
            raise ParamError(f"{self.title} needs {self._accepts()}; {shown(value)} is outside that.")
        return value

    def _number(self, text: str) -> int | float:
        try:
            return int(text)
        except ValueError:
            pass
        try:
            number = float(text)
        except ValueError:
            hint = " Write decimals with a point." if "," in text else ""
            raise ParamError(
                f"{self.title} needs {self._accepts()}; {shown(text)} is not that.{hint}"
            ) from None
        if self.kind in ("float", "floats") or not number.is_integer():
            return number
        return int(number)

    def _accepts(self) -> str:
        what = {
            "int": "a whole number",
            "float": "a number",
            "pair": "one or two whole numbers",
            "ints": "whole numbers",
            "floats": "numbers with spaces between them",
            "choice": "one of " + ", ".join(self.choices),
            "bool": "yes or no",
            "names": "a list of texts",
            "rows": "a list of rows",
        }.get(self.kind, "a value")
        if self.words:
            what += " or " + " or ".join(self.words)
        bounds = []
        if self.minimum is not None:
            bounds.append(f"at least {_tidy(self.minimum)}")
        if self.above is not None:
            bounds.append(f"above {_tidy(self.above)}")
        if self.maximum is not None:
            bounds.append(f"at most {_tidy(self.maximum)}")
        if self.below is not None:
            bounds.append(f"below {_tidy(self.below)}")
        return f"{what} ({' and '.join(bounds)})" if bounds else what


def param(
    default: Any,
    *,
    doc: str = "",
    label: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    words: Sequence[str] = (),
    unit: str = "",
    hidden: bool = False,
    folder: bool = False,
    when: tuple[str, tuple[Value, ...]] | None = None,
) -> Any:
    """Declare a parameter on a class body: `units: int = param(64, minimum=1, doc="...")`.

    The annotation gives the kind: int, float, bool, str, Pair, Ints, Floats, FilePath, Names or Rows, with
    `| None` where it may be off. Until the class is complete, its body holds what is returned here.
    """
    return ParamSpec(
        name="",
        kind="",
        default=default,
        label=label,
        doc=doc,
        minimum=minimum,
        maximum=maximum,
        above=above,
        below=below,
        choices=tuple(choices),
        words=tuple(words),
        unit=unit,
        hidden=hidden,
        folder=folder,
        when=when,
    )


def collect(owner: type) -> tuple[ParamSpec, ...]:
    """The parameters of a class: those of its bases, then those declared on its own body."""
    found: dict[str, ParamSpec] = {}
    for base in reversed(owner.__mro__[1:]):
        for spec in base.__dict__.get("params", ()):
            found[spec.name] = spec
    annotations = inspect.get_annotations(owner)
    for name, declared in list(owner.__dict__.items()):
        if not isinstance(declared, ParamSpec):
            continue
        kind, optional = _kind(annotations.get(name, ""))
        if not kind:
            raise TypeError(f"{owner.__name__}.{name}: {annotations.get(name)!r} is no kind of parameter")
        if declared.choices:
            kind = "choice"
        found[name] = replace(declared, name=name, kind=kind, optional=optional)
        delattr(owner, name)
    return tuple(found.values())


class Parametrised:
    """A class whose `param()`s are its fields: its values are attributes of an instance.

    Errors: `ParamError` for a value out of range, or a parameter that does not exist.
    """

    title: ClassVar[str] = ""
    params: ClassVar[tuple[ParamSpec, ...]] = ()

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        given = dict(values or {})
        for spec in self.params:
            setattr(self, spec.name, spec.check(given.pop(spec.name, spec.default)))
        if given:
            raise ParamError(f"{self.title} has no parameter called {next(iter(given))[:60]!r}.")

    @classmethod
    def doc(cls) -> str:
        """The help text: the docstring's first paragraph."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @classmethod
    def param_spec(cls, name: str) -> ParamSpec | None:
        return next((spec for spec in cls.params if spec.name == name), None)


def _tidy(number: float) -> str:
    return f"{number:g}"


def _kind(annotation: Any) -> tuple[str, bool]:
    """The kind a parameter's annotation means ("" for none), and whether it may be None."""
    for kind, meant in (
        (Pair, "Pair"),
        (Ints, "Ints"),
        (Floats, "Floats"),
        (Names, "Names"),
        (Rows, "Rows"),
    ):  # as objects where annotations are evaluated
        if annotation in (kind, kind | None):
            return _KINDS[meant], annotation != kind
    written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    bare = written.removesuffix("| None").strip()
    return _KINDS.get(bare, ""), bare != written
