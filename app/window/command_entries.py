"""What the command palette offers: the menus' commands, node types, examples, files, tabs and blocks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Protocol

from PySide6.QtGui import QAction

from app.canvas.editing.joining import addable
from app.window.actions import COMMANDS, Command
from app.window.command_palette import Entry
from app.window.file_commands import FileCommands
from app.window.gallery import examples
from app.window.in_front import Window
from app.workspace.recent_files import RecentFiles

# It would only open what is open.
_NOT_OFFERED = ("show_commands",)


class EntriesWindow(Window, Protocol):
    """The window with its menus, and with what opens files."""

    actions_by_name: Mapping[str, QAction]
    recent: RecentFiles
    files: FileCommands


def command_entries(window: EntriesWindow) -> list[Entry]:
    """Everything that can be done now, in the order of the menus."""
    return [
        *_from_menus(window),
        *_node_types(window),
        *_blocks(window),
        *_documents(window),
        *_examples(window),
    ]


def _from_menus(window: EntriesWindow) -> list[Entry]:
    found = []
    for command in COMMANDS:
        if command.name not in _NOT_OFFERED:
            action = window.actions_by_name[command.name]
            also = f"{command.menu} {_plain(command.group)} {command.tip}"
            found.append(
                Entry(
                    f"command:{command.name}",
                    _spoken(command, action),
                    action.trigger,
                    command.keys.partition(" or ")[0] or command.menu,
                    also,
                    action.isEnabled(),
                )
            )
    return found


def _spoken(command: Command, action: QAction) -> str:
    """A menu entry's text, where it would mean nothing alone with its submenu's title before it."""
    text = _plain(action.text().partition("\t")[0]).rstrip("…")
    return f"{_plain(command.group)}: {text[:1].lower()}{text[1:]}" if command.group else text


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def _node_types(window: EntriesWindow) -> list[Entry]:
    types = addable(window.workspace)
    return [
        Entry(
            f"add:{found.type_id}",
            f"Add {found.title}",
            partial(_add, window, found.type_id),
            found.family,
            " ".join(found.aliases),
        )
        for found in types
    ]


def _add(window: EntriesWindow, type_id: str) -> None:
    if not window.at_work:
        window.files.new_project()
    window.canvas.add_node(type_id, None)
    window.canvas.setFocus()


def _blocks(window: EntriesWindow) -> list[Entry]:
    workspace = window.workspace
    project = workspace.document.project
    places = [
        ("", project.title or "Untitled"),
        *((key, block.name) for key, block in project.blocks.items()),
    ]
    return [
        Entry(
            f"scope:{scope}",
            f"Go to {name or scope}",
            partial(workspace.enter, scope),
            "block",
            lasting=False,
        )
        for scope, name in places
        if project.blocks and scope != workspace.scope
    ]


def _documents(window: EntriesWindow) -> list[Entry]:
    documents = window.documents
    found = [
        Entry(
            f"tab:{page.number}",
            f"Switch to {page.face.name}",
            partial(documents.show, page),
            "open document",
        )
        for page in documents.pages
        if page is not documents.current
    ]
    for path in window.recent.paths():
        if documents.of(path) is None:
            run = partial(window.files.open_path, path)
            found.append(Entry(f"file:{path}", f"Open {path.name}", run, "recent file", str(path.parent)))
    return found


def _examples(window: EntriesWindow) -> list[Entry]:
    return [
        Entry(
            f"example:{example.path.stem}",
            f"Open example {example.title}",
            partial(window.files.open_example, example.path),
            "example",
            example.line,
        )
        for example in examples()
    ]
