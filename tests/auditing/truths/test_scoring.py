"""Tables of claims, right and wrong, against the true answers."""

import math

import pytest

from simulator.auditing.conformance import Ruling
from simulator.auditing.truths import documents
from simulator.auditing.truths.scoring import claims_of, score
from simulator.foundations.errors import InvalidInput


@pytest.fixture(scope="module")
def rows():
    return documents.rows()


def test_upper_ends_are_sound(rows):
    found = score({row.name: row.truth.upper for row in rows}, rows)
    assert found.counts == {Ruling.SOUND: len(rows)}
    assert found.sound
    assert found.missing == 0


def test_smaller_claims_are_unsound_and_larger_ones_loose(rows):
    some = [row for row in rows if row.truth.lower > 1e-9 and row.truth.upper < 0.1][:500]
    small = score({row.name: row.truth.lower * (1 - 1e-5) for row in some}, rows)
    assert small.counts == {Ruling.UNSOUND: len(some)}
    assert not small.sound
    assert small.missing == len(rows) - len(some)
    large = score({row.name: row.truth.upper * 2.1 for row in some}, rows)
    assert large.counts == {Ruling.LOOSE: len(some)}
    assert large.sound


def test_what_is_no_answer_fails(rows):
    found = score({rows[0].name: math.nan, rows[2].name: -1.0}, rows)
    assert found.counts == {Ruling.FAILS: 2}
    assert not found.sound


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "needs the columns id and value; it has none"),
        ("id,epsilon\n1,2\n", "it has id, epsilon"),
        ("id,value\na,1\na,2\n", "line 3: 'a' is there twice"),
        ("id,value\na,many\n", "line 2: 'many' is not a number"),
        ("id,value\na\n", "no value"),
        ("id,value\na,1\n", "no question has the id 'a'"),
        ("id,value\na,1\nb,1\n", "'a' and 1 other"),
    ],
)
def test_a_table_that_is_wrong_gets_a_line(tmp_path, rows, text, complaint):
    path = tmp_path / "claims.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=complaint):
        score(claims_of(path), rows)


def test_bytes_that_are_no_text_get_a_line(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_bytes(b"id,value\n\xff\xfe,1\n")
    with pytest.raises(InvalidInput, match="is not text in UTF-8"):
        claims_of(path)
    with pytest.raises(InvalidInput, match="No such file"):
        claims_of(tmp_path / "none.csv")
