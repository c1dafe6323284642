"""Every statement of a file that its project doesn't hold is named with its line."""

from __future__ import annotations

import ast

import pytest

from tests.engine.importers.reading import nodes, of_gallery, read, small


def with_prints(text: str) -> tuple[str, set[int]]:
    """A script with a line before each statement of each function, and the numbers of these lines."""
    tree, lines = ast.parse(text), text.splitlines()
    at: dict[int, int] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for one in ast.walk(function):
                starts = isinstance(one, ast.stmt) and one is not function and not _is_doc(one)
                if starts and not lines[one.lineno - 1][: one.col_offset].strip():
                    at[one.lineno] = one.col_offset
    made: list[str] = []
    added: set[int] = set()
    for number, line in enumerate(lines, 1):
        if number in at and not line.strip().startswith("elif"):
            made.append(f"{' ' * at[number]}print('seen', {number})")
            added.add(len(made))
        made.append(line)
    return "\n".join(made) + "\n", added


def _is_doc(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


@pytest.mark.parametrize("script", ["small", "gan-digits"])
def test_a_line_added_anywhere_is_named(script: str) -> None:
    text, added = with_prints(small() if script == "small" else of_gallery(script))
    named = {one.place.line for one in read(text).findings if one.place is not None}
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef) and function.lineno in named:
            named |= {*range(function.lineno, (function.end_lineno or 0) + 1)}  # named as a whole
    assert added - named == set()
    assert len(added) > 50


@pytest.mark.parametrize(
    ("line", "added"),
    [
        ("    torch.manual_seed(args.seed)", "    torch.use_deterministic_algorithms(True)"),
        ("    def forward", "    def extra(self) -> int:"),
        ("        x = torch.tanh", "        self.calls = 1"),
        ("class Config", "torch.set_default_dtype(torch.float64)"),
        ("class Model", "class Other:"),
        ("    model.eval()", "    model.half()"),
        ("def load", "def extra() -> None:"),
    ],
)
def test_what_a_person_adds_is_named(line: str, added: str) -> None:
    text = small()
    start = text.index(f"\n{line}") + 1
    if line == "class Config":
        start = text.index("@dataclass")
    body = f"{added} pass\n" if added.endswith(":") else f"{added}\n"
    number = text[:start].count("\n") + 1
    found = read(text[:start] + body + text[start:]).findings
    assert number in {one.place.line for one in found if one.place is not None}


def test_one_unknown_expression_is_one_placeholder() -> None:
    text = of_gallery("mnist-cnn")
    called = 'model(batch["image"])'
    assert text.count(f"classes = {called}") == 2
    project = read(text.replace(called, f"torch.fft.rfft({called}).abs()")).project
    assert len(nodes(project, "Python")) == 1


def test_variables_that_are_renamed_are_not_lost() -> None:
    text = small()
    for old, new in (("kept", "best_weights"), ("waited", "since"), ("shown", "line")):
        text = text.replace(old, new)
    assert not read(text).findings
