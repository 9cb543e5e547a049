import pickle
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, count_changes
from simulator.data.tables import read_csv
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples

relaxed = examples(100)
people = st.lists(st.sampled_from("abcd"), max_size=6)


@pytest.fixture
def everyone():
    return Database({"alice": 1, "bob": 1, "others": 398})


def table(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_histogram_counts_its_records(everyone):
    assert everyone.size == len(everyone) == 400
    assert everyone.count("others") == 398
    assert everyone.count("carol") == 0
    assert everyone.count(lambda name: name != "others") == 2
    assert dict(everyone.records()) == {"alice": 1, "bob": 1, "others": 398}
    assert sorted(Database({"a": 2, "b": 1})) == ["a", "a", "b"]


def test_remove_leaves_the_original_alone(everyone):
    without = everyone.remove("alice")
    assert "alice" in everyone
    assert "alice" not in without
    assert without.add("alice") == everyone
    assert everyone.add("carol", 0) == everyone
    assert "carol" not in dict(everyone.add("carol", 0).records())


@relaxed
@given(people)
def test_equality_and_hash_are_those_of_the_multiset(records):
    first, second = Database(records), Database(reversed(records))
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.add("z")
    assert Database({record: records.count(record) for record in "abcd"}) == first


def test_databases_reached_by_other_steps_are_equal_and_hash_equal():
    chance = random.Random(1)
    for _ in range(50):
        stepped, counts = Database(), Counter()
        for _ in range(30):
            record, times = chance.choice(["a", "b", (1, 2)]), chance.randint(0, 3)
            if counts[record] >= times and chance.random() < 0.6:
                stepped = stepped.remove(record, times)
                counts[record] -= times
            else:
                stepped = stepped.add(record, times)
                counts[record] += times
        made = Database(counts)
        assert stepped == made
        assert hash(stepped) == hash(made)
        assert stepped.size == made.size == counts.total()
        assert len({stepped, made, made.add("c"), made.add("c").replace("c", "d")}) == 3


def test_a_pickled_database_is_equal_in_a_process_with_other_hashes(everyone):
    code = (
        "import pickle,sys; from simulator.data.databases import Database;"
        "d=pickle.loads(sys.stdin.buffer.read());"
        "print({Database({'others': 398, 'bob': 1, 'alice': 1}): 'found'}[d])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(everyone),
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": "123"},
    )
    assert run.stdout.strip() == b"found"


def test_a_database_cannot_be_changed(everyone):
    with pytest.raises(AttributeError, match="immutable"):
        everyone._size = 3


def test_repr_is_short():
    assert (
        repr(Database(range(1000))) == "Database({0: 1, 1: 1, 2: 1, 3: 1, … 996 more}, size=1000)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Database({"a": -1}), "at least 0"),
        (lambda: Database({"a": 1.5}), "whole number"),
        (lambda: Database("alice"), "in a list"),
        (lambda: Database([["a"]]), "hashable"),
        (lambda: Database(3), "hashable records"),
        (lambda: Database({"a": 2**54}), r"2\*\*53"),
        (lambda: Database({"a": 1}).remove("b"), "holds 0 of it"),
        (lambda: Database({"a": 1}).remove("a", 2), "holds 1 of it"),
        (lambda: Database({"a": 1}).add("a", -1), "at least 0"),
        (lambda: Database({"a": 1}).count([]), "hashable"),
    ],
)
def test_nonsense_is_refused_in_one_line(make, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


# --- neighbours ---------------------------------------------------------------------------------


def steps_by_search(start, goal, step, limit=4):
    """Count steps the slow way: breadth-first over every database that a step can reach."""
    reached = {start}
    for steps in range(limit + 1):
        if goal in reached:
            return steps
        reached |= {after for before in reached for after in step(before)}
    return None


def add_or_remove(database):
    yield from (database.add(record) for record in "abc")
    yield from (database.remove(record) for record, _ in database.records())


def replace(database):
    for old, _ in database.records():
        yield from (database.replace(old, new) for new in "abc")


small = st.lists(st.sampled_from("abc"), max_size=2).map(Database)


@relaxed
@given(small, small)
def test_distance_is_the_number_of_steps(first, second):
    assert ADD_REMOVE.distance(first, second) == steps_by_search(first, second, add_or_remove)
    searched = steps_by_search(first, second, replace)
    expected = float("inf") if searched is None else searched
    assert REPLACE_ONE.distance(first, second) == expected


@relaxed
@given(small, small)
def test_neighbours_are_at_most_one_step_apart_and_the_relation_is_symmetric(first, second):
    for relation in (ADD_REMOVE, REPLACE_ONE):
        assert relation.are_neighbours(first, second) == (relation.distance(first, second) <= 1)
        assert relation.are_neighbours(first, second) == relation.are_neighbours(second, first)
        assert relation.are_neighbours(first, Database(list(first)))


def test_difference_names_the_records(everyone):
    other = everyone.replace("alice", "carol").add("bob")
    text = ADD_REMOVE.difference(everyone, other)
    assert "-1 × 'alice'" in text
    assert "+1 × 'carol'" in text
    assert "+1 × 'bob'" in text
    assert "3 steps of add/remove-one" in text
    assert "no number of steps of replace-one" in REPLACE_ONE.difference(everyone, other)
    assert "identical" in ADD_REMOVE.difference(everyone, everyone)


def test_long_differences_are_cut():
    assert "and 96 more" in ADD_REMOVE.difference(Database(), Database(range(100)))


# --- tables -------------------------------------------------------------------------------------

PATIENTS = "name,age,mean radius\nann,41,17.5\nbob,29,12.0\nann,41,17.5\n"


def test_a_table_keeps_the_asked_columns_in_the_asked_order(tmp_path):
    database = Database.from_csv(table(tmp_path, PATIENTS), columns=["mean radius", "name"])
    assert dict(database.records()) == {(17.5, "ann"): 2, (12.0, "bob"): 1}


def test_a_record_answers_to_its_columns(tmp_path):
    record = read_csv(table(tmp_path, PATIENTS))[1]
    assert record == ("bob", 29.0, 12.0)
    assert record.name == record["name"] == record[0] == "bob"
    assert record["mean radius"] == 12.0
    assert record[1:] == (29.0, 12.0)
    assert repr(record) == "(name='bob', age=29.0, mean radius=12.0)"
    with pytest.raises(InvalidInput, match="no column 'height'; there are name, age"):
        record["height"]
    with pytest.raises(AttributeError, match="no column 'height'"):
        record.height  # noqa: B018


def test_columns_named_like_a_tuples_own_methods_are_read_in_brackets(tmp_path):
    record = read_csv(table(tmp_path, "count,columns,age\n3,4,5\n"))[0]
    assert (record["count"], record["columns"], record.age) == (3.0, 4.0, 5.0)
    assert record.count(3.0) == 1


def test_a_record_survives_pickling(tmp_path):
    record = read_csv(table(tmp_path, PATIENTS))[0]
    copy = pickle.loads(pickle.dumps(record))
    assert copy == record
    assert type(copy) is type(record)
    assert copy.age == 41.0


def test_text_columns_stay_text_when_named(tmp_path):
    path = table(tmp_path, "code\n001\nA2\n")
    assert [record.code for record in read_csv(path, text=["code"])] == ["001", "A2"]
    with pytest.raises(InvalidInput, match="line 3, column 'code': 'A2' is not a finite number"):
        read_csv(path)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            PATIENTS,
            {"columns": ["age", "height"]},
            "no column 'height'; it has name, age",
        ),
        (PATIENTS, {"columns": []}, "columns is empty"),
        (PATIENTS, {"columns": ["age", "age"]}, "twice"),
        (PATIENTS, {"numeric": ["name"]}, "line 2, column 'name': 'ann' is not a finite number"),
        ("age\n41\nx\n", {}, "line 3, column 'age': 'x' is not a finite number"),
        ("age\n41\nnan\n", {}, "line 3, column 'age': 'nan'"),
        ("age\n41\n1e999\n", {}, "line 3, column 'age': '1e999'"),
        ("age\n41\n1_0\n", {}, "line 3, column 'age': '1_0'"),
        ("age,b\n41,2\n,3\n", {}, "line 3, column 'age': ''"),
        ("age,b\n41,2\n3\n", {}, "line 3: 1 cell under 2 columns"),
        ("age,age\n41,2\n", {}, "two columns of one name"),
        ("age\n", {}, "no rows"),
        ("", {}, "empty"),
    ],
)
def test_a_doubtful_table_is_refused_in_one_line(tmp_path, text, options, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        read_csv(table(tmp_path, text), **options)
    assert "\n" not in str(caught.value)


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot read .*none\.csv: No such file"):
        Database.from_csv(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(InvalidInput, match="not text in UTF-8"):
        Database.from_csv(tmp_path / "binary.csv")


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("age\n41\n", encoding="utf-8-sig")
    assert read_csv(path, ["age"]) == [(41.0,)]


@pytest.mark.parametrize("big", [{"a": 2, "b": 1, 1: 3}, {1: 1}])
@pytest.mark.parametrize(
    "change",
    [lambda d: d.add("a"), lambda d: d.remove(True), lambda d: d.add("new", 4), lambda d: d.add(1),
     lambda d: d.add("a", 0), lambda d: d.replace(1, "b")],
)  # fmt: skip
def test_a_step_that_is_known_changes_what_the_contents_say(big, change):
    before = Database(big)
    after = change(before)
    anew = Database(dict(before.records())), Database(dict(after.records()))
    changes = count_changes.__wrapped__  # its cache would take one for the other
    for one, other in ((0, 1), (1, 0)):
        known = changes((before, after)[one], (before, after)[other])
        compared = changes(anew[one], anew[other])
        assert [*map(repr, known.items())] == [*map(repr, compared.items())]
