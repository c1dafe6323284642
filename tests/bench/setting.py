"""What several rows stand on: examples by id, and a finished run without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalogue import load_catalogue
from engine.document.files import load_project
from engine.document.graph import Project
from engine.document.shipped import datasets_folder

if TYPE_CHECKING:
    from engine.train.loop import Run


def gallery_project(example: str) -> Project:
    """An example of the gallery, freshly loaded."""
    return load_project(datasets_folder().parent / "gallery" / f"{example}.nloom")


def trained(project: Project) -> Run:
    """The finished run of a project as its plan says, on the CPU."""
    from engine.train.headless import run_headless

    return run_headless(project, load_catalogue(), datasets_folder(), device="cpu").run
