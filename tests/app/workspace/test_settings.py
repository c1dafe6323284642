"""Settings: read by type, with the usual value for whatever stands in the file."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.workspace.places import Places
from app.workspace.recent_files import RecentFiles
from app.workspace.settings import LARGEST, Settings


def with_text(folder: Path, text: str) -> Settings:
    path = folder / "settings.ini"
    path.write_text(text, "utf-8")
    return Settings(path)


def test_what_is_kept_comes_back_in_another_start(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "new" / "settings.ini")
    settings.keep("window/theme", "dark")
    settings.keep("canvas/minimap", False)
    settings.keep("views/record_mb", 64)
    settings.keep("files/recent", ["/a b/ü, “x”.nloom", "C:\\c=d.nloom", "\udc80"])
    settings.keep("window/panels", [216, 300, 0])
    again = Settings(tmp_path / "new" / "settings.ini")
    assert again.text("window/theme") == "dark"
    assert again.flag("canvas/minimap", True) is False
    assert again.number("views/record_mb", 1) == 64
    assert again.texts("files/recent") == ["/a b/ü, “x”.nloom", "C:\\c=d.nloom", "\udc80"]
    assert again.numbers("window/panels", 3) == [216, 300, 0]
    again.forget(["window/theme", "window/none"])
    assert settings.text("window/theme", "system") == "system"  # another window's change is seen
    assert settings.keys("canvas") == ["canvas/minimap"]


ODD = ["1", "yes", "@Invalid()", "[1", '{"a": 1}', "1e999", "9" * 5000, "[" * 9999, "null"]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_a_value_of_another_type_is_as_if_it_were_not_there(tmp_path: Path, text: str) -> None:
    settings = with_text(tmp_path, f"[a]\nb={text}\n")
    assert settings.flag("a/b", True) is True
    assert settings.number("a/b", 7, 5, LARGEST) == 7
    assert settings.numbers("a/b", 3) == []
    assert settings.texts("a/b") in ([], [text])
    assert settings.text("a/b", "usual") in ("usual", text)


def test_files_of_earlier_versions_are_read_as_far_as_they_are_text(tmp_path: Path) -> None:
    window = "[window]\ntheme=dark\ntoggle_palette=false\ngeometry=@ByteArray(\\x1\\xd9)\n"
    settings = with_text(tmp_path, f"{window}[files]\nrecent=/a.nloom, /b.nloom\n")
    assert settings.text("window/theme") == "dark"
    assert settings.flag("window/toggle_palette", True) is False
    assert settings.text("window/geometry") == ""
    assert settings.texts("files/recent") == ["/a.nloom", "/b.nloom"]


class Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('code of a settings file ran')",)


def test_nothing_in_the_file_runs(tmp_path: Path) -> None:
    inside = pickle.dumps(Runs())
    variant = struct.pack(">IB", 1024, 0) + b"PyObject\0" + struct.pack(">I", len(inside)) + inside
    encoded = "".join(f"\\x{byte:x}" for byte in variant)
    settings = with_text(tmp_path, f"[window]\ntheme=@Variant({encoded})\ngeometry=@Variant({encoded})\n")
    assert settings.text("window/theme", "system") == "system"


@given(st.binary(max_size=200))
def test_any_file_can_be_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "settings.ini"
    path.write_bytes(b"[files]\nrecent=" + content)
    settings = Settings(path)
    assert RecentFiles(settings).paths() == []
    settings.keep("window/theme", "light")
    assert Settings(path).text("window/theme") == "light"


def test_a_folder_in_the_files_place_is_no_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.ini").mkdir()
    settings = Places.under(tmp_path).settings()
    settings.keep("a/b", True)
    assert settings.flag("a/b", False) is True  # for this session
