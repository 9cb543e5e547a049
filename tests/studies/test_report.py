"""The page of a study: its data, hostile texts, writes in one step, and how a browser shows it."""

import json
import math
import os
import re
import shlex
import time
from pathlib import Path

import pytest

from simulator.studies import Snapshot, StoppingRule, Study, Task, collect, grid, report
from simulator.studies.points import Point
from simulator.studies.report import ReportFile
from simulator.studies.under_way import UnderWay
from simulator.studies.watching import seconds_left_of
from tests.helpers.browser import in_browser, started
from tests.studies import games
from tests.studies.games import raising, steady

HOSTILE = "</script><script>document.title='taken'</script><!--<b>\u2028\x1b[31m\u202e"


def point(**changed):
    fields = {
        "task": "0123", "adversary": "random-pair", "family": "pure:0.2", "rounds": 10,
        "relation": "add/remove-one", "filter": "", "seed": 3, "experiment": 0,
        "quantity": "epsilon(delta=0.01)", "value": 1.5, "lower": 1.25, "upper": 1.75,
        "confidence": 0.95, "sure_lower": 1.0, "sure_upper": 2.0, "method": "DKW", "trials": 4000,
        "hits": 40, "looks": 3, "stopped": "width", "seconds": 0.5, "program": "x=1",
    }  # fmt: skip
    return Point(**(fields | changed))


def moment(*points, **changed):
    fields = {
        "quantities": 4, "done": 1, "failed": 0, "tasks": 2, "running": 1, "used": 3.0,
        "left": math.nan, "limit": math.inf, "ended": False, "points": points,
    }  # fmt: skip
    return Snapshot(**(fields | changed))


def data_of(page):
    """What the page's script reads, as a browser finds it: up to the first end of a script."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script', page, re.S)
    return json.loads(text)


def curve(adversary, **changed):
    return [
        point(adversary=adversary, rounds=k, value=0.4 * k**0.5, lower=0.3 * k**0.5,
              upper=0.5 * k**0.5, **changed)
        for k in (10, 100, 1000)
    ]  # fmt: skip


def test_the_page_has_the_numbers_of_every_point():
    points = [*curve("random-pair"), point(value=math.nan, lower=0.0, upper=math.inf, stopped="")]
    data = data_of(report(points))
    assert not data["running"]
    names = ("adversary", "family", "rounds", "quantity", "trials", "stopped", "command")
    for found, wanted in zip(data["points"], points, strict=True):
        assert [found[name] for name in names] == [getattr(wanted, name) for name in names]
        for name in ("value", "lower", "upper"):
            assert float(found[name]) == pytest.approx(getattr(wanted, name), rel=0, nan_ok=True)
    assert data["points"][-1]["upper"] == "Infinity"


def test_a_strangers_text_is_text():
    page = report([point(adversary=HOSTILE, error=HOSTILE)], title=HOSTILE)
    (found,) = data_of(page)["points"]
    assert found["adversary"].startswith("</script><script>")
    assert found["command"] == ""
    assert page.lower().count("<script") == 2
    assert page.lower().count("</script") == 2
    assert not {"\x1b", "\u202e"} & set(page)
    assert "{{data}}" in report([], title="{{data}}")


def test_nothing_comes_from_outside():
    page = report(curve("random-pair"))
    assert "default-src 'none'" in page
    assert (
        re.findall(r"(?:src|href)\s*=|url\(|@import|https?:(?!//www\.w3\.org/2000/svg)", page) == []
    )


def test_a_running_page_reloads_itself_and_the_last_one_does_not():
    running = report([point()], progress=moment(point()))
    assert 'http-equiv="refresh"' in running
    assert "1 of 4 quantities done, 1 of 2 open tasks running; 0:03 used. Written" in running
    known = moment(left=3725.0, failed=1)
    assert known.counts == "1 of 4 quantities done, 1 of 2 open tasks running, 1 failed"
    assert known.times(2.0) == "0:05 used, about 1:02:03 left"
    assert moment(limit=60.0).times() == "0:03 used, 1:00 at most left"
    ended = report([point()], progress=moment(point(), ended=True))
    assert 'http-equiv="refresh"' not in ended
    assert "1 of 4 quantities done, 3 not done. Written" in ended


def test_the_page_is_replaced_in_one_step_and_not_too_often(tmp_path, monkeypatch):
    path = tmp_path / "study.html"
    page, replaced = ReportFile(path, "study.csv"), []
    rename = os.replace

    def watched(source, target, **others):
        replaced.append(Path(source).read_text().endswith("</html>\n"))
        rename(source, target, **others)

    monkeypatch.setattr(os, "replace", watched)
    page(moment())
    page(moment(point()))  # a moment later
    assert data_of(path.read_text())["points"] == []
    page(moment(point(), ended=True))
    assert len(data_of(path.read_text())["points"]) == 1
    assert replaced == [True, True]
    assert [each.name for each in tmp_path.iterdir()] == ["study.html"]


def test_snapshots_count_what_is_done_and_end_once():
    seen = []
    tasks = [
        *grid(steady, "pure:0.2", [4, 8], "tail(epsilon=0.5)"),
        Task(raising, "pure:0.2", 3, "tail(epsilon=0.5)"),
    ]
    study = Study.of(collect(tasks, trials=4000, width=1e-6, jobs=1, watch=seen.append))
    assert [each.ended for each in seen] == [False] * (len(seen) - 1) + [True]
    first, last = seen[0], seen[-1]
    assert (first.tasks, first.running, first.quantities) == (3, 1, 6)
    assert (first.done, last.done, last.failed, last.tasks) == (0, 4, 2, 0)
    assert set(last.points) == set(study)
    assert last.left == 0.0
    waves = [each for each in seen[1:-1] if each.tasks == 2]
    assert [each.widest[0].relative_width for each in waves] == [
        max(p.relative_width for p in each.widest) for each in waves
    ]
    assert all(0.0 < each.left < 60.0 for each in waves)


def test_the_time_left_is_that_of_the_looks_that_follow():
    """After 1,000 trials in a second: 2,000 + 4,000 + ... more, until an interval is narrow."""

    def left(point_width, **rule):
        known = point(lower=1.0 - point_width, upper=1.0, stopped="")
        task = UnderWay(None, StoppingRule(trials=16_000, **rule), "", look=1, last_seconds=1.0,
                        points={known.key[1:]: known})  # fmt: skip
        return seconds_left_of(task)

    assert left(0.4, width=0.1) == pytest.approx(2 + 4 + 8 + 16)  # needs 16 times the trials
    assert left(0.2, width=0.11) == pytest.approx(2 + 4)
    assert left(0.12, width=0.1) == pytest.approx(2)
    assert left(0.9, width=0.01) == pytest.approx(2 + 4 + 8 + 16)  # no more than all trials
    assert left(0.9, hits=10) == pytest.approx(2 + 4 + 8 + 16)


def interrupted(coins):
    raise KeyboardInterrupt
    yield


def test_an_interruption_says_what_is_kept(tmp_path):
    seen, out = [], tmp_path / "study.csv"
    tasks = [
        Task(steady, "pure:0.2", 4, "tail(0.5)"),
        Task(interrupted, "pure:0.2", 4, "tail(0.5)"),
    ]
    with pytest.raises(KeyboardInterrupt) as raised:
        list(collect(tasks, out, trials=1000, jobs=1, watch=seen.append))
    assert raised.value.__notes__ == [f"{out} has what is done, and the same call goes on"]
    assert seen[-1].ended
    assert len(Study.load(out)) == 2


def test_a_study_that_is_left_ends_its_page():
    seen = []
    found = collect([Task(steady, "pure:0.2", 4, "tail(0.5)")], trials=1000, jobs=1,
                    watch=seen.append)  # fmt: skip
    next(found)
    found.close()
    assert seen[-1].ended


def replayed(call, *tasks):
    """Play the tasks and then every point's command: (point, the command's output as JSON)."""
    for p in Study.of(collect(tasks, trials=2000, jobs=1)):
        yield p, call(shlex.split(p.command)[1:])


ADAPTIVE = f"{games.__file__}:adaptive"


@pytest.mark.nightly
def test_the_command_of_a_point_gives_its_value(dpcompose_json):
    quantities = ["tail(epsilon=0.5)", "delta(epsilon=0.5)", "epsilon(delta=0.01)"]
    task = Task(ADAPTIVE, "pure:0.2", 8, quantities, seed=4, filter="sum:1.3")
    compared = 0
    for p, played in replayed(dpcompose_json, task):
        (at,) = played["experiments"][str(p.experiment)]["points"]
        kind = p.quantity.partition("(")[0]
        if kind == "epsilon":  # the least epsilon where delta is 0.01
            assert at["epsilon"] == p.value
            assert at["delta"]["value"] == pytest.approx(0.01, rel=1e-9)
        else:
            assert at[kind]["value"] == p.value
        compared += 1
    assert compared == 6


@pytest.mark.nightly
def test_the_command_of_a_rare_or_exact_point_gives_its_value(dpcompose_json):
    rare = Task(ADAPTIVE, "pure:0.2", 8, "rare tail(0.5)", seed=4, filter="sum:1.3")
    exact = Task("fixed-worst-case", "pure:0.2", 8, "exact tail(0.5)")
    found = [
        (p.value, played["tail"]["value"]) for p, played in replayed(dpcompose_json, rare, exact)
    ]
    assert len(found) == 4
    assert all(value == again > 0.0 for value, again in found)


def test_a_function_or_a_bound_has_no_command():
    assert point(adversary="steady").command == ""
    assert point(adversary="-x.py").command == ""
    assert point(adversary="a\u202eb.py").command == ""
    assert point(quantity="bound:basic epsilon(delta=0.01)").command == ""
    assert "'my file.py:bob'" in point(adversary="my file.py:bob").command


@pytest.fixture
def dpcompose_json(capsys):
    from simulator.doors.cli import main

    def call(arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([*arguments, "--json"])
        assert left.value.code == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = started(tmp_path_factory.mktemp("profile"))
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield driver
    driver.quit()


def opened(browser, folder, page):
    path = folder / "study.html"
    path.write_text(page, encoding="utf-8")
    browser.get(path.as_uri())
    return lambda script: browser.execute_script(f"return {script}")


@in_browser
def test_the_table_is_sorted_and_filtered(browser, tmp_path):
    points = [*curve("random-pair"), *curve(HOSTILE), point(rounds=20, stopped="failed", error="x")]
    js = opened(browser, tmp_path, report(points, title=HOSTILE))
    column = "[...document.querySelectorAll('#rows tr')].map(r => r.children[2].textContent)"
    assert js(column) == ["10", "100", "1000", "10", "100", "1000", "20"]
    heading = browser.find_elements("css selector", "th button")[2]
    heading.send_keys("\n")  # by the keyboard
    assert js(column) == ["10", "10", "20", "100", "100", "1000", "1000"]
    browser.find_elements("css selector", "th button")[2].click()
    assert js(column) == ["1000", "1000", "100", "100", "20", "10", "10"]
    assert js("document.querySelectorAll('th')[2].getAttribute('aria-sort')") == "descending"
    browser.find_element("id", "filter").send_keys("random-pair k=100 ")
    assert js("document.querySelectorAll('#rows tr').length") == 2
    browser.refresh()  # as the page does itself
    assert js(column) == ["1000", "100"]
    assert js("document.title") != "taken"
    assert js("document.querySelectorAll('#rows b, h1 b').length") == 0
    assert browser.get_log("browser") == []


@in_browser
def test_points_show_their_numbers_and_their_command(browser, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains

    bound = [
        point(rounds=k, quantity="bound:basic epsilon(delta=0.01)", method="upper", value=0.2 * k,
              lower=0.0, upper=0.2 * k, trials=0, stopped="certified")
        for k in (10, 100, 1000)
    ]  # fmt: skip
    nothing = point(rounds=2000, value=math.nan, lower=0.0, upper=3.0)
    js = opened(browser, tmp_path, report([*curve("random-pair"), nothing, *bound]))
    shown = browser.find_elements("css selector", "#plot .point")
    assert len(shown) == 7
    ActionChains(browser).move_to_element(shown[4]).perform()
    info = js("document.getElementById('info').textContent")
    assert "random-pair, pure:0.2, k = 100, b = 0: epsilon(delta=0.01) = 4" in info
    assert "dpcompose simulate random-pair --family pure:0.2 --rounds 100" in info
    js("document.querySelectorAll('#plot .point')[5].focus()")
    assert "k = 1000" in js("document.getElementById('info').textContent")
    heights = js(
        "[...document.querySelectorAll('#plot .point circle')].map(c => +c.getAttribute('cy'))"
    )
    assert all(0.0 <= each <= 360.0 for each in heights)
    shown[4].click()
    assert js("document.querySelectorAll('[aria-expanded=true]').length") == 1
    assert "dpcompose simulate" in js("document.querySelector('.inside').textContent")
    assert browser.get_log("browser") == []


@in_browser
def test_a_running_page_loads_itself_again(browser, tmp_path):
    opened(browser, tmp_path, report([], progress=moment()).replace('content="5"', 'content="1"'))
    assert "1 of 4 quantities done" in browser.find_element("id", "state").text
    again = moment(point(), done=2, ended=True, left=0.0)
    (tmp_path / "study.html").write_text(report([point()], progress=again), encoding="utf-8")
    until = time.monotonic() + 10
    while "2 of 4" not in browser.find_element("id", "state").text:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert browser.get_log("browser") == []
