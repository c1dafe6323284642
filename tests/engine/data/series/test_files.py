"""Windows of a person's series against windows made by hand, and against those of the Santa Fe laser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.data.series.files import load_series, read_numpy_series, read_text_series
from engine.data.sets.laser import load_santa_fe
from engine.data.splits import split_in_blocks, split_in_time
from engine.document.shipped import datasets_folder

TEXT = {"delimiter": ",", "quote": '"', "decimal": ".", "encoding": "utf-8", "header": True, "skip": 0}
IN_TIME = {"splitter": split_in_time, "validation": 0.2, "test": 0.2}


def load(folder: Path, rows: str, *names: str, **options: Any) -> dict[str, dict[str, torch.Tensor]]:
    (folder / "a.csv").write_text(rows, encoding="utf-8")
    columns = options.pop("columns", tuple((name, "number", "input") for name in names))
    how: dict[str, Any] = {"inputs": names, "targets": names, "standardise": False, **options}
    how = how if "splitter" in how else {**IN_TIME, **how}
    table = {**TEXT, "blanks": ()}
    return load_series(
        folder, "cpu", file="a.csv", columns=columns, read=read_text_series, table=table, **how
    )


def counted(n: int) -> str:
    return "x\n" + "".join(f"{k}\n" for k in range(n))


def rows(found: torch.Tensor) -> list[Any]:
    return found.squeeze(-1).tolist() if found.dim() == 3 else found.tolist()


def test_windows_by_hand(tmp_path: Path) -> None:
    found = load(tmp_path, counted(15), "x", lag=2)
    assert rows(found["train"]["window"]) == [[k, k + 1.0] for k in range(7)]
    assert found["train"]["next"].tolist() == [[k + 2.0] for k in range(7)]
    assert rows(found["validation"]["window"]) == [[9.0, 10.0]]
    assert found["validation"]["next"].tolist() == [[11.0]]
    assert rows(found["test"]["window"]) == [[12.0, 13.0]]


def test_the_laser_gives_the_windows_of_the_set_that_is_installed() -> None:
    shipped = load_santa_fe(datasets_folder(), "cpu", lag=50, validation=0.1)
    found = load_series(
        datasets_folder() / "santafe",
        "cpu",
        file="santafe_laser.npy",
        columns=(("1", "number", "input"),),
        read=read_numpy_series,
        table={},
        inputs=("1",),
        targets=("1",),
        most=1100,
        lag=50,
        reach_back=True,
        splitter=split_in_time,
        validation=100 / 1100,
        test=100 / 1100,
    )
    for split, columns in shipped.items():
        for name, values in columns.items():
            assert torch.equal(found[split][name], values)


def test_horizon_and_stride(tmp_path: Path) -> None:
    found = load(tmp_path, counted(20), "x", lag=3, horizon=2, stride=3, validation=0.25, test=0.25)
    assert rows(found["train"]["window"]) == [[0, 1, 2], [3, 4, 5]]
    assert found["train"]["next"].tolist() == [[3, 4], [6, 7]]
    assert found["validation"]["next"].tolist() == [[13, 14]]


def test_two_columns_ahead(tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f"{k},{10 * k}\n" for k in range(20))
    found = load(tmp_path, text, "a", "b", lag=2, horizon=2, targets=("b",))
    assert found["train"]["window"][0].tolist() == [[0, 0], [1, 10]]
    assert found["train"]["next"][0].tolist() == [20, 30]
    both = load(tmp_path, text, "a", "b", lag=2, horizon=2)
    assert both["train"]["next"][0].tolist() == [[2, 20], [3, 30]]


def test_no_window_straddles_a_border_and_a_gap_is_left_out(tmp_path: Path) -> None:
    found = load(tmp_path, counted(30), "x", lag=2, between=3)
    assert found["train"]["next"].max() == 14  # readings 15 to 17 are left out
    assert found["validation"]["window"].min() == 18
    assert found["validation"]["next"].max() == 20
    assert found["test"]["window"].min() == 24
    back = load(tmp_path, counted(30), "x", lag=2, reach_back=True)
    assert back["validation"]["window"][0, :, 0].tolist() == [16, 17]
    assert back["validation"]["next"][0].tolist() == [18]


def test_blocks_of_time(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        counted(40),
        "x",
        lag=1,
        splitter=split_in_blocks,
        folds=3,
        fold=1,
        gap=0,
        test=0.2,
        between=2,
    )
    found2 = {
        split: (part["window"].min().item(), part["next"].max().item()) for split, part in found.items()
    }
    assert found2 == {"train": (0, 13), "validation": (16, 23), "test": (32, 39)}


def test_standardised_by_the_training_readings_alone(tmp_path: Path) -> None:
    plain = load(tmp_path, counted(20), "x", lag=2)
    found = load(tmp_path, counted(20), "x", lag=2, standardise=True)
    known = torch.arange(12).double()
    for split in plain:
        wanted = (plain[split]["window"] - known.mean()) / known.std(correction=0)
        assert torch.allclose(found[split]["window"], wanted.float())


def test_differences(tmp_path: Path) -> None:
    text = "x\n" + "".join(f"{k * k}\n" for k in range(15))
    once = load(tmp_path, text, "x", lag=2, difference=1)
    assert once["train"]["window"][0, :, 0].tolist() == [1, 3]
    twice = load(tmp_path, text, "x", lag=2, difference=2)
    assert set(twice["train"]["window"].flatten().tolist()) == {2.0}
    assert len(twice["train"]["next"]) == 5


@pytest.mark.parametrize(
    ("way", "wanted"), [("interpolate", [0, 1, 2, 3, 4]), ("carry forward", [0, 1, 1, 1, 4])]
)
def test_missing_readings(tmp_path: Path, way: str, wanted: list[float]) -> None:
    text = "x\n" + "".join("\n" if k in (2, 3) else f"{k}\n" for k in range(20))
    found = load(tmp_path, text, "x", lag=5, missing=way, validation=0.3, test=0.3)
    assert found["train"]["window"][0, :, 0].tolist() == wanted


def test_nothing_is_filled_from_a_later_part(tmp_path: Path) -> None:
    text = "x\n" + "".join("\n" if k in (8, 9, 10) else f"{k}\n" for k in range(30))
    found = load(tmp_path, text, "x", lag=2, missing="interpolate", validation=0.33, test=0.33)
    assert found["train"]["next"][-1].tolist() == [7]  # 8 and 9 are of train, and 10 begins validation
    assert found["validation"]["window"][0, :, 0].tolist() == [10, 11]


def test_a_missing_reading_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'Row 5 of "a\.csv" has no reading in "x"; 2 are missing in all'):
        load(tmp_path, "x,y\n1,1\n2,2\n3,3\n,4\n,5\n6,6\n", "x", lag=1)


def test_blank_lines_at_the_end_are_no_readings(tmp_path: Path) -> None:
    assert len(load(tmp_path, counted(15) + "\n\n\n", "x", lag=2)["train"]["next"]) == 7


def test_by_time_and_by_series(tmp_path: Path) -> None:
    made = [(day, name, 100 * (name == "b") + day) for day in range(20) for name in "ab"]
    text = "t,s,x\n" + "".join(f"2020-01-{day + 1:02},{name},{x}\n" for day, name, x in reversed(made))
    columns = (
        ("t", "date", "time", "%Y-%m-%d"),
        ("s", "category", "group", "a", "b"),
        ("x", "number", "input"),
    )
    found = load(
        tmp_path, text, "x", columns=columns, time="t", series="s", order="by time", lag=2, clock=True
    )
    assert rows(found["train"]["window"]) == [[k + d, k + d + 1] for k in (0, 100) for d in range(10)]
    assert found["validation"]["clock"].shape == (4, 2, 6)


def test_the_clock(tmp_path: Path) -> None:
    text = "t,x\n" + "".join(f"2024-01-01 {hour:02}:00,{hour}\n" for hour in range(24))
    columns = (("t", "date", "time", "%Y-%m-%d %H:%M"), ("x", "number", "input"))
    found = load(tmp_path, text, "x", columns=columns, time="t", lag=1, clock=True)
    clock = found["train"]["clock"]
    assert torch.allclose(clock[6, 0, :2], torch.tensor([1.0, 0.0]), atol=1e-5)  # six in the morning
    assert torch.allclose(clock[0, 0, 2:4], torch.tensor([0.0, 1.0]), atol=1e-4)  # a Monday begins a week


def test_a_part_that_is_too_short_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="validation has 2 readings in a row, but a window of 5"):
        load(tmp_path, counted(12), "x", lag=5)


def test_long_windows_are_cut_when_asked_for() -> None:
    from engine.data.series.windows import Windows

    found = Windows(torch.arange(10).float(), torch.tensor([0, 4, 7]), 3, "cpu")
    assert found.shape == (3, 3)
    assert found[torch.tensor([2, 0])].tolist() == [[7, 8, 9], [0, 1, 2]]
    assert found.at(torch.tensor([1]))[0].tolist() == [4, 5, 6]
    assert Windows(torch.arange(5, dtype=torch.int32), torch.tensor([1]), 2, "cpu")[:].dtype == torch.int64


def test_a_numpy_file_that_is_no_series(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2, 2)))
    for content in (None, b"\x93NUMPY\x01\x00", b"nothing"):
        if content is not None:
            (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(ValueError, match=r'a\.npy"? (is no|ends within)'):
            load_series(
                tmp_path,
                "cpu",
                file="a.npy",
                columns=(),
                read=read_numpy_series,
                table={},
                inputs=("1",),
                targets=("1",),
                **IN_TIME,
            )
