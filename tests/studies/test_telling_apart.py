"""One table for several calls: adversaries of one name, and other rules of stopping."""

import dataclasses

import pytest

from simulator import Database, RandomizedResponse, counting_query
from simulator.foundations.errors import InvalidInput
from simulator.studies import Study, Task, collect, compare

NOBODY, BOB = Database({"others": 10}), Database({"others": 10, "bob": 1})


def asking(epsilon):
    def adversary(coins):
        while True:
            yield NOBODY, BOB, RandomizedResponse(counting_query("bob"), epsilon)

    return adversary


def tasks(epsilon, **more):
    return [
        Task(asking(epsilon), "pure:0.3", k, "delta(epsilon=0.1)", **more) for k in (2, 4, 8, 16)
    ]


def swept(epsilon, out):
    return Study.of(collect(tasks(epsilon), out, trials=2000, jobs=1))


def drawn(study):
    lines = study.plot(y="delta", bounds=False).axes[0].get_lines()
    return [list(line.get_xdata()) for line in lines if len(line.get_xdata())]


@pytest.mark.nightly
def test_of_an_edited_adversary_the_latest_lines_are_drawn_and_compared(tmp_path):
    old, out = tmp_path / "old.csv", tmp_path / "study.csv"
    for path in (old, out):
        swept(0.3, path)
    swept(0.1, out)
    both = Study.load(out)
    assert len(both) == 16
    assert drawn(both) == [[2, 4, 8, 16], [2, 4, 8, 16]]
    found = compare(Study.load(old), both)
    assert (found.compared, len(found.moved)) == (8, 8)
    swept(0.3, out)  # the edit undone: nothing is played, and its lines are the latest again
    assert compare(Study.load(old), Study.load(out)).moved == ()
    assert len(Study.load(out)) == 16


def test_two_adversaries_of_one_name_need_names_or_metadata():
    with pytest.raises(InvalidInput, match=r"two different adversaries are named .*__name__"):
        collect([*tasks(0.3), *tasks(0.1)], trials=10)
    told = [task for e in (0.1, 0.3) for task in tasks(e, metadata={"epsilon": e})]
    study = Study.of(collect(told, trials=1000, jobs=1))
    assert drawn(study) == [[2, 4, 8, 16]] * 4
    assert compare(study, study).compared == 16


def test_two_tables_are_compared_seed_by_seed():
    def seeds(*some):
        return Study.of(collect([t for s in some for t in tasks(0.2, seed=s)], trials=500, jobs=1))

    several = seeds(1, 2)
    found = compare(several, several)
    assert (found.compared, found.only_one, found.only_other) == (16, (), ())
    other = compare(several, seeds(3))
    assert (other.compared, len(other.only_one), len(other.only_other)) == (8, 8, 0)
    broken = Study(
        tuple(
            dataclasses.replace(p, sure_lower=0.9, sure_upper=1.0) if p.seed == 1 else p
            for p in several
        )
    )
    assert {each.one.seed for each in compare(several, broken).moved} == {1}


def test_a_line_of_more_trials_is_not_replaced_by_one_of_fewer(tmp_path):
    out = tmp_path / "study.csv"
    task = tasks(0.2)[:1]

    def sweep(**rule):
        return Study.of(collect(task, out, jobs=1, **rule))

    fine = sweep(width=1e-3, trials=8000)
    content = out.read_bytes()
    assert [point.trials for point in fine] == [8000, 8000]
    assert sweep(width=0.9, trials=8000).points == fine.points  # as narrow already
    for rule in ({"trials": 500}, {"width": 0.5, "trials": 4000}):
        with pytest.raises(InvalidInput, match="from 8,000 trials"):
            sweep(**rule)
        assert out.read_bytes() == content


def test_a_lone_look_is_not_taken_for_the_first_of_several(tmp_path):
    """It has the whole error; where a narrow one was kept, the two rules together miss more."""
    out, rule = tmp_path / "study.csv", {"width": 0.9, "trials": 4000}
    task = tasks(0.2)[:1]
    lone = Study.of(collect(task, out, trials=1000, jobs=1))
    both, fresh = (
        Study.of(collect(task, out, jobs=1, **rule)),
        Study.of(collect(task, jobs=1, **rule)),
    )
    assert all(one.same_numbers(other) for one, other in zip(both, fresh))
    assert [point.lower for point in both] != [point.lower for point in lone]


def test_a_line_has_no_command_where_the_shell_refuses_its_epsilon():
    """``dpcompose simulate --epsilon`` is at least 0."""
    names = ["tail(epsilon=-0.1)", "delta(epsilon=-0.1)", "tail(epsilon=0)"]
    task = Task("fixed-worst-case", "pure:0.2", 2, names, experiments=(0,))
    found = Study.of(collect([task], trials=100, jobs=1))
    assert [bool(point.command) for point in found] == [False, False, True]


def named(epsilon):
    adversary = asking(epsilon)
    adversary.__name__ = f"asking_{epsilon}"
    return adversary


def test_an_interrupted_study_decides_as_one_that_went_through(tmp_path):
    """Between waves alone: an interval of two looks beside one of one look may decide earlier."""
    wanted = [
        Task(named(e), "pure:0.2", 2, "delta(epsilon=0)", experiments=(0,), seed=5)
        for e in (0.2, 0.19, 0.15, 0.11)
    ]

    def collected(out):
        return collect(wanted, out, trials=2000, decide="order", jobs=1)

    whole = list(collected(tmp_path / "whole.csv"))
    assert len(whole) == 8
    for cut in (2, 5, 6):
        out = tmp_path / f"{cut}.csv"
        part = collected(out)
        for _ in range(cut):
            next(part)
        part.close()
        found, expected = Study.of(collected(out)), Study.load(tmp_path / "whole.csv")
        assert len(found) == len(expected) == 4
        assert all(p.same_numbers(q) for p, q in zip(Study.load(out), expected)), cut


def test_a_tail_that_nothing_reaches_is_zero():
    """Five rounds of 0.2 lose 1 at most; its ends are certified, so its value is known."""
    task = Task("press-when-ahead", "pure:0.2", 5, "rare tail(epsilon=1)", experiments=(0,))
    (point,) = Study.of(collect([task], trials=100, jobs=1))
    assert (point.value, point.lower, point.upper, point.stopped) == (0.0, 0.0, 0.0, "certified")
