"""What the data panel knows of a data set, gathered in a thread because a large one takes a while."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from engine.data.preview import Summary

log = logging.getLogger(__name__)

MOST_IMAGES = 240
MOST_ROWS = 2000


@dataclass(frozen=True)
class DataFacts:
    """The summary of all splits, and the first rows of each column of each split."""

    summary: Summary
    samples: Mapping[str, Mapping[str, NDArray[Any]]]


class FactsReader:
    """Gathers facts of one data set after another; `facts` and `error` belong to the last one asked for."""

    def __init__(self) -> None:
        self.facts: DataFacts | None = None
        self.error = ""
        self._data: object = None
        self._thread: threading.Thread | None = None

    def ask(self, data: Any) -> None:
        """Gather the facts of these splits, unless that is done or under way."""
        if data is self._data or data is None or self.busy:
            return
        self._data = data
        self.facts = None
        self.error = ""
        self._thread = threading.Thread(target=self._gather, args=(data,), name="data-facts")
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether facts are being gathered."""
        return self._thread is not None and self._thread.is_alive()

    def join(self) -> None:
        """Wait until nothing is under way."""
        if self._thread is not None:
            self._thread.join()

    def _gather(self, data: Any) -> None:
        try:
            self.facts = gather(data)
        except Exception as error:
            log.exception("The data could not be summarised")
            self.error = f"The data could not be summarised: {error}"


def gather(data: Mapping[str, Mapping[str, Any]]) -> DataFacts:
    """The facts of `{split: {column: tensor}}`: images are sampled 240, rows 2,000 a split."""
    from engine.data.preview import sample, summary

    samples: dict[str, dict[str, NDArray[Any]]] = {}
    for split, columns in data.items():
        samples[split] = {}
        for name, values in columns.items():
            most = MOST_IMAGES if values.dim() >= 4 else MOST_ROWS
            samples[split][name] = np.asarray(sample(data, name, most, split))
    return DataFacts(summary(data), samples)
