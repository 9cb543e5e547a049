"""What installed accountants say, each in a process of its own; and those that are not there."""

import math

import pytest

from simulator.training.as_trained import claims
from simulator.training.as_trained.described import TrainingRun
from simulator.training.as_trained.rows import loader_rows

RUN = TrainingRun(noise=2.0, records=40, batch=10, steps=8, delta=1e-5)

REFUSING = """
from simulator.auditing.conformance import Library, Subject

class Refuses:
    def epsilon(self, events, delta):
        raise ValueError("no such rate")

def load():
    return [
        Subject(name=name, role="accountant", make=Refuses, claims="", kinds=(kind,))
        for name, kind in (("Mine", "subsampled-gaussian"), ("Other", "laplace"))
    ]

LIBRARY = Library(name="refusing", load=load, distribution="", packages=())
"""


def test_an_accountant_that_is_installed_states_the_first_row(monkeypatch):
    monkeypatch.setattr(claims, "LIBRARIES", ("dpcompose",))
    found = {claim.accountant.rpartition(", ")[2]: claim for claim in claims.claims_of(RUN)}
    first = next(loader_rows(RUN)).epsilon
    stated = [one.epsilon for one in found.values() if not math.isnan(one.epsilon)]
    assert stated
    assert all(first.lower <= epsilon for epsilon in stated)
    assert min(stated) == pytest.approx(first.upper, rel=1e-6)


def test_a_refusal_and_an_absent_library_are_named(monkeypatch, tmp_path):
    file = tmp_path / "adapter.py"
    file.write_text(REFUSING)
    monkeypatch.setattr(claims, "LIBRARIES", (str(file), "opake"))
    mine, *absent = claims.claims_of(RUN)
    assert mine.accountant.endswith("Mine")
    assert (math.isnan(mine.epsilon), mine.why) == (True, "ValueError: no such rate")
    assert all(math.isnan(each.epsilon) for each in absent)
