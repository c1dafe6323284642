"""Project files give back what was saved, refuse what is broken, and outlive a crash."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.document.document import Document
from engine.document.edits import Move
from engine.document.files import LARGEST_FILE, TEMPORARY, from_text, load_project, save_project, to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.document.locks import hold
from engine.document.plan import Choice, Plan
from engine.errors import ProjectFileError

HOSTILE = [
    "x'); __import__('os').system('id'); #",
    "1 new name!",
    "class",
    "",
    "Ünïcode 层 🙂 \u202etxt.exe",
    'quote " and \\ backslash',
    "two\nlines\r\n\ttab\u2028and more",
    "\x00\x07\x7f",
    "half a pair \ud800",
    "<b>bold</b> {braces} %s",
    "n" * 300,
]


def example() -> Project:
    nodes = [
        Node("n1", "Mnist", "digits", {}, (0.0, 0.0)),
        Node("n2", "Conv2d", "conv1", {"filters": 32, "kernel": (3, 5), "padding": "same"}, (200.0, -10.25)),
        Node("n10", "CrossEntropy", "loss", {"weight": 0.5, "on": True, "other": None}, (400.0, 0.0)),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n10", "prediction"),
        Link("n1", "digit", "n10", "target"),
    ]
    plan = Plan(batch=128, seed=3).with_(optimiser=Choice("SGD", {"lr": 0.1, "nesterov": True}), patience=3)
    return Project("An example", "# Notes\n\nof *two* lines", Graph(nodes, links), plan, next_id=12)


def data() -> dict[str, Any]:
    """The example as JSON, to be broken."""
    return json.loads(to_text(example()))


# -- round trips (cases B-18, B-20, E-7, C8, C14)


def test_a_saved_project_loads_equal_and_saves_alike(tmp_path: Path) -> None:
    path = tmp_path / "données 猫 (1)" / "net ß.nloom"
    path.parent.mkdir()
    save_project(example(), path)
    loaded = load_project(path)
    assert loaded == example()
    first = path.read_bytes()
    save_project(loaded, path)
    assert path.read_bytes() == first
    assert os.listdir(path.parent) == [path.name]


def test_the_text_has_one_node_and_one_link_a_line() -> None:
    text = to_text(example())
    assert text.endswith("}\n")
    assert (
        '  {"id": "n2", "type": "Conv2d", "name": "conv1", '
        '"params": {"filters": 32, "kernel": [3, 5], "padding": "same"}, "position": [200, -10.25]},\n'
    ) in text
    assert '  ["n1", "image", "n2", "x"],\n' in text
    assert '"title": "An example",\n' in text


def test_moving_a_node_changes_its_position_and_nothing_else() -> None:
    document = Document(example())
    before = to_text(document.project).splitlines()
    with document.step("Move"):
        document.apply(Move({"n2": (1, 2)}))
    after = to_text(document.project).splitlines()
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [(before[8], before[8].replace("[200, -10.25]", "[1, 2]"))]


def test_every_kind_of_value_keeps_its_type() -> None:
    params = {
        "a": 1,
        "b": 1.0,
        "c": True,
        "d": None,
        "e": "1",
        "f": (1, (2.5, "x"), ()),
        "g": 20e-12,
        "h": 2**80,
        "i": -0.0,
        "j": 5e-324,
        "k": 1.7976931348623157e308,
    }
    loaded = from_text(to_text(Project(graph=Graph([Node("n1", "X", params=params)]), next_id=2)))
    assert repr(loaded.graph.node("n1").params) == repr(params)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_plain_text_wherever_they_stand(name: str) -> None:
    nodes = [Node("n1", name or "T", name, {name: name}), Node("n2", "T")]
    links = [Link("n1", name, "n2", name)]
    plan = Plan().with_(optimiser=Choice(name or "SGD", {name: name}), monitor=name, loss=name)
    project = Project(name, name, Graph(nodes, links), plan, 3, {"field " + name: {name: [name]}})
    text = to_text(project)
    text.encode("utf-8")
    assert len(text.split("\n")) == len(text.splitlines()) + 1 == 16
    assert from_text(text) == project


def test_what_this_version_does_not_know_is_kept_as_it_was() -> None:
    raw = data()
    raw["nodes"][1]["type"] = "HyperConv9"
    raw["nodes"][1]["pinned"] = True
    raw["nodes"][1]["frame"] = {"z": 1, "a": [1.5, {"deep": None}]}
    raw["plan"]["clip"] = 1.0
    raw["plan"]["phases"][0]["name"] = "first"
    raw["plan"]["phases"][0]["stop"]["seconds"] = 60
    raw["plan"]["phases"][0]["objectives"][0]["every"] = 2
    raw["plan"]["phases"][0]["objectives"][0]["optimiser"]["groups"] = []
    raw["regions"] = [{"title": "Encoder", "nodes": ["n1"]}]
    text = to_text(from_text(json.dumps(raw)))
    assert json.loads(text) == raw
    assert '"pinned": true, "frame": {"z": 1, "a": [1.5, {"deep": null}]}}' in text
    assert to_text(from_text(text)) == text


def test_links_may_stand_before_nodes_and_nodes_in_any_order() -> None:
    raw = data()
    turned = {"links": raw["links"][::-1], "nodes": raw["nodes"][::-1], **raw}
    turned = {name: turned[name] for name in reversed(list(turned))}
    turned["links"], turned["nodes"] = raw["links"][::-1], raw["nodes"][::-1]
    assert to_text(from_text(json.dumps(turned))) == to_text(example())


def test_a_short_file_written_by_hand_is_enough() -> None:
    project = from_text('{"neuroloom": 1, "nodes": [{"id": "n4", "type": "Linear"}]}')
    assert project == Project(graph=Graph([Node("n4", "Linear")]), next_id=5)


def test_a_counter_behind_the_ids_is_mended() -> None:
    assert from_text(json.dumps(data() | {"next_id": 2})).new_id() == "n11"


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.nloom"
    path.write_bytes(b"\xef\xbb\xbf" + to_text(example()).replace("\n", "\r\n").encode())
    assert load_project(path) == example()


def test_two_nodes_may_have_one_name_and_a_project_may_lack_data() -> None:
    graph = Graph([Node("n1", "Linear", "same"), Node("n2", "Linear", "same")])
    assert from_text(to_text(Project(graph=graph, next_id=3))).graph == graph


# -- broken files (cases A-14, C9)

LINK = ["n2", "output", "n1", "x"]
FLAWS: dict[str, tuple[Any, str]] = {
    "newer": (lambda d: d.update(neuroloom=3), "made by a newer Neuroloom.*Update"),
    "format of nothing": (lambda d: d.update(neuroloom=None), "format should be a whole number"),
    "format of zero": (lambda d: d.update(neuroloom=0), "no format 0"),
    "format true": (lambda d: d.update(neuroloom=True), "format should be a whole number"),
    "no mark": (lambda d: d.pop("neuroloom"), "not a Neuroloom project"),
    "no nodes": (lambda d: d.pop("nodes"), 'has no "nodes"'),
    "nodes as object": (lambda d: d.update(nodes={}), '"nodes" should be a list, not an object'),
    "links as text": (lambda d: d.update(links="n1"), '"links" should be a list, not text'),
    "title as number": (lambda d: d.update(title=7), '"title" should be text, not a number'),
    "counter as text": (lambda d: d.update(next_id="7"), '"next_id" should be a whole number, not text'),
    "counter as fraction": (lambda d: d.update(next_id=7.5), '"next_id" should be a whole number'),
    "node as list": (lambda d: d["nodes"].append([]), "node number 4 should be an object, not a list"),
    "node without id": (lambda d: d["nodes"][0].pop("id"), 'node number 1 has no "id"'),
    "node without type": (lambda d: d["nodes"][0].pop("type"), 'node "n1" has no "type"'),
    "odd id": (lambda d: d["nodes"][0].update(id="__class__"), 'an id is "n" and a number, not "__class__"'),
    "long id": (lambda d: d["nodes"][0].update(id="n" + "9" * 5000), 'an id is "n" and a number'),
    "id of other digits": (lambda d: d["nodes"][0].update(id="n٣"), 'an id is "n" and a number'),
    "id as number": (lambda d: d["nodes"][0].update(id=1), '"id" should be text'),
    "two ids": (lambda d: d["nodes"].append(d["nodes"][0]), 'two nodes with the id "n1"'),
    "name as list": (lambda d: d["nodes"][0].update(name=[]), 'node "n1": "name" should be text, not a list'),
    "params as list": (lambda d: d["nodes"][0].update(params=[]), '"params" should be an object'),
    "param as object": (lambda d: d["nodes"][0].update(params={"a": {}}), "not an object"),
    "param too deep": (
        lambda d: d["nodes"][0].update(params={"a": json.loads("[" * 40 + "]" * 40)}),
        "nested more than",
    ),
    "position of three": (
        lambda d: d["nodes"][0].update(position=[1, 2, 3]),
        '"position" should be two numbers',
    ),
    "position as text": (
        lambda d: d["nodes"][0].update(position=["1", "2"]),
        '"position" should be two numbers',
    ),
    "position far away": (lambda d: d["nodes"][0].update(position=[1e200, 0]), "cannot be placed"),
    "position of 400 digits": (lambda d: d["nodes"][0].update(position=[10**400, 0]), "two numbers"),
    "link of three": (lambda d: d["links"].append(["n1", "n2", "x"]), "link number 4 should be four texts"),
    "link as object": (lambda d: d["links"].append({}), "link number 4 should be four texts"),
    "link of numbers": (lambda d: d["links"].append([1, 2, 3, 4]), "link number 4 should be four texts"),
    "link to nowhere": (lambda d: d["links"].append(["n1", "a", "n77", "b"]), '"n77" that does not exist'),
    "link from nowhere": (lambda d: d["links"].append(["n77", "a", "n1", "b"]), '"n77" that does not exist'),
    "link to itself": (lambda d: d["links"].append(["n1", "a", "n1", "b"]), "cannot feed itself"),
    "link twice": (lambda d: d["links"].append(d["links"][0]), "already fed"),
    "two links in one port": (lambda d: d["links"].append(["n1", "digit", "n2", "x"]), "already fed"),
    "cycle": (lambda d: d["links"].append(LINK), "links form a cycle: n1 → n2 → n1"),
    "plan as list": (lambda d: d.update(plan=[]), "the plan should be an object"),
    "plan without phases": (lambda d: d.update(plan={"phases": []}), "at least one phase"),
    "batch of none": (lambda d: d["plan"].update(batch=-1), "batch size is at least 0, not -1"),
    "batch as text": (lambda d: d["plan"].update(batch="64"), '"batch" should be a whole number, not text'),
    "seed below zero": (lambda d: d["plan"].update(seed=-1), "seed is at least 0"),
    "seed too large": (lambda d: d["plan"].update(seed=2**64), "seed is at most"),
    "no epochs": (lambda d: d["plan"]["phases"][0]["stop"].update(epochs=0), "epochs is at least 1"),
    "no objective": (lambda d: d["plan"]["phases"][0].update(objectives=[]), "at least one objective"),
    "unknown objective": (
        lambda d: d["plan"]["phases"][0].update(objectives=[{"guess": "n1"}]),
        'phase 1 of the plan, objective 1, has no "minimise"',
    ),
    "optimiser as text": (
        lambda d: d["plan"]["phases"][0]["objectives"][0].update(optimiser="Adam"),
        "optimiser, should be an object, not text",
    ),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_broken_project_is_refused_with_one_clear_sentence(flaw: str, tmp_path: Path) -> None:
    damage, sentence = FLAWS[flaw]
    raw = data()
    damage(raw)
    path = tmp_path / "broken.nloom"
    path.write_text(json.dumps(raw), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(ProjectFileError, match=sentence) as caught:
        load_project(path)
    message = caught.value.message
    assert message.startswith('"broken.nloom" cannot be opened: ')
    assert len(message) < 250 and "\n" not in message and message.endswith(".")
    assert path.read_bytes() == before


WHOLE = to_text(example())
TEXTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it is empty"),
    "spaces": (b" \n\n ", "it is empty"),
    "half": (WHOLE[: len(WHOLE) // 2].encode(), "breaks off in line"),
    "all but the end": (WHOLE[:-3].encode(), "breaks off in line"),
    "in a text": (WHOLE[: WHOLE.index("An exam") + 3].encode(), "breaks off in line 3"),
    "binary": (bytes(range(256)), "not text in UTF-8"),
    "pickle": (b"\x80\x04\x95cposix\nsystem\n", "not text in UTF-8"),
    "zeros": (bytes(4096), "line 1, column 1 is not valid JSON"),
    "UTF-16": (WHOLE.encode("utf-16"), "not text in UTF-8"),
    "Python": (b"import os; os.system('id')", "line 1, column 1 is not valid JSON"),
    "a list": (b"[1, 2, 3]", "not a Neuroloom project"),
    "null": (b"null", "not a Neuroloom project"),
    "more behind it": (WHOLE.encode() * 2, "line 18, column 1 is not valid JSON"),
    "a trailing comma": (WHOLE.replace("]\n}", "],\n}").encode(), "not valid JSON"),
    "deep lists": (b'{"neuroloom": 1, "nodes": ' + b"[" * 200_000, "nested too deeply"),
    "deep objects": (b'{"neuroloom": 1, "x": ' + b'{"a":' * 200_000, "nested too deeply"),
    "NaN": (b'{"neuroloom": 1, "nodes": [], "x": NaN}', "it has NaN in it"),
    "infinity": (b'{"neuroloom": 1, "nodes": [], "x": -Infinity}', "it has -Infinity in it"),
    "1e400": (b'{"neuroloom": 1, "nodes": [], "x": 1e400}', "the number 1e400, which is too large"),
    "5000 digits": (b'{"neuroloom": 1, "nodes": [], "x": ' + b"9" * 5000 + b"}", "number that is too long"),
    "a field twice": (b'{"neuroloom": 1, "nodes": [], "nodes": []}', 'the field "nodes" twice'),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_that_is_no_project_is_refused_with_one_clear_sentence(kind: str, tmp_path: Path) -> None:
    content, sentence = TEXTS[kind]
    path = tmp_path / "broken.nloom"
    path.write_bytes(content)
    with pytest.raises(ProjectFileError, match=sentence) as caught:
        load_project(path)
    assert caught.value.message.startswith('"broken.nloom" cannot be opened: ')
    assert len(caught.value.message) < 250
    assert path.read_bytes() == content


def test_a_file_cut_off_anywhere_never_opens_as_a_smaller_project() -> None:
    for end in range(len(WHOLE) - 2):
        with pytest.raises(ProjectFileError):
            from_text(WHOLE[:end])


def test_a_file_with_random_bytes_changed_opens_equal_or_not_at_all_but_never_crashes(tmp_path: Path) -> None:
    rng, content = random.Random(0), WHOLE.encode()
    path = tmp_path / "noise.nloom"
    read = 0
    for _ in range(300):
        noisy = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            noisy[rng.randrange(len(noisy))] = rng.randrange(256)
        path.write_bytes(noisy)
        try:
            project = load_project(path)
        except ProjectFileError:
            continue
        assert from_text(to_text(project)) == project
        read += 1
    assert 0 < read < 300


def test_a_very_long_text_is_read_and_a_far_too_large_file_is_not(tmp_path: Path) -> None:
    project = Project(notes="word " * 1_000_000)
    assert from_text(to_text(project)) == project
    path = tmp_path / "huge.nloom"
    with open(path, "wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ProjectFileError, match="larger than 64 MB"):
        load_project(path)


def test_a_missing_file_a_folder_and_a_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectFileError, match=r'"gone\.nloom" cannot be opened: no such file'):
        load_project(tmp_path / "gone.nloom")
    with pytest.raises(ProjectFileError, match="is a directory"):
        load_project(tmp_path)
    with pytest.raises(ProjectFileError, match="null"):
        load_project("bad\x00name")
    if os.path.exists("/dev/zero"):
        with pytest.raises(ProjectFileError, match="not an ordinary file"):
            load_project("/dev/zero")


def test_the_error_names_the_node() -> None:
    raw = data()
    raw["nodes"][1]["params"] = {"kernel": {}}
    with pytest.raises(ProjectFileError) as caught:
        from_text(json.dumps(raw), "net.nloom")
    assert caught.value.node_id == "n2"


# -- saving (case E-13)


def test_saving_where_it_cannot_be_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ProjectFileError, match=r'"net\.nloom" cannot be saved: no such file'):
        save_project(example(), tmp_path / "gone" / "net.nloom")
    (tmp_path / "folder.nloom").mkdir()
    with pytest.raises(ProjectFileError, match="cannot be saved"):
        save_project(example(), tmp_path / "folder.nloom")
    assert os.listdir(tmp_path) == ["folder.nloom"]


def test_a_failed_write_keeps_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.nloom"
    save_project(example(), path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ProjectFileError, match="no space left on device"):
        save_project(Project(), path)
    monkeypatch.undo()
    assert load_project(path) == example()
    assert os.listdir(tmp_path) == ["net.nloom"]


@pytest.mark.skipif(os.name != "posix", reason="no locks on files that are written elsewhere")
def test_what_a_killed_save_has_left_is_swept_and_what_is_being_written_stays(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from engine.document import files\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "files.write_atomically(Path(sys.argv[1]), b'new')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "net.nloom")], check=False)
    (left,) = tmp_path.iterdir()
    writing = hold(tmp_path / f".other{TEMPORARY}")
    assert writing is not None
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    save_project(Project(), tmp_path / "net.nloom")
    assert sorted(os.listdir(tmp_path)) == [f".other{TEMPORARY}", "net.nloom"] and not left.exists()
    writing.close()


@pytest.mark.skipif(os.name != "posix", reason="links and modes as POSIX has them")
def test_saving_keeps_a_symbolic_link_and_the_file_mode(tmp_path: Path) -> None:
    real, link = tmp_path / "real.nloom", tmp_path / "link.nloom"
    save_project(Project(), real)
    real.chmod(0o640)
    link.symlink_to(real)
    save_project(example(), link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert load_project(real) == example()


KILLED = """
import itertools, sys
from engine.document.files import save_project, to_text
from engine.document.graph import Graph, Node, Project
for turn in itertools.count():
    save_project(Project(f"turn {turn}", "x" * (turn % 7) * 300_000), sys.argv[1])
    if turn == 0:
        print("ready", flush=True)
"""


def test_a_kill_at_any_moment_of_saving_leaves_an_old_or_a_new_file_whole(tmp_path: Path) -> None:
    rng, path = random.Random(7), tmp_path / "net.nloom"
    for _ in range(int(os.environ.get("NEUROLOOM_KILLS", "4"))):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.wait()
        process.stdout.close()
        project = load_project(path)
        turn = int(project.title.removeprefix("turn "))
        assert project == Project(f"turn {turn}", "x" * (turn % 7) * 300_000)


def test_a_large_project_is_as_its_parts() -> None:
    """Ten thousand nodes go through text and back; growth shows as a hang here long before a user sees it."""
    nodes = [Node(f"n{i}", "Linear", f"layer {i}", {"units": i}, (i * 1.0, 0.0)) for i in range(1, 10_001)]
    links = [Link(a.id, "output", b.id, "x") for a, b in itertools.pairwise(nodes)]
    project = Project(graph=Graph(nodes, links), next_id=10_001)
    assert from_text(to_text(project)) == project
    assert replace(project, title="Other") != project


def test_the_documented_example_is_a_file_as_it_is_saved() -> None:
    page = (Path(__file__).parents[3] / "docs" / "project-file.md").read_text(encoding="utf-8")
    text = page.split("```json\n")[1].split("```")[0]
    assert to_text(from_text(text)) == text
