"""Small files that would fill all memory are refused with a sentence, or looked at a part at a time."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.data.array_files import FileRows
from engine.data.open import typed as open_typed
from engine.data.open.opening import open_data
from engine.data.tables import nested, pieces
from engine.data.telling import listening
from engine.data.watch import Stopped, Watch
from engine.errors import DataError
from tests.engine.data.test_any_file import FILES, peak_of

MUCH = 48 << 20  # bytes of memory that none of these files may ask for
LINUX = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells its peak")
ZEROS = bytes(64 << 20)


def rle_parquet(path: Path) -> None:
    """Thirty million equal cells in a few kilobytes."""
    pl.DataFrame({"x": pl.repeat(0, 30_000_000, dtype=pl.Int8, eager=True)}).write_parquet(path)


def wide_arrow(path: Path) -> None:
    """A column of arrays of a thousand million values each, and no row of it."""
    pl.DataFrame({"x": pl.Series([], dtype=pl.Array(pl.Int8, 10**9)), "y": []}).write_ipc(path)


def names_of_their_own(path: Path) -> None:
    path.write_text(json.dumps([{f"k{at}": 1} for at in range(20_000)]))


def wide_text(path: Path) -> None:
    path.write_bytes(b"a" + b",a" * 1_000_000 + b"\n")


def npz_packed_by(method: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        content = io.BytesIO()
        np.save(content, np.zeros((16, 4)))
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("x.npy", content.getvalue() + ZEROS)

    return write


def archive_in(make: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(make(ZEROS))

    return write


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.csv", content)
    return out.getvalue()


def tarred(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("zeros.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


REFUSED = {
    "x.json": (names_of_their_own, "it is no table"),
    "x.csv": (wide_text, "1,000,001 columns; at most 100,000"),
    "bz2.npz": (npz_packed_by(zipfile.ZIP_BZIP2), "packed as NumPy never does"),
    "lzma.npz": (npz_packed_by(zipfile.ZIP_LZMA), "packed as NumPy never does"),
    "zip": (archive_in(zipped), "is an archive"),
    "gz": (archive_in(gzip.compress), "is an archive"),
    "bz2": (archive_in(bz2.compress), "is an archive"),
    "xz": (archive_in(lzma.compress), "is an archive"),
    "zip.csv": (archive_in(zipped), "is no table"),
    "gz.csv": (archive_in(gzip.compress), "is no table"),
    "zeros.gz": (archive_in(gzip.compress), "is an archive"),
    "zeros.tar.gz": (archive_in(tarred), "is an archive"),
}  # fmt: skip


@LINUX
@pytest.mark.parametrize("name", REFUSED)
def test_a_small_file_that_unpacks_to_much_is_refused(name: str, tmp_path: Path) -> None:
    write, said = REFUSED[name]
    write(tmp_path / name)
    open_data(FILES / "plants.csv")  # what is imported stays
    told: list[str] = []

    def refused() -> None:
        with pytest.raises(DataError) as error:
            open_data(tmp_path / name)
        told.append(error.value.message)

    assert peak_of(refused) < MUCH
    assert said in told[0] and name in told[0]


def test_rows_without_end_are_told_before_any_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rle_parquet(tmp_path / "x.parquet")
    assert (tmp_path / "x.parquet").stat().st_size < 2**20
    monkeypatch.setattr(open_typed, "MOST_ROWS", 20_000_000)
    with pytest.raises(DataError, match="says it has 30,000,000 rows; at most 20,000,000 can be read"):
        open_data(tmp_path / "x.parquet")


def test_numbers_that_have_no_room_on_disk_are_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"x": range(1000)}).write_parquet(tmp_path / "x.parquet")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("", (), {"free": 4000}))
    with pytest.raises(
        ValueError, match=r'The numbers of "x.parquet" take 0.0 GiB on disk, where 0.0 are free'
    ):
        pieces.typed_numbers(tmp_path / "x.parquet", tmp_path, [("x", "number", "input", ())], blanks=())
    assert not (tmp_path / "numbers").exists()


@LINUX
def test_long_arrays_are_no_columns(tmp_path: Path) -> None:
    wide_arrow(tmp_path / "x.arrow")

    def opened() -> None:
        with pytest.raises(DataError, match="no row with anything"):
            open_data(tmp_path / "x.arrow")

    assert peak_of(opened) < MUCH
    lists = pl.LazyFrame({"x": [[1] * 20_000], "y": [[1, 2]]})
    assert nested.flattened(lists).collect_schema().names() == ["x", "y 1", "y 2"]


def typed(path: Path) -> Path:
    """Columns of every kind, some of their cells blank, and some rows, too."""
    day = datetime(2020, 1, 1)
    count = 400
    frame = pl.DataFrame(
        {
            "id": range(10**18, 10**18 + count),
            "size": [None if at % 50 == 3 else at / 8 for at in range(count)],
            "big": [float("nan") if at == 8 else float(at * at) for at in range(count)],
            "colour": [None if at % 90 == 7 else ("red", "blue", "NA")[at % 7 % 3] for at in range(count)],
            "open": [at % 3 == 0 for at in range(count)],
            "when": [day + timedelta(hours=at) for at in range(count)],
            "place": [{"x": at, "y": "ab"[at % 2]} for at in range(count)],
            "took": [timedelta(seconds=at) for at in range(count)],
            "y": [at % 3 for at in range(count)],
        }
    )
    blank = pl.DataFrame({name: [None, None] for name in frame.columns}, schema=frame.schema)
    pl.concat([frame[:100], blank, frame[100:]]).write_parquet(path)
    return path


def test_a_column_at_a_time_shows_what_the_whole_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = typed(tmp_path / "t.parquet")
    whole = open_data(path)
    monkeypatch.setattr(open_typed, "HELD", 100)
    shares: list[float] = []
    found = open_data(path, Watch(lambda share, _: shares.append(share or 0.0)))
    assert {**found.params, "loose": True} == {**whole.params, "plain": False, "loose": True}
    assert [one for one in whole.remarks if "blank lines" not in one] == list(found.remarks)
    assert found.params["rows"] == 400 and any("blank inputs" in remark for remark in found.remarks)
    assert len([share for share in shares if share > 0.1]) >= 9
    asked = iter([False] * 6 + [True] * 99)
    with pytest.raises(Stopped):
        open_data(path, Watch(stopped=lambda: next(asked)))


def test_a_packed_array_is_told_as_it_unpacks_and_can_be_stopped(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros((6_000_000, 1)))
    told: list[tuple[int, int]] = []

    def stop(done: int, count: int, _: Any) -> None:
        told.append((done, count))
        if len(told) == 2:
            raise Stopped

    with listening(stop), pytest.raises(Stopped):
        FileRows(tmp_path / "x.npz", "x", 2**30)
    assert told == [(2**24, 48_000_000), (2**25, 48_000_000)]
