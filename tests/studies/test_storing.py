"""The file of a study: whole lines, one writer, one program; merging, filtering, comparing."""

import dataclasses
import itertools
import math
import threading

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.studies import Point, Study, Task, collect, compare, growth
from simulator.studies.storing import StudyFile, load_points, write_points
from tests.studies.games import steady

POINT = Point(
    task="0123456789abcdef",
    adversary='press, when "ahead"',
    family="pure:0.2",
    rounds=8,
    relation="add/remove-one",
    filter="",
    seed=0,
    experiment=1,
    quantity="tail(epsilon=0.5)",
    value=0.1,
    lower=1 / 3,
    upper=math.inf,
    confidence=0.95,
    sure_lower=0.0,
    sure_upper=math.inf,
    method="betting",
    trials=1000,
    hits=7,
    looks=1,
    stopped="trials",
    seconds=0.25,
    program="python=3.11",
    metadata='{"why":"a test"}',
)


def test_a_point_is_read_as_it_was_written(tmp_path):
    with StudyFile(tmp_path / "study.csv") as file:
        file.append([POINT])
    assert load_points(tmp_path / "study.csv") == [POINT]
    nan = dataclasses.replace(POINT, value=math.nan, error="a line\nand another")
    write_points(tmp_path / "study.csv", [nan])
    (found,) = load_points(tmp_path / "study.csv")
    assert found.same_numbers(nan)


def test_an_incomplete_last_line_is_cut_off(tmp_path):
    path = tmp_path / "study.csv"
    later = dataclasses.replace(POINT, experiment=0)
    write_points(path, [POINT, later])
    content = path.read_bytes()
    for size in range(content.index(b"\n") + 1, len(content)):
        path.write_bytes(content[:size])
        kept = load_points(path)
        assert kept == [POINT, later][: content[:size].count(b"\n") - 1]
    with StudyFile(path) as file:
        assert file.torn
        file.append([later])
    assert load_points(path) == [POINT, later]


def test_a_file_has_one_writer(tmp_path):
    with StudyFile(tmp_path / "study.csv"), pytest.raises(InvalidInput, match="another process"):
        StudyFile(tmp_path / "study.csv")


@pytest.mark.parametrize(("content", "complaint"), [
    (b"epsilon,delta\n1,2\n", "its first line is not that of one"),
    (b"\xff\xfe\n", "it is no text"),
])  # fmt: skip
def test_another_file_is_left_alone(tmp_path, content, complaint):
    path = tmp_path / "other.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=complaint):
        collect([Task(steady, "pure:0.2", 4, "tail(epsilon=1)")], path)
    assert path.read_bytes() == content


def test_a_bad_number_is_named_by_line_and_column(tmp_path):
    write_points(tmp_path / "study.csv", [POINT])
    text = (tmp_path / "study.csv").read_text().replace("0.25", "fast")
    (tmp_path / "study.csv").write_text(text)
    with pytest.raises(InvalidInput, match=r"line 2: 'fast' is not a float in 'seconds'"):
        load_points(tmp_path / "study.csv")


def test_columns_of_a_newer_version_are_read_over(tmp_path):
    path = tmp_path / "study.csv"
    write_points(path, [POINT])
    names, line = path.read_text().splitlines()
    path.write_text(f"{names},added\n{line},1\n")
    assert load_points(path) == [POINT]


def test_columns_in_another_order_are_read_and_not_appended_to(tmp_path):
    path = tmp_path / "study.csv"
    names = list(POINT.row())[::-1]
    plain = dataclasses.replace(POINT, adversary="a", metadata="{}")
    lines = [",".join(names), ",".join(plain.row()[name] for name in names)]
    path.write_text("\r\n".join(lines) + "\r\n")
    assert load_points(path) == [plain]
    with pytest.raises(InvalidInput, match="not in their order"):
        StudyFile(path)
    Study.load(path).write(tmp_path / "again.csv")
    with StudyFile(tmp_path / "again.csv") as file:
        assert list(file.points.values()) == [plain]


def test_a_table_that_a_spreadsheet_saved_is_read_and_appended_to(tmp_path):
    """A mark of UTF-8 before the first line, CRLF, and rows without a text."""
    path = tmp_path / "study.csv"
    write_points(path, [POINT])
    lines = path.read_bytes().replace(b"\n", b"\r\n") + b"," * (len(POINT.row()) - 1) + b"\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + lines)
    assert load_points(path) == [POINT]
    later = dataclasses.replace(POINT, experiment=0)
    with StudyFile(path) as file:
        file.append([later])
    assert load_points(path) == [POINT, later]


def test_a_file_of_another_program_is_refused(tmp_path):
    write_points(tmp_path / "study.csv", [POINT])
    with pytest.raises(InvalidInput, match="made by another program"):
        collect([Task(steady, "pure:0.2", 4, "tail(epsilon=1)")], tmp_path / "study.csv")
    assert threading.active_count() < 50


def test_merging_takes_the_point_with_more_trials_and_refuses_two_truths():
    more = dataclasses.replace(POINT, trials=2000)
    assert list(Study.merge(Study((POINT,)), Study((more,)))) == [more]
    assert list(Study.merge(Study((more,)), Study((POINT,)))) == [more]
    slower = dataclasses.replace(POINT, seconds=9.0)
    assert len(Study.merge(Study((POINT,)), Study((slower,)))) == 1
    other = dataclasses.replace(POINT, value=0.2)
    with pytest.raises(InvalidInput, match="other numbers"):
        Study.merge(Study((POINT,)), Study((other,)))


def test_points_are_chosen_by_their_fields():
    study = Study((POINT, dataclasses.replace(POINT, experiment=0)))
    assert len(study.filter(experiment=1)) == 1
    assert len(study.filter(lambda point: point.trials > 1000)) == 0
    assert study.filter(adversary=POINT.adversary) == study
    with pytest.raises(InvalidInput, match="no field 'adversry'"):
        study.filter(adversry="x")
    assert study.columns()["rounds"].tolist() == [8, 8]


def measured(epsilon, seed):
    from simulator import Database, RandomizedResponse, counting_query

    nobody, bob = Database({"others": 10}), Database({"others": 10, "bob": 1})

    def responses(coins):
        while True:
            yield nobody, bob, RandomizedResponse(counting_query("bob"), epsilon)

    asked = ["tail(epsilon=0.3)", "delta(epsilon=0.3)", "epsilon(delta=0.01)"]
    task = Task(responses, "pure:0.3", 10, asked, seed=seed)
    return Study.of(collect([task], trials=5_000, jobs=1))


@pytest.mark.nightly
def test_two_seeds_are_equal_and_another_mechanism_is_not():
    """Six pairs: a false alarm with probability 1.2e-5 at most, and a change by half is found."""
    one = measured(0.2, 1)
    same = compare(one, measured(0.2, 2))
    assert (same.moved, same.compared) == ((), 6)
    assert same.false_alarm == pytest.approx(1.2e-5)
    changed = compare(one, measured(0.3, 2))
    assert len(changed.moved) >= 2
    lacking = compare(one, one.filter(experiment=0))
    assert (lacking.compared, len(lacking.only_one), len(lacking.only_other)) == (3, 3, 0)


def test_a_bound_that_grew_has_moved():
    bound = dataclasses.replace(
        POINT, quantity="bound:basic epsilon(delta=0.01)", value=1.0, lower=0.0, upper=1.0,
        sure_lower=0.0, sure_upper=1.0, stopped="certified", confidence=1.0,
    )  # fmt: skip
    rounded = dataclasses.replace(bound, value=1.0 + 1e-7, upper=1.0 + 1e-7)
    grown = dataclasses.replace(bound, value=1.001, upper=1.001, sure_upper=1.001)
    assert compare([bound], [rounded]).moved == ()
    found = compare([bound], [grown])
    assert len(found.moved) == 1
    assert found.false_alarm == 0.0


def power_law(exponent, k):
    value = 0.1 * k**exponent
    return dataclasses.replace(
        POINT, quantity="epsilon(delta=0.01)", rounds=k, value=value, lower=0.98 * value,
        upper=1.02 * value,
    )  # fmt: skip


def test_growth_is_the_exponent_of_a_power_law():
    points = [power_law(0.5, k) for k in (10, 20, 50, 100)]
    assert growth(points).exponent == pytest.approx(0.5)
    factors = (1.1, 0.9, 1.1, 0.9)
    noisy = [dataclasses.replace(p, value=p.value * f) for p, f in zip(points, factors)]
    found = growth(noisy)
    assert found.lower < 0.5 < found.upper
    assert growth(points[:2]) is None


def test_a_picture_has_a_series_per_group_and_the_tightest_bounds():
    points = [power_law(b + 0.5, k) for k in (10, 20, 50) for b in (0, 1)]
    points = [dataclasses.replace(p, experiment=int(p.value > 0.09 * p.rounds)) for p in points]
    loose = [
        dataclasses.replace(
            power_law(1.5, k), quantity=f"bound:{name} epsilon(delta=0.01)", method="upper",
            value=factor * k,
        )
        for k in (10, 20, 50)
        for factor, name in enumerate(("basic", "advanced", "gdp", "freedman", "rdp-mironov"), 1)
    ]  # fmt: skip
    figure = Study((*points, *loose)).plot(fit=True)
    names = figure.axes[0].get_legend_handles_labels()[1]
    assert len(names) == 2 + 4
    assert "experiment 0" in names[0]
    assert "k^{0.50}" in names[0]
    assert not any("Mironov" in name for name in names)
    alone = Study(tuple(loose)).plot().axes[0]
    assert len(alone.get_legend_handles_labels()[1]) == 4
    assert (alone.get_title(), alone.get_xscale()) == ("pure:0.2", "log")
    with pytest.raises(InvalidInput, match="no 'tail' to draw; it has epsilon"):
        Study(tuple(points)).plot(y="tail")


def bound(name, family, k, value):
    return dataclasses.replace(
        POINT, quantity=f"bound:{name} epsilon(delta=0.01)", method="upper", stopped="certified",
        family=family, rounds=k, value=value,
    )  # fmt: skip


def test_each_family_has_its_bounds_in_a_picture():
    """The curves of a second family lie above the bounds of the first; alone, that misleads."""
    found = [
        each
        for place in range(1, 6)
        for k in (10, 20, 50)
        for each in (
            dataclasses.replace(power_law(0.5 * place, k), family=f"pure:0.{place}"),
            *(bound(name, f"pure:0.{place}", k, place * k) for name in ("basic", "gdp")),
            bound("rdp-mironov", f"pure:0.{place}", k, 9.0 * k),
        )
    ]
    for families, lines in ((1, 2), (2, 2), (5, 1)):
        chosen = [p for p in found if int(p.family[-1]) <= families]
        names = Study(tuple(chosen)).plot().axes[0].get_legend_handles_labels()[1]
        for place in range(1, families + 1):
            own = [n for n in names if families == 1 or f"pure:0.{place}" in n]
            assert len(own) == 1 + lines, (families, own)


def test_a_picture_of_one_number_of_rounds_shows_its_bounds():
    figure = Study((power_law(0.5, 20), bound("basic", "pure:0.2", 20, 1.0))).plot()
    handles = figure.axes[0].get_legend_handles_labels()[0]
    assert all(handle.get_marker() not in ("None", "", None) for handle in handles)


def test_labels_of_a_short_logarithmic_axis_do_not_overlap():
    figure = Study(tuple(power_law(0.5, k) for k in (5, 10, 20, 50))).plot()
    figure.canvas.draw()
    (axes,) = figure.axes
    labels = [label for label in axes.get_xticklabels(which="both") if label.get_text()]
    seen = [(label.get_text(), label.get_window_extent()) for label in labels]
    inside = sorted((box.x0, box.x1) for _, box in seen)
    assert {"5", "10", "20", "50"} <= {text for text, _ in seen}
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(inside))


def test_an_empty_study_has_nothing_to_draw():
    with pytest.raises(InvalidInput, match="it has none"):
        Study(()).plot()


@pytest.mark.nightly
def test_a_group_has_a_colour_of_its_own_and_no_two_series_one_look():
    def looks(adversaries, families, hue):
        points = [
            dataclasses.replace(power_law(0.5, k), adversary=f"a{a}", family=f"pure:0.{f}")
            for a in range(adversaries) for f in range(1, families + 1) for k in (1, 10)
        ]  # fmt: skip
        lines = Study(tuple(points)).plot(hue=hue, bounds=False).axes[0].get_lines()
        return [(line.get_color(), line.get_marker()) for line in lines]

    for adversaries, families in ((2, 3), (1, 4), (12, 3), (3, 12), (9, 7)):
        for hue in ("adversary", "family"):
            found = looks(adversaries, families, hue)
            assert len(set(found)) == len(found) == adversaries * families
    assert len({colour for colour, _ in looks(2, 3, "family")}) == 3
    assert len({colour for colour, _ in looks(2, 3, "adversary")}) == 2
