"""One small run, its parts, and merges of them that must be refused."""

import shutil

import pytest

from simulator import PureDP, simulate
from simulator.errors import InvalidInput
from simulator.runner import merge_folders, simulate_part
from simulator.runner.store import RunStore
from simulator.runner.store.manifest import read_manifest
from tests.helpers.games import press_when_ahead

WIDE = PureDP(0.9)
SETTINGS = {"seed": 5, "block_size": 8, "trace": True, "keep_views": 11}
BLOCKS = 13


def play(**others):
    settings = {"adversary": press_when_ahead, "rounds": 20, "trials": 100, "jobs": 1}
    return simulate(family=WIDE, **(settings | SETTINGS | others))


def play_part(part, out, **others):
    settings = {"adversary": press_when_ahead, "rounds": 20, "trials": 100, "jobs": 1}
    return simulate_part(family=WIDE, part=part, out=out, **(settings | SETTINGS | others))


def contents(*folders):
    return {path: path.read_bytes() for folder in folders for path in sorted(folder.iterdir())}


def refused(folders, out, match, **others):
    """Merge what must not be merged: one line, nothing written, nothing changed."""
    before = contents(*folders)
    around = sorted(path.name for path in out.parent.iterdir())
    with pytest.raises(InvalidInput, match=match) as refusal:
        merge_folders(folders, out, **others)
    assert "\n" not in str(refusal.value)
    assert contents(*folders) == before
    assert sorted(path.name for path in out.parent.iterdir()) == around


def forge(folder, identity_of, least=0):
    """Give a folder's blocks from ``least`` on the identity of another run, as a fault would."""
    other = read_manifest(identity_of)
    with RunStore.load(folder) as store:
        records = list(store.read())
    shutil.rmtree(folder)
    with RunStore.open(folder, other.content, other.goal) as forged:
        for each in records:
            if each.block >= least:
                where = each.experiment, each.block
                forged.append(*where, each.arrays, blocks=each.blocks, adds=each.adds)
