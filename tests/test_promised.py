"""What the page "What is promised" says of versions, stored files and seeds.

A run that the first release has stored stays here as it was. Where a change makes its numbers
others, the change belongs in a minor version and into the changelog.
"""

import base64
import json
import re
import zlib

import numpy as np
import pytest

from experiments import stages
from simulator import PureDP, Result, simulate
from simulator.adversaries import make
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput
from simulator.runner.store import RunStore

FAMILY, ROUNDS, TRIALS, SEED = PureDP(0.25), 6, 16, 7
TASK = 5611123182439494384
MANIFEST = {
    "id": "65284cf94eb0d5517637d4a743419e906f8627759f38107310c5c1e6b30b2c58",
    "specification": {
        "adversary": "press-when-ahead",
        "block_size": 65536,
        "code": {
            "adversary": "#8a8bd4fd788361300d555fe35334a772",
            "family": "#6bfe513d0575da7b31ab066489beed00",
            "filter": "NoneType None",
            "relation": "#5ed48c5cd9be276cfe19037e06fb3e75",
            "sampling": "NoneType None",
        },
        "family": "pure:0.25",
        "filter": "None",
        "fingerprint_format": 3,
        "not_covered": [],
        "relation": "add/remove-one",
        "rounds": 6,
        "sampling": "None",
        "seed": 7,
        "trace": False,
    },
    "goal": {"trials": 16, "keep_views": 0},
    "sessions": [{"versions": {"python": "3.11.7", "dpcompose": "0.1.0", "numpy": "2.4.6"}}],
}
LOG = zlib.decompress(base64.b85decode(
    "c-l)TNY2kK$S+P+NXp4i&Q{3DPggKfFf%o>FiB3cG)YY|NHH}vG&eIgPcca}H!(Ibv`n=$FiW#AGcq?fwM;X%Ff="
    "eXHZ({!O*Tw5OENY{GD<eJ;9_v{@qW($0qe4+>u(5o^`lxTv8X7qvRKI~I$9|wzqmNHSV>38Ce1=gC)&^~Ha1pA3"
    "G4<XD+3*+)QW=CqRiaXyb>@sH?<^D$*Q_mN2#bZPsvJ&kOP%!xuCW)aAz%Ldv@W8J%slFO260-p%2)*%$;sNf6pC"
    "z7#~#~T;G0F`UM(&07_r5pQpOQV-d?Gd*mQkpexDzAkpF%*+F1PK@ePkdf~=?jik-4<thj5QJwr^zuAMdvmB2;?6"
    "-a^r<%3?radmNp#}j={K<aQpt@ntG_z~_!OO4q0{{_oq7M"
))  # fmt: skip
DRAWN = {
    0: (0.0, 0.65050031, 0.5, -0.75, 0.125, 0.44901257, 0.125, 0.5, 0.625, -0.5, -0.5, -0.75),
    1: (0.25, -0.375, 0.13392535, -0.125, -0.75, -1.05518418, 0.40133146, -0.75, -0.125, 0.25),
}
"""The first losses of both experiments, from the first release."""
PAGE = stages.ROOT / "experiments/site/pages/howto/promised.md"


def adversary():
    return make("press-when-ahead", FAMILY, ROUNDS)


def as_first_drawn(result):
    for b, losses in DRAWN.items():
        # the last bits of a logarithm differ between processors
        np.testing.assert_allclose(result.known(b).least[: len(losses)], losses, atol=1e-8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "specification.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "blocks.log").write_bytes(LOG)
    return tmp_path


def test_a_run_of_the_first_release_is_read_and_left_as_it_was(folder):
    result = Result.load(folder)
    as_first_drawn(result)
    assert result.specification.trials == TRIALS
    assert result.tail(0.5).hits == 2
    assert (folder / "blocks.log").read_bytes() == LOG


def test_a_seed_draws_what_it_drew_in_the_first_release():
    s = Specification(adversary(), FAMILY, ROUNDS, TRIALS, seed=SEED)
    assert (s.task, s.block_size) == (TASK, 65536)
    as_first_drawn(simulate(adversary(), FAMILY, ROUNDS, TRIALS, seed=SEED, jobs=1, progress=False))


def test_more_trials_begin_with_those_of_fewer():
    more = simulate(adversary(), FAMILY, ROUNDS, 500, seed=SEED, jobs=1, progress=False)
    as_first_drawn(more)


def test_a_log_of_a_newer_version_is_refused_in_one_line_and_left_alone(folder):
    newer = LOG.replace(b"block log 2", b"block log 3", 1)[:100]
    (folder / "blocks.log").write_bytes(newer)
    for attempt in (Result.load, RunStore.load):
        with pytest.raises(InvalidInput, match="not a block log of this version") as refusal:
            attempt(folder)
        assert "\n" not in str(refusal.value)
    assert (folder / "blocks.log").read_bytes() == newer


def test_the_pythons_of_the_page_are_those_of_the_metadata():
    metadata = (stages.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', metadata)
    assert f'requires-python = ">={listed[0]}"' in metadata
    assert f"CPython {listed[0]} to {listed[-1]}" in PAGE.read_text(encoding="utf-8")
    assert len(listed) == int(listed[-1][2:]) - int(listed[0][2:]) + 1


def test_a_release_has_one_date():
    changelog, citation = (
        (stages.ROOT / name).read_text(encoding="utf-8")
        for name in ("CHANGELOG.md", "CITATION.cff")
    )
    version, date = re.search(r"^## (\S+) \((\S+)\)$", changelog, re.MULTILINE).groups()
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation
