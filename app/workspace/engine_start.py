"""Loads torch and the engine parts that need it behind the window, so that the window is up at once."""

from __future__ import annotations

import gc
import logging
import sys
import threading

from app.workspace.engine_parts import EngineParts
from engine.errors import reason_of

log = logging.getLogger(__name__)


class EngineStart:
    """One background thread that imports the engine; the window polls `parts` and `error`.

    The thread calls no Qt. It is not a daemon: leaving the interpreter in the middle of an import would
    crash, so a window closed early waits for it with `join`.
    """

    def __init__(self) -> None:
        self.parts: EngineParts | None = None
        self.error: str | None = None
        self.warm = False
        self._thread = threading.Thread(target=self._load, name="engine-start")

    def begin(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self) -> None:
        """Waits until the thread has ended; returns at once when it never began."""
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def finished(self) -> bool:
        """Whether the thread has run to its end."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def _load(self) -> None:
        first = "torch" not in sys.modules
        try:
            from engine.emit.script import export_script
            from engine.shapes.shapes import ShapeBook
            from engine.shapes.shapes import warm_up as warm_up_shapes
            from engine.train.trainer import Trainer
            from engine.train.warm import warm_up

            warm_up_shapes()
            # The parts are published before the second warm-up: shapes need no optimiser.
            self.parts = EngineParts(ShapeBook, Trainer, export_script)
            warm_up()
            self.warm = True
            if first:
                # Torch's modules never become garbage, and each look through them stops the window for
                # a quarter of a second in the middle of what its user does.
                gc.freeze()
        except Exception as error:
            log.exception("The engine did not start")
            self.error = f"The training engine did not start: {reason_of(error)}"
