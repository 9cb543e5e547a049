import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator.foundations.errors import InvalidInput
from simulator.runner.store import RunStore, provenance, specification_id, write_json
from simulator.runner.store.log import OPENING_SIZE, opening
from simulator.runner.store.manifest import record_session

SPECIFICATION = {"adversary": "press_when_ahead", "rounds": 100, "family": {"pure": 0.2}}


def arrays(block):
    return {
        "counts": np.arange(block, block + 4, dtype=np.int64),
        "moments": np.array([[0.1 * block, np.inf], [np.nan, 1e-300]]),
        "empty": np.zeros((0, 3)),
    }


def filled(folder, blocks=4):
    with RunStore.open(folder, SPECIFICATION) as store:
        for block in range(blocks):
            store.append(block % 2, block, arrays(block), {"seconds": 0.25, "block": block})
    return folder / "blocks.log"


def test_blocks_come_back_as_they_went_in_ordered_by_experiment_and_block(tmp_path):
    with RunStore.open(tmp_path / "run", SPECIFICATION) as store:
        for experiment, block in [(1, 0), (0, 2), (0, 0)]:
            store.append(experiment, block, arrays(block), {"seconds": 0.5})
    store = RunStore.load(tmp_path / "run")
    assert store.dropped == ""
    assert store.specification() == SPECIFICATION
    assert store.done() == {(0, 0), (0, 2), (1, 0)}
    read = list(store.read())
    assert [(each.experiment, each.block) for each in read] == [(0, 0), (0, 2), (1, 0)]
    for each in read:
        assert each.meta == {"seconds": 0.5}
        assert list(each.arrays) == ["counts", "moments", "empty"]
        for name, array in arrays(each.block).items():
            assert each.arrays[name].dtype == array.dtype
            np.testing.assert_array_equal(each.arrays[name], array)


def test_a_run_is_resumed_where_it_stopped(tmp_path):
    filled(tmp_path, blocks=2)
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        assert store.done() == {(0, 0), (1, 1)}
        assert len(list(store.read())) == 2
        store.append(0, 2, arrays(2))
    assert RunStore.load(tmp_path).done() == {(0, 0), (1, 1), (0, 2)}


def test_a_block_is_not_stored_twice_and_a_loaded_run_is_not_written(tmp_path):
    filled(tmp_path, blocks=1)
    with (
        RunStore.open(tmp_path, SPECIFICATION) as store,
        pytest.raises(InvalidInput, match="already"),
    ):
        store.append(0, 0, arrays(0))
    with pytest.raises(InvalidInput, match="cannot be written to"):
        RunStore.load(tmp_path).append(0, 1, arrays(1))


def test_contents_that_are_no_numbers_are_refused_and_leave_no_trace(tmp_path):
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        with pytest.raises(InvalidInput, match="'odd' holds objects"):
            store.append(0, 0, {"odd": np.array([object()])})
        with pytest.raises(InvalidInput, match="meta cannot be written"):
            store.append(0, 0, {}, {"loss": float("nan")})
        assert store.done() == set()
    assert (tmp_path / "blocks.log").read_bytes() == opening(specification_id(SPECIFICATION))


# --- identity and provenance --------------------------------------------------------------------


def test_identity_is_what_is_asked_and_nothing_else():
    reordered = dict(reversed(SPECIFICATION.items()))
    assert specification_id(reordered) == specification_id(SPECIFICATION)
    assert specification_id(SPECIFICATION | {"rounds": 101}) != specification_id(SPECIFICATION)
    # printf '{"a":0.1,"b":["x",null]}' | sha256sum
    expected = "f76a5af77f6995f2ea386d0e2555ac9e4b735b6217e3f0039f023aace016ed00"
    assert specification_id({"b": ("x", None), "a": 0.1}) == expected
    with pytest.raises(InvalidInput, match="JSON"):
        specification_id({"epsilon": float("nan")})
    with pytest.raises(InvalidInput, match="JSON"):
        specification_id({"adversary": object()})


def test_another_specification_is_refused_by_the_keys_that_differ_and_nothing_changes(tmp_path):
    filled(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    other = {"adversary": "press_when_ahead", "family": {"pure": 0.1}, "seed": 7, "rounds": 100}
    with pytest.raises(InvalidInput) as caught:
        RunStore.open(tmp_path, other)
    message = str(caught.value)
    assert "family.pure: 0.2 there, 0.1 here" in message
    assert "seed: nothing there, 7 here" in message
    assert "rounds" not in message
    assert "\n" not in message
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", ["", "{}", '{"id": "x", "specification": {}, "sessions": []}'])
def test_a_specification_that_is_not_ours_is_refused(tmp_path, content):
    (tmp_path / "specification.json").write_text(content)
    with pytest.raises(InvalidInput, match="name another folder"):
        RunStore.open(tmp_path, SPECIFICATION)


def test_blocks_without_a_specification_are_refused(tmp_path):
    filled(tmp_path)
    (tmp_path / "specification.json").unlink()
    with pytest.raises(InvalidInput, match=r"blocks but no specification\.json"):
        RunStore.open(tmp_path, SPECIFICATION)


def test_somebody_elses_file_is_left_alone(tmp_path):
    filled(tmp_path)
    (tmp_path / "blocks.log").write_text("what I did today")
    with pytest.raises(InvalidInput, match="not a block log"):
        RunStore.open(tmp_path, SPECIFICATION)
    assert (tmp_path / "blocks.log").read_text() == "what I did today"


def test_the_revision_is_that_of_the_checkout_of_the_package():
    top = Path(simulator.__file__).parents[1]
    if not (top / ".git").exists():
        pytest.skip("the package does not run from a checkout")
    head = subprocess.run(
        ["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert str(provenance()["revision"]).removesuffix("+changes") == head.stdout.strip()


@pytest.mark.parametrize(
    ("changes", "revision"), [("", "abc"), (" M simulator/roots.py", "abc+changes"), (None, None)]
)
def test_the_revision_says_whether_files_of_the_package_were_changed(
    changes, revision, monkeypatch
):
    def git(command, seconds):
        if changes is None:
            raise OSError("no git here")
        top = str(Path(simulator.__file__).parents[1])
        return {"--show-toplevel": top, "HEAD": "abc"}.get(command[-1], changes)

    monkeypatch.setattr(sys.modules[provenance.__module__], "printed", git)
    assert provenance()["revision"] == revision


def test_provenance_tells_versions_revision_machine_and_time():
    made = provenance()
    assert made["versions"]["numpy"] == np.__version__
    assert set(made) == {"versions", "revision", "machine", "hash_seed", "time"}
    assert json.loads(json.dumps(made)) == made


def test_a_session_on_the_same_setting_is_not_written_down_twice(tmp_path, monkeypatch):
    filled(tmp_path)
    filled_again = RunStore.open(tmp_path, SPECIFICATION)
    assert len(filled_again.sessions()) == 1
    filled_again.close()
    elsewhere = provenance() | {"revision": "0000000"}
    monkeypatch.setattr("simulator.runner.store.manifest.provenance", lambda: elsewhere)
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        assert store.sessions()[1] == elsewhere


# --- damage -------------------------------------------------------------------------------------


def boundaries(log):
    """Find where each record ends by storing them one at a time in a second run."""
    sizes = []
    with RunStore.open(log.parent / "ruler", SPECIFICATION) as store:
        for block in range(4):
            store.append(block % 2, block, arrays(block), {"seconds": 0.25, "block": block})
            sizes.append((log.parent / "ruler" / "blocks.log").stat().st_size)
    return sizes


def test_a_log_cut_anywhere_keeps_every_whole_block_and_can_be_continued(tmp_path):
    log = filled(tmp_path)
    whole, ends = log.read_bytes(), boundaries(log)
    assert ends[-1] == len(whole)
    for size in range(0, len(whole), 7):
        log.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends)
        store = RunStore.load(tmp_path)
        assert store.done() == {(block % 2, block) for block in range(kept)}
        assert bool(store.dropped) == (size not in {0, OPENING_SIZE, *ends})
        store.close()
    log.write_bytes(whole[:-1])
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        assert "kept 3 whole blocks" in store.dropped
        store.append(1, 3, arrays(3), {"seconds": 0.25, "block": 3})
    assert log.read_bytes() == whole


def test_one_damaged_byte_costs_at_most_the_block_that_holds_it(tmp_path):
    log = filled(tmp_path)
    whole, ends = log.read_bytes(), boundaries(log)
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        log.write_bytes(damaged)
        hit = sum(end <= place for end in ends) if place >= OPENING_SIZE else None
        store = RunStore.load(tmp_path)
        assert store.done() == {(block % 2, block) for block in range(4) if block != hit}
        assert store.dropped
        for each in store.read():
            np.testing.assert_array_equal(each.arrays["moments"], arrays(each.block)["moments"])
        store.close()


def test_a_block_lost_in_the_middle_can_be_stored_again(tmp_path):
    log = filled(tmp_path)
    damaged = bytearray(log.read_bytes())
    damaged[boundaries(log)[0] + 40] ^= 0xFF
    log.write_bytes(damaged)
    with RunStore.open(tmp_path, SPECIFICATION) as store:
        assert (1, 1) not in store.done()
        store.append(1, 1, arrays(1))
    assert RunStore.load(tmp_path).done() == {(block % 2, block) for block in range(4)}


def test_a_record_inside_an_array_is_not_taken_for_a_block(tmp_path):
    inner = filled(tmp_path / "inner", blocks=1).read_bytes()
    with RunStore.open(tmp_path / "outer", SPECIFICATION) as store:
        store.append(0, 5, {"bytes": np.frombuffer(inner, dtype=np.uint8)})
    assert RunStore.load(tmp_path / "outer").done() == {(0, 5)}


# --- the world outside --------------------------------------------------------------------------


def test_two_runs_do_not_write_one_folder(tmp_path):
    with (
        RunStore.open(tmp_path, SPECIFICATION),
        pytest.raises(InvalidInput, match="another process"),
    ):
        RunStore.open(tmp_path, SPECIFICATION)
    RunStore.open(tmp_path, SPECIFICATION).close()


WRITER = """
import sys, numpy as np
from simulator.runner.store import RunStore
store = RunStore.open(sys.argv[1], {"rounds": 1})
for block in range(10**6):
    store.append(0, block, {"losses": np.full(1000, float(block))})
    print(block, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_had_stored(tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE)
    stored = [int(writer.stdout.readline()) for _ in range(5)][-1]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with RunStore.open(tmp_path, {"rounds": 1}) as store:
        assert store.done() >= {(0, block) for block in range(stored + 1)}
        assert all(np.all(each.arrays["losses"] == each.block) for each in store.read())


LIMITED = """
import resource, sys, numpy as np
from simulator.foundations.errors import InvalidInput
from simulator.runner.store import RunStore
store = RunStore.open(sys.argv[1], {"rounds": 1})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    for block in range(100):
        store.append(0, block, {"losses": np.zeros(1000)})
except InvalidInput as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append(0, 2, {"losses": np.ones(1000)})
"""


def test_a_full_disk_is_one_line_and_keeps_what_was_stored(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"cannot append to {tmp_path}/blocks.log: File too large\n"
    store = RunStore.load(tmp_path)
    assert store.done() == {(0, 0), (0, 1), (0, 2)}
    assert store.dropped == ""


def test_a_folder_that_moves_while_it_is_written_ends_the_run_and_keeps_its_blocks(tmp_path):
    run, moved = tmp_path / "run", tmp_path / "moved"
    with RunStore.open(run, SPECIFICATION) as store:
        store.append(0, 0, {"losses": np.zeros(3)})
        run.rename(moved)
        with pytest.raises(InvalidInput, match="was moved, removed or replaced during the run"):
            store.append(0, 1, {"losses": np.zeros(3)})
    with RunStore.open(moved, SPECIFICATION) as store:
        assert store.done() == {(0, 0), (0, 1)}
        shutil.rmtree(moved)
        with pytest.raises(InvalidInput, match="was moved, removed or replaced"):
            store.append(0, 2, {"losses": np.zeros(3)})


def test_a_folder_that_moves_before_its_specification_is_written_is_not_split(
    tmp_path, monkeypatch
):
    run, moved = tmp_path / "run", tmp_path / "moved"

    def move_first(folder, wanted):
        run.rename(moved)
        record_session(folder, wanted)

    monkeypatch.setattr(simulator.runner.store.folder, "record_session", move_first)
    with pytest.raises(InvalidInput, match="was moved, removed or replaced"):
        RunStore.open(run, SPECIFICATION)
    assert not run.exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=r"cannot create .*: "):
        RunStore.open(tmp_path / "file" / "run", SPECIFICATION)
    with pytest.raises(InvalidInput, match=r"cannot create .*: File exists"):
        RunStore.open(tmp_path / "file", SPECIFICATION)
    with pytest.raises(InvalidInput, match=r"cannot read .*specification\.json: No such file"):
        RunStore.load(tmp_path / "nowhere")


def test_a_link_that_leads_nowhere_is_named_as_such(tmp_path):
    (tmp_path / "run").symlink_to("gone")
    with pytest.raises(InvalidInput, match=r"run is a link to 'gone', which is not there; make"):
        RunStore.open(tmp_path / "run", SPECIFICATION)


def test_json_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "result.json"
    write_json(path, {"δ": np.float64(1e-30), "k": np.arange(2)})
    assert json.loads(path.read_text(encoding="utf-8")) == {"δ": 1e-30, "k": [0, 1]}
    before = path.read_bytes()
    for bad in ({"a": float("inf")}, {"a": object()}):
        with pytest.raises(InvalidInput, match="cannot write"):
            write_json(path, bad)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["result.json"]
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
