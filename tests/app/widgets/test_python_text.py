"""Colours of the source, and its marked lines."""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.theme import current_theme
from app.widgets.python_text import PythonText, code_colours

SOURCE = (
    '"""Title\n\ndef not_code\n"""\n\ndef run(x: int) -> str:\n    return f"{x} # no comment"  # a comment\n'
)


def shown(qtbot) -> PythonText:  # type: ignore[no-untyped-def]
    text = PythonText()
    qtbot.addWidget(text)
    text.resize(500, 300)
    text.show_source(SOURCE)
    text.show()
    return text


def colour_at(text: PythonText, line: int, column: int) -> QColor | None:
    block = text.document().findBlockByNumber(line - 1)
    for found in block.layout().formats():
        if found.start <= column < found.start + found.length:  # type: ignore[attr-defined]
            return found.format.foreground().color()  # type: ignore[attr-defined]
    return None


def test_words_have_the_colour_of_their_kind(qtbot) -> None:  # type: ignore[no-untyped-def]
    text = shown(qtbot)
    colours = code_colours(current_theme())
    assert colour_at(text, 3, 0) == colours["string"]  # def inside the docstring
    assert colour_at(text, 6, 0) == colours["keyword"]
    assert colour_at(text, 6, 4) == colours["definition"]
    assert colour_at(text, 6, 11) == colours["builtin"]
    assert colour_at(text, 7, 17) == colours["string"]
    assert colour_at(text, 7, 34) == colours["comment"]
    assert colour_at(text, 6, 8) is None


def test_marked_lines_are_brought_into_view(qtbot) -> None:  # type: ignore[no-untyped-def]
    text = shown(qtbot)
    text.show_source("\n".join(f"line_{number} = {number}" for number in range(1, 500)))
    text.mark_lines([400, 401])
    assert text.marked_lines == (400, 401)
    assert len(text.extraSelections()) == 2
    assert text.verticalScrollBar().value() > 300
    text.mark_lines([])
    assert text.extraSelections() == []


def test_the_same_source_keeps_the_place(qtbot) -> None:  # type: ignore[no-untyped-def]
    text = shown(qtbot)
    long = "\n".join(f"line_{number} = {number}" for number in range(1, 500))
    text.show_source(long)
    text.verticalScrollBar().setValue(200)
    text.show_source(long + "\nmore = 1")
    assert text.verticalScrollBar().value() == 200
