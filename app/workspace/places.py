"""Where Neuroloom keeps what outlives a window: settings, autosaves, runs and the log."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from app.workspace.settings import Settings


@dataclass(frozen=True)
class Places:
    """The folders and files of one user; `under` gives a private set, as tests need."""

    settings_file: Path
    autosaves: Path
    runs: Path
    log_file: Path
    blocks: Path

    @classmethod
    def default(cls) -> Places:
        """The user's own places, or those under the folder named by NEUROLOOM_HOME."""
        home = os.environ.get("NEUROLOOM_HOME")
        if home:
            return cls.under(Path(home))
        location = QStandardPaths.StandardLocation
        data = Path(QStandardPaths.writableLocation(location.GenericDataLocation)) / "neuroloom"
        config = Path(QStandardPaths.writableLocation(location.GenericConfigLocation)) / "neuroloom"
        return cls(
            config / "settings.ini",
            data / "autosaves",
            data / "runs",
            data / "neuroloom.log",
            data / "blocks",
        )

    @classmethod
    def under(cls, folder: Path) -> Places:
        """All places inside one folder."""
        return cls(
            folder / "settings.ini",
            folder / "autosaves",
            folder / "runs",
            folder / "neuroloom.log",
            folder / "blocks",
        )

    @property
    def crashes(self) -> Path:
        """The folder that crashes of the program are written down in."""
        return self.log_file.with_name("crashes")

    def settings(self) -> Settings:
        """The remembered choices (sizes, theme, recent files)."""
        return Settings(self.settings_file)
