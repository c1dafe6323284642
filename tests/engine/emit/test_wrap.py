"""Long statements are broken inside brackets and mean what they meant."""

from __future__ import annotations

import ast

import pytest

from engine.emit.wrap import wrapped

NAMES = [f"a_rather_long_name_{number}" for number in range(12)]
STATEMENTS = [
    "x = 1",
    f"x = torch.cat(({', '.join(NAMES)}), 1)",
    f"x = torch.cat(({', '.join(NAMES[:4])}), 1)",
    f"x = {' + '.join(NAMES)}",
    f"return {' * '.join(NAMES)}",
    f"return {', '.join(NAMES)}",
    f"{', '.join(NAMES[:5])} = model(batch['image'], batch['profile'])",
    f"{', '.join(NAMES)} = model(batch['image'], batch['profile'])",
    f"self.conv = nn.Conv2d({', '.join(f'{name}=(1, 2)' for name in NAMES)})",
    f"return torch.optim.Adam(model.parameters(), {', '.join(f'{name}=0.125' for name in NAMES[:4])})",
    f"x = F.relu(self.{NAMES[0]}(F.dropout(self.{NAMES[1]}(F.relu(self.{NAMES[2]}({NAMES[3]}))), 0.25)))",
    f"x = (y == batch['{NAMES[0]}, (not a bracket']).float() + (z == batch['{NAMES[1]}']).float().mean()",
    f"x = y[{NAMES[0]}][{NAMES[1]}, {NAMES[2]}].{NAMES[3]}({NAMES[4]}).{NAMES[5]}({NAMES[6]})",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("indent", [0, 8])
def test_broken_statements_fit_and_mean_the_same(statement: str, indent: int) -> None:
    lines = wrapped(" " * indent + statement, 110)
    assert all(len(line) <= 110 and line == line.rstrip() for line in lines)
    assert all(line.startswith(" " * indent) for line in lines)
    text = "\n".join(line[indent:] for line in lines)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(statement))
    assert (len(lines) > 1) == (len(statement) + indent > 110)


def test_the_look_is_that_of_a_formatter() -> None:
    assert wrapped(STATEMENTS[2], 104) == [
        "x = torch.cat(",
        "    (a_rather_long_name_0, a_rather_long_name_1, a_rather_long_name_2, a_rather_long_name_3), 1",
        ")",
    ]


def test_a_long_text_in_quotes_is_broken_behind_its_spaces() -> None:
    statement = f"self.typed = TypedLinear({' '.join(f'{one} 1;' for one in range(40))!r})".replace("'", '"')
    lines = wrapped(statement, 60)
    assert max(map(len, lines)) <= 60 and ast.dump(ast.parse("\n".join(lines))) == ast.dump(
        ast.parse(statement)
    )


def test_the_head_of_a_function_is_broken_too() -> None:
    arguments = ", ".join(f"{name}: Tensor" for name in NAMES[:4])
    lines = wrapped(f"    def forward(self, {arguments}) -> tuple[Tensor, Tensor]:", 110)
    assert lines[0] == "    def forward("
    assert lines[-1] == "    ) -> tuple[Tensor, Tensor]:"
    assert all(len(line) <= 110 for line in lines)


@pytest.mark.parametrize("line", ["", "    ", "# " + "word " * 40, "x = '" + "a" * 200 + "'"])
def test_what_cannot_be_broken_stays(line: str) -> None:
    assert wrapped(line, 110) == [line]
