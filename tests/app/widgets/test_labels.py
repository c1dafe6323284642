"""Labels that shorten their text, and titles that can be typed in."""

from __future__ import annotations

from app.widgets.labels import ElidedLabel, label


def test_text_that_does_not_fit_is_the_tooltip(qtbot) -> None:  # type: ignore[no-untyped-def]
    made = ElidedLabel("A rather long name for a rather small label")
    qtbot.addWidget(made)
    made.resize(60, 20)
    made.show()
    assert made.toolTip() == made.text()
    made.resize(600, 20)
    assert made.toolTip() == ""


def test_text_of_users_is_never_read_as_markup(qtbot) -> None:  # type: ignore[no-untyped-def]
    for made in (label("<b>x</b>"), ElidedLabel("<b>x</b>")):
        qtbot.addWidget(made)
        made.show()
        assert made.text() == "<b>x</b>"
        assert made.textFormat().name == "PlainText"
