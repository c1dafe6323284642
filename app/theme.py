"""Colours, fonts and the style sheet of the window, in a dark and a light theme."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

BODY = 13
SMALL = 12
GAP = 4

# Okabe-Ito, so that people with any colour vision tell the families apart; the grey ones carry no meaning.
_GREY = "#8d97a8"
_FAMILIES = {
    "data": "#56b4e9",
    "files": "#56b4e9",
    "data sets": "#56b4e9",
    "synthetic data": "#56b4e9",
    "environments": "#56b4e9",
    "noise": "#56b4e9",
    "transforms": "#56b4e9",
    "input": "#56b4e9",
    "convolution": "#e69f00",
    "graphs": "#e69f00",
    "dense": "#1fb088",
    "activation": "#b8a53c",
    "attention": "#cc79a7",
    "recurrent": "#9a86e0",
    "loss": "#d55e00",
    "metric": "#e07b4f",
}


@dataclass(frozen=True)
class Theme:
    """Every colour a widget may use, by role.

    `faint` is for marks and lines: it is too weak for text, which uses `text`, `dim` or `hint` (all at least
    4.5:1 on window, panel, raised and canvas). Coloured text: `good_text`, `warning_text`, `bad_text`.
    """

    name: str
    window: QColor
    panel: QColor
    raised: QColor
    canvas: QColor
    grid: QColor
    line: QColor
    node: QColor
    text: QColor
    dim: QColor
    hint: QColor
    faint: QColor
    accent: QColor
    on_accent: QColor
    good: QColor
    warning: QColor
    bad: QColor
    good_text: QColor
    warning_text: QColor
    bad_text: QColor
    hover: QColor
    selection: QColor
    wire: QColor
    families: dict[str, QColor] = field(default_factory=dict)

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark surfaces."""
        return self.name == "dark"

    def family(self, name: str) -> QColor:
        """The stripe and port colour of a node family; grey for families without a colour of their own."""
        return self.families.get(name, self.families["shape"])

    def font(self, size: int = BODY, *, bold: bool = False) -> QFont:
        """The system's interface font at `size` pixels, 12 at the least; bold means semibold."""
        return _font(QFontDatabase.SystemFont.GeneralFont, size, bold)

    def mono(self, size: int = 12, *, bold: bool = False) -> QFont:
        """The monospace font at `size` pixels, 12 at the least, for shapes, numbers and code."""
        return _font(QFontDatabase.SystemFont.FixedFont, size, bold)


@cache
def _font(kind: QFontDatabase.SystemFont, size: int, bold: bool) -> QFont:
    font = QFontDatabase.systemFont(kind)
    font.setPixelSize(max(SMALL, size))
    if kind == QFontDatabase.SystemFont.FixedFont:
        font.setStyleHint(QFont.StyleHint.Monospace)
    if bold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def _theme(name: str, colours: dict[str, str]) -> Theme:
    families = {family: QColor(colour) for family, colour in _FAMILIES.items()}
    for family in ("shape", "norm", "merge", "output", "regularisation", "unknown"):
        families[family] = QColor(_GREY)
    return Theme(name=name, families=families, **{role: QColor(value) for role, value in colours.items()})


DARK = _theme(
    "dark",
    {
        "window": "#16181d",
        "panel": "#1c1f26",
        "raised": "#242933",
        "canvas": "#121419",
        "grid": "#252a33",
        "line": "#2d333f",
        "node": "#20242d",
        "text": "#e7eaf0",
        "dim": "#98a2b3",
        "hint": "#8a94a6",
        "faint": "#667085",
        "accent": "#5b9dff",
        "on_accent": "#0f131a",
        "good": "#4fbf8b",
        "warning": "#f0b429",
        "bad": "#ff6b6b",
        "good_text": "#4fbf8b",
        "warning_text": "#f0b429",
        "bad_text": "#ff7b7b",
        "hover": "#2b313d",
        "selection": "#263a5c",
        "wire": "#667085",
    },
)
LIGHT = _theme(
    "light",
    {
        "window": "#eef0f3",
        "panel": "#ffffff",
        "raised": "#f6f7f9",
        "canvas": "#f8f9fb",
        "grid": "#dfe3e9",
        "line": "#d8dde5",
        "node": "#ffffff",
        "text": "#1a1f29",
        "dim": "#566072",
        "hint": "#616b7d",
        "faint": "#8a94a6",
        "accent": "#2468e6",
        "on_accent": "#ffffff",
        "good": "#1d8f5f",
        "warning": "#b87503",
        "bad": "#d1373f",
        "good_text": "#14734b",
        "warning_text": "#8a5700",
        "bad_text": "#bd2831",
        "hover": "#eaedf2",
        "selection": "#d6e4ff",
        "wire": "#8a94a6",
    },
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}
CHOICES = ("system", "dark", "light")


class Themes(QObject):
    """Tells everything painted by hand that the theme has changed."""

    sheet_changed = Signal()  # first, so that whoever is told of the theme finds the sizes of its style sheet
    theme_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.current = DARK
        self.choice = "dark"


themes = Themes()


def current_theme() -> Theme:
    """The theme the window wears now."""
    return themes.current


def set_theme(name: str) -> None:
    """Dresses the application in the `"dark"` or `"light"` theme; KeyError for any other name."""
    theme = THEMES[name]
    themes.current = theme
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.setFont(theme.font())
        app.setPalette(_palette(theme))
    themes.sheet_changed.emit()
    themes.theme_changed.emit(theme)


def choose_theme(choice: str) -> None:
    """Dresses the application as one of CHOICES says; "system" goes on following the system's colours.

    ValueError for any other choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"There is no theme called {choice!r}.")
    themes.choice = choice
    set_theme(_system_theme() if choice == "system" else choice)


def follow_system() -> None:
    """Changes with the system's colours from now on, while that is what was chosen; call once."""
    QGuiApplication.styleHints().colorSchemeChanged.connect(_system_changed)


def _system_changed(_scheme: Qt.ColorScheme) -> None:
    if themes.choice == "system" and _system_theme() != themes.current.name:
        set_theme(_system_theme())


def _system_theme() -> str:
    """The theme nearest to the system's; dark where it does not say."""
    light = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Light
    return "light" if light else "dark"


def style_sheet(theme: Theme) -> str:
    """The one style sheet of the window with the colours of `theme` filled in for `@role` names."""
    text = files("resources").joinpath("themes", "window.qss").read_text(encoding="utf-8")
    roles = {role: value.name() for role, value in vars(theme).items() if isinstance(value, QColor)}
    roles["mono"] = theme.mono().family()
    roles["icons"] = str(files("resources").joinpath("icons")).replace("\\", "/")
    roles["shade"] = theme.name
    for role in sorted(roles, key=len, reverse=True):
        text = text.replace(f"@{role}", roles[role])
    return text


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    pairs = {
        QPalette.ColorRole.Window: theme.panel,
        QPalette.ColorRole.WindowText: theme.text,
        QPalette.ColorRole.Base: theme.raised,
        QPalette.ColorRole.AlternateBase: theme.panel,
        QPalette.ColorRole.Text: theme.text,
        QPalette.ColorRole.Button: theme.raised,
        QPalette.ColorRole.ButtonText: theme.text,
        QPalette.ColorRole.ToolTipBase: theme.raised,
        QPalette.ColorRole.ToolTipText: theme.text,
        QPalette.ColorRole.PlaceholderText: theme.hint,
        QPalette.ColorRole.Highlight: theme.accent,
        QPalette.ColorRole.HighlightedText: theme.on_accent,
        QPalette.ColorRole.Link: theme.accent,
        QPalette.ColorRole.Mid: theme.line,
        QPalette.ColorRole.Dark: theme.line,
    }
    for role, colour in pairs.items():
        palette.setColor(role, colour)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.faint)
    return palette


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""

    def luminance(colour: QColor) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (colour.redF(), colour.greenF(), colour.blueF())
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
