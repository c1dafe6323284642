"""What several rows stand on: examples by id, and a finished run without a window."""

from __future__ import annotations

from engine.catalogue import load_catalogue
from engine.data.shipped import datasets_folder
from engine.files import load_project
from engine.graph import Project


def gallery_project(example: str) -> Project:
    """An example of the gallery, freshly loaded."""
    return load_project(datasets_folder().parent / "gallery" / f"{example}.nloom")


def trained(project: Project):  # type: ignore[no-untyped-def]  # torch-side types would be imported before they are needed
    """The finished `Run` of a project as it stands, on the CPU."""
    from engine.emit import compile_program
    from engine.run.feed import Feed
    from engine.run.loop import Run, Settings, Stage

    program = compile_program(project, load_catalogue())
    settings = Settings.of(project.plan, device="cpu")
    run = Run(program, lambda: program.load(datasets_folder(), "cpu"), settings, Feed())
    while run.stage is not Stage.DONE:
        run.advance()
    return run
