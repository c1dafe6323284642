import hashlib
import shutil

import numpy as np
import pytest
import torch

from engine.data.sets.laser import load_santa_fe, santa_fe_scale
from engine.document.shipped import datasets_folder

FOLDER = datasets_folder()
FILE = FOLDER / "santafe" / "santafe_laser.npy"


@pytest.fixture
def raw() -> torch.Tensor:
    return torch.tensor(np.load(FILE)).flatten()


def test_the_shipped_series_is_the_known_one(raw):
    assert raw[:4].tolist() == [86, 141, 95, 41]
    assert (len(raw), raw.min().item(), raw.max().item(), raw[:1100].sum().item()) == (10_093, 0, 255, 65_415)
    assert hashlib.md5(FILE.read_bytes()).hexdigest() == "528b4552769efd9374eebb41303331fe"
    assert "Hübner" in (FILE.parent / "SOURCE.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("lag", "validation"), [(50, 0.1), (1, 0.5), (10, 0.25), (400, 0.5)])
def test_splits_follow_each_other_in_time(raw, lag, validation):
    splits = load_santa_fe(FOLDER, "cpu", lag=lag, validation=validation)
    mean, deviation = santa_fe_scale(FOLDER, validation=validation)
    end = 1000 - round(1000 * validation)
    for split, (first, last) in {
        "train": (lag, end),
        "validation": (end, 1000),
        "test": (1000, 1100),
    }.items():
        window, following = splits[split]["window"], splits[split]["next"]
        assert window.shape == (last - first, lag, 1)
        assert following.shape == (last - first, 1)
        assert window.dtype == following.dtype == torch.float32
        assert torch.equal((following * deviation + mean).round().flatten().long(), raw[first:last])
        for row in (0, last - first - 1):
            past = (window[row] * deviation + mean).round().flatten().long()
            assert torch.equal(past, raw[first + row - lag : first + row])


def test_the_scale_comes_from_the_training_readings_alone(raw):
    train = raw[:900].double()
    mean, deviation = santa_fe_scale(FOLDER)
    assert mean == pytest.approx(train.mean().item())
    assert deviation == pytest.approx(train.std(correction=0).item())
    assert santa_fe_scale(FOLDER, validation=0.2) != (mean, deviation)


def test_loading_twice_gives_the_same_bits():
    first, again = load_santa_fe(FOLDER, "cpu"), load_santa_fe(FOLDER, "cpu")
    for split, part in first.items():
        assert all(torch.equal(values, again[split][name]) for name, values in part.items())


@pytest.mark.filterwarnings("error")
def test_any_folder_name_will_do_and_nothing_is_written(tmp_path):
    folder = tmp_path / "My Data (1)" / "猫 ß"
    shutil.copytree(FILE.parent, folder / "santafe")
    load_santa_fe(folder, "cpu")
    assert (folder / "santafe" / FILE.name).read_bytes() == FILE.read_bytes()
    assert {path.name for path in (folder / "santafe").iterdir()} == {FILE.name, "SOURCE.txt"}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no .*santafe_laser\.npy: choose the folder"):
        load_santa_fe(tmp_path, "cpu")


@pytest.mark.parametrize(
    "content", [b"", b"86, 141, 95", FILE.read_bytes()[:5000]], ids=["empty", "text", "cut off"]
)
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / "santafe").mkdir()
    (tmp_path / "santafe" / FILE.name).write_bytes(content)
    with pytest.raises(ValueError, match=r"santafe_laser\.npy is damaged, or is another file"):
        load_santa_fe(tmp_path, "cpu")


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a data file was executed')",))


def test_a_pickle_in_the_files_place_is_never_executed(tmp_path):
    (tmp_path / "santafe").mkdir()
    np.save(tmp_path / "santafe" / FILE.name, np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="is damaged"):
        load_santa_fe(tmp_path, "cpu")
