"""Colours: text that can be read, and a style sheet without holes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app import theme as theme_module
from app.theme import (
    DARK,
    LIGHT,
    SMALL,
    Theme,
    choose_theme,
    contrast,
    current_theme,
    follow_system,
    set_theme,
    style_sheet,
    themes,
)
from app.widgets.python_text import code_colours
from engine.catalogue import load_catalogue

THEMES = pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
SURFACES = ("window", "panel", "raised", "canvas", "node")
TEXTS = ("text", "dim", "hint", "good_text", "warning_text", "bad_text")


@THEMES
@pytest.mark.parametrize("role", TEXTS)
def test_text_stands_out_from_every_surface(theme: Theme, role: str) -> None:
    for surface in SURFACES:
        assert contrast(getattr(theme, role), getattr(theme, surface)) >= 4.5, surface


@THEMES
def test_no_text_is_smaller_than_twelve_pixels(theme: Theme) -> None:
    assert SMALL == 12
    assert [font.pixelSize() for font in (theme.font(9), theme.mono(1), theme.font(bold=True))] == [
        12,
        12,
        13,
    ]
    sizes = [int(size) for size in re.findall(r"font-size:\s*(\d+)px", style_sheet(theme))]
    assert sizes and min(sizes) >= SMALL
    # Fonts are made by the theme alone, but for the sizes of style sheets, which are read here.
    for path in Path(theme_module.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert all(int(size) >= SMALL for size in re.findall(r"font-size:\s*(\d+)px", text)), path
        if path.name != "theme.py":
            assert not re.search(r"set(?:Pixel|Point)SizeF?\(|setPointSize\(|\bQFont\(", text), path


@THEMES
def test_text_on_accent_and_selection_can_be_read(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.text, theme.selection) >= 4.5
    assert contrast(theme.text, theme.hover) >= 4.5


@THEMES
def test_code_colours_can_be_read(theme: Theme) -> None:
    for kind, colour in code_colours(theme).items():
        assert contrast(colour, theme.panel) >= 4.5, kind
        assert contrast(colour, theme.selection) >= 3, kind


def test_contrast_is_the_published_ratio() -> None:
    assert contrast(LIGHT.panel, LIGHT.panel) == 1
    black, white = LIGHT.text.fromRgb(0, 0, 0), LIGHT.panel
    assert contrast(black, white) == pytest.approx(21)


@THEMES
def test_style_sheet_fills_in_every_role(theme: Theme, qapp: object) -> None:
    text = style_sheet(theme)
    assert not re.findall(r"@\w+", text)
    assert text.count("{") == text.count("}")


def test_unknown_family_is_grey() -> None:
    assert DARK.family("made up") == DARK.family("shape")
    assert DARK.family("data") != DARK.family("shape")


@THEMES
def test_all_that_brings_data_has_one_colour(theme: Theme) -> None:
    types = load_catalogue().types()
    bringing = {found.family for found in types if found.kind in ("data", "source", "transform")}
    assert {"files", "data sets", "synthetic data", "noise", "transforms"} <= bringing
    assert {theme.family(family).name() for family in bringing} == {theme.family("data").name()}


def test_setting_a_theme_tells_everyone(qtbot) -> None:  # type: ignore[no-untyped-def]
    before = current_theme().name
    with qtbot.waitSignal(themes.theme_changed) as told:
        set_theme("light")
    assert told.args == [LIGHT]
    assert current_theme() is LIGHT
    with pytest.raises(KeyError):
        set_theme("sepia")
    set_theme(before)


def test_the_system_is_followed_while_that_is_chosen(qapp, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    before, told = current_theme().name, qapp.styleHints().colorSchemeChanged
    scheme = {"now": "light"}
    # The offscreen platform has no colour scheme of its own.
    monkeypatch.setattr(theme_module, "_system_theme", lambda: scheme["now"])
    follow_system()
    try:
        choose_theme("system")
        assert current_theme() is LIGHT
        scheme["now"] = "dark"
        told.emit(Qt.ColorScheme.Dark)
        assert current_theme() is DARK
        choose_theme("light")
        told.emit(Qt.ColorScheme.Dark)
        assert current_theme() is LIGHT
        with pytest.raises(ValueError, match="sepia"):
            choose_theme("sepia")
    finally:
        told.disconnect(theme_module._system_changed)
        choose_theme(before)
