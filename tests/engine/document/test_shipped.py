import pytest

from engine.document.shipped import copy_files, datasets_folder, reading
from engine.errors import DataError


def test_the_shipped_folder_holds_the_sets():
    assert (datasets_folder() / "mnist" / "t10k-labels-idx1-ubyte.gz").is_file()
    assert (datasets_folder() / "santafe" / "santafe_laser.npy").is_file()


def test_copies_carry_their_licence(tmp_path):
    copied = copy_files(["santafe/santafe_laser.npy"], tmp_path / "My Data (1)")
    names = [path.relative_to(tmp_path / "My Data (1)").as_posix() for path in copied]
    assert names == ["santafe/santafe_laser.npy", "santafe/SOURCE.txt"]
    for path, name in zip(copied, names, strict=True):
        assert path.read_bytes() == (datasets_folder() / name).read_bytes()


def test_copying_again_leaves_equal_files_alone(tmp_path):
    first = copy_files(["santafe/santafe_laser.npy"], tmp_path)
    times = [path.stat().st_mtime_ns for path in first]
    assert [path.stat().st_mtime_ns for path in copy_files(["santafe/santafe_laser.npy"], tmp_path)] == times


def test_a_file_that_is_not_there_cannot_be_copied(tmp_path):
    with pytest.raises(DataError, match=r"There is no .*nothing\.npy to copy"):
        copy_files(["nothing.npy"], tmp_path / "out")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            FileNotFoundError("There is no a.gz: choose another folder."),
            "There is no a.gz: choose another folder.",
        ),
        (ValueError("a.gz is damaged."), "a.gz is damaged."),
        (ImportError("install scikit-learn"), "install scikit-learn"),
        (PermissionError(13, "Permission denied", "a.gz"), "a.gz cannot be used: Permission denied."),
    ],
)
def test_what_a_loader_raises_lands_on_the_node(error, sentence):
    with pytest.raises(DataError) as caught, reading("n3"):
        raise error
    assert (caught.value.message, caught.value.node_id) == (sentence, "n3")


def test_other_errors_pass_through():
    with pytest.raises(KeyError), reading("n3"):
        raise KeyError("x")
