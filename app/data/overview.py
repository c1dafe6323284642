"""Rows of each split, rows of each class in each split, and what the data look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.charts.bars import Bar, Bars
from app.data.facts import DataFacts
from app.data.samples import DataSamples
from app.widgets.labels import label
from engine.catalogue import Column

ROLES = {"train": "accent", "validation": "convolution", "test": "dim"}


class Overview(QWidget):
    """What one sees first of a data set."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counts = Bars(unit="rows")
        self.counts.setObjectName("splitCounts")
        self.classes = Bars(unit="rows")
        self.classes.setObjectName("classCounts")
        self._class_title = label("Classes", "heading")
        self._nothing = label("", "empty", wrap=True)
        self.samples = DataSamples()
        self.samples.setObjectName("dataSamples")
        counts = QVBoxLayout()
        counts.setSpacing(6)
        counts.addWidget(label("Rows", "heading"))
        counts.addWidget(self.counts)
        counts.addWidget(self._nothing)
        counts.addStretch(1)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 8, 0)
        inner.addWidget(self.classes)
        inner.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        self._class_box = QWidget()
        classes = QVBoxLayout(self._class_box)
        classes.setContentsMargins(0, 0, 0, 0)
        classes.setSpacing(6)
        classes.addWidget(self._class_title)
        classes.addWidget(area, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(28)
        row.addLayout(counts, 2)
        row.addWidget(self._class_box, 3)
        row.addWidget(self.samples, 6)

    def show_facts(
        self,
        facts: DataFacts,
        split: str,
        names: Mapping[str, tuple[str, ...]],
        features: Column | None = None,
    ) -> None:
        """Shows one split; the bars of rows show all."""
        rows = facts.summary.rows
        self.counts.show_bars(
            [
                Bar(name, float(count), ROLES.get(name, "accent"), strong=name == split)
                for name, count in rows.items()
            ]
        )
        self._nothing.setText(facts.error)
        self._nothing.setVisible(not rows)
        self._show_classes(facts, split, names)
        self.samples.setVisible(bool(rows))
        if features is not None and features.scaled and features.name in facts.own:
            features = replace(features, scaled="in their own units")
        self.samples.show_samples(facts.samples.get(split, {}), names, features, facts.graphs.get(split, ()))

    def _show_classes(self, facts: DataFacts, split: str, names: Mapping[str, tuple[str, ...]]) -> None:
        for name, found in facts.summary.columns.get(split, {}).items():
            if not found.classes or not names.get(name):
                continue
            known, every = names[name], facts.summary.class_counts(name)
            bars = []
            for index, count in enumerate(found.classes):
                title = known[index] if index < len(known) else str(index)
                notes = []
                for one, counts in every.items():
                    here = counts[index] if index < len(counts) else 0
                    fraction = f"{here / (sum(counts) or 1):.1%}".replace("%", " %")
                    notes.append(f"{one}: {here:,} rows, {fraction}")
                bars.append(Bar(title, float(count), "accent", "\n".join(notes)))
            self.classes.show_bars(bars)
            self._class_title.setText(f"{name}, {split}")
            self._class_box.setVisible(True)
            return
        self._class_box.setVisible(False)
