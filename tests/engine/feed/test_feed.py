import threading

import numpy as np

from engine.feed.feed import Feed, Probe, Snapshot


def test_points_come_back_as_they_went_in() -> None:
    feed = Feed()
    for step in range(1, 10_001):
        feed.append("train_loss", step, step / 100, step * 0.5, 1 / step)
    rows = feed.read("train_loss")
    assert len(rows) == 10_000
    assert rows[-1].tolist() == (10_000, 100.0, 5000.0, 1e-4)
    assert feed.read("train_loss", 9_998)["step"].tolist() == [9_999, 10_000]
    assert feed.series() == ("train_loss",)
    assert feed.last("train_loss") == 1e-4
    assert feed.last("val_loss") is None and not len(feed.read("val_loss"))


def test_what_was_read_does_not_change() -> None:
    feed = Feed()
    feed.append("a", 1, 0, 0, 1.0)
    rows = feed.read("a")
    feed.append("a", 2, 0, 0, 2.0)
    assert rows["value"].tolist() == [1.0]


def test_every_change_raises_the_version() -> None:
    feed, seen = Feed(), []
    changes = (
        lambda: feed.append("a", 1, 0, 0, 1.0),
        lambda: feed.put(Probe("n1", "filters"), Snapshot(0, 1, np.zeros(1))),
        lambda: feed.note("info", "hello"),
        feed.touch,
        feed.clear,
    )
    for change in changes:
        before = feed.version
        change()
        seen.append(feed.version > before)
    assert all(seen)


def test_only_the_latest_snapshot_is_kept_and_a_probe_is_a_plain_key() -> None:
    feed = Feed()
    for step in (1, 2):
        feed.put(("n1", "filters", ()), Snapshot(5, step, np.zeros(1)))
    found = feed.latest(Probe("n1", "filters"))
    assert found is not None and found.step == 2
    feed.forget_views()
    assert feed.latest(("n1", "filters")) is None


def test_clearing_begins_a_new_generation_without_the_old_points() -> None:
    feed = Feed()
    feed.append("a", 1, 0, 0, 1.0)
    feed.note("info", "hello", "n3", 4)
    generation = feed.generation
    feed.clear()
    assert feed.generation == generation + 1
    assert feed.series() == () and feed.events == []


def test_a_reader_beside_the_writer_sees_whole_points_in_order() -> None:
    feed, wrong, done = Feed(), [], threading.Event()

    def read() -> None:
        while not done.is_set():
            rows = feed.read("a")
            if (
                not np.array_equal(rows["step"], np.arange(len(rows)))
                or (rows["value"] != rows["step"]).any()
            ):
                wrong.append(len(rows))

    reader = threading.Thread(target=read)
    reader.start()
    for step in range(50_000):
        feed.append("a", step, 0.0, 0.0, float(step))
    done.set()
    reader.join()
    assert not wrong
