"""The page for authors of libraries: its programs run without this package, and admit no more."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from experiments.stages import ROOT
from simulator.theory import ResidueFilter
from simulator.worst import certified_filter
from simulator.worst.filters.admitted import most_rounds, published_rounds, rounds_admitted
from simulator.worst.filters.certificate_format import digest_of
from simulator.worst.filters.schedules import planned_rounds

PAGE = (ROOT / "experiments/site/pages/howto/deploy.md").read_text("utf-8")
RESIDUE, TABLE = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def printed(program, folder):
    """What a program prints in a process without site-packages, and with no package beside it."""
    alone = [sys.executable, "-I", "-S"]
    for name in ("simulator", "numpy"):
        tried = subprocess.run([*alone, "-c", f"import {name}"], cwd=folder, capture_output=True)
        assert b"ModuleNotFoundError" in tried.stderr
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run([*alone, path], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def lines_of_code(program):
    return [line for line in program.splitlines() if line.strip() and "import" not in line]


@pytest.mark.parametrize(("promise", "epsilon"), [((1.0, 1e-6), 0.02), ((2.0, 1e-5), 0.05)])
def test_the_residue_program_admits_what_the_filter_does(tmp_path, promise, epsilon):
    program = RESIDUE.replace("1.0, 1e-6 ", f"{promise[0]}, {promise[1]} ")
    program = program.replace("0.02)", f"{epsilon})")
    found = int(printed(program, tmp_path))
    own = rounds_admitted(ResidueFilter(*promise, basic=False), epsilon)
    assert own - 1 <= found <= own
    if epsilon == 0.02:
        assert f"# {found}; the best published filter" in RESIDUE
        assert f"admits {max(published_rounds(promise, epsilon).values())}" in RESIDUE


def test_what_the_page_says_of_the_residue_filter():
    assert f"{rounds_admitted(ResidueFilter(1.0, 1e-6), 0.002):,} of" in PAGE
    assert f"{most_rounds((1.0, 1e-6), 0.002):,} rounds that any sound" in PAGE
    assert rounds_admitted(ResidueFilter(1.0, 1e-9, basic=False), 1 / 20) == 12


def test_the_table_program_admits_what_the_certificate_does(tmp_path):
    assert len(lines_of_code(TABLE)) <= 20
    filter_ = certified_filter("pure:0.5", 1.0, 1e-6, plan="pure:0.02")
    filter_.save(tmp_path / "filter.json")
    program = TABLE.replace("DIGEST", filter_.verify().certificate.digest)
    for size in (0.02, 0.004, 0.1, 0.6):
        found = int(printed(program.replace("0.02", str(size)), tmp_path))
        assert found == planned_rounds(replace(filter_, basic=False), "pure", size)
        assert size != 0.02 or f"# {found}, the most" in TABLE
    own = filter_.certificate()
    for changed in ({"rows": 999}, {"moves": [m | {"falls": [[1, 1]]} for m in own["moves"]]}):
        for digest in (own["digest"], digest_of(own | changed)):
            document = own | changed | {"digest": digest}
            (tmp_path / "filter.json").write_text(json.dumps(document))
            with pytest.raises(subprocess.CalledProcessError) as refused:
                printed(program, tmp_path)
            assert refused.value.stderr == "filter.json is not the certificate that was verified\n"
