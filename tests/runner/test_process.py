"""A run as a process of its own: what Ctrl-C leaves behind, and how much memory it takes."""

import time

import pytest

from tests.helpers.interrupting import wait_for
from tests.helpers.workplaces import Script

# --- Ctrl-C -------------------------------------------------------------------------------------

INTERRUPTED = """
    from tests.helpers.games import PRESS, PureDP, press_when_ahead
    from simulator import simulate

    def remembers(coins):  # a list that grows is played in Python, by processes
        seen = []
        while True:
            seen.append((yield PRESS.menu[0]))

    if __name__ == "__main__":
        print("ready", flush=True)
        try:
            simulate({adversary}, PureDP(0.2), 200, 10**7, jobs={jobs}, out="run")
        except KeyboardInterrupt:
            raise SystemExit(130)
"""


def quiet(err):
    """What was said beside the line on how long the play will take."""
    return "".join(line for line in err.splitlines(True) if "Ctrl-C ends it" not in line)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("adversary", "jobs"), [("PRESS", 2), ("press_when_ahead", 1), ("press_when_ahead", 2)]
)
def test_ctrl_c_ends_a_run_at_once_and_leaves_no_process(adversary, jobs, tmp_path):
    script = Script(tmp_path, INTERRUPTED.format(adversary=adversary, jobs=jobs))
    script.wait_for("ready")
    log = tmp_path / "run" / "blocks.log"
    until = time.monotonic() + 40
    while not (log.exists() and log.stat().st_size > 2000):
        assert time.monotonic() < until
        time.sleep(0.05)
    pressed = time.monotonic()
    script.interrupt()
    code, _, err = script.finish(20)
    # a second on an idle machine; tests share theirs
    assert time.monotonic() - pressed < 5
    assert (code, quiet(err)) == (130, "")
    assert script.left_behind() == []


def test_ctrl_c_while_workers_start_is_as_quiet(tmp_path):
    script = Script(tmp_path, INTERRUPTED.format(adversary="remembers", jobs=2))
    script.wait_for("ready")
    wait_for(lambda: len(script.members()) > 1, script.process)
    script.interrupt()
    code, _, err = script.finish(20)
    assert (code, quiet(err)) == (130, "")
    assert script.left_behind() == []


# --- memory -------------------------------------------------------------------------------------

PEAK = """
    import resource
    from tests.helpers.games import PRESS, PureDP
    from simulator import simulate

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    simulate(PRESS, PureDP(0.2), 200, 1000, jobs=2)
    before = peak()
    result = simulate(PRESS, PureDP(0.2), 200, 50_000, jobs=2)
    assert len(result.losses()) == 50_000
    print(peak() - before)
"""


@pytest.mark.nightly
def test_memory_does_not_grow_with_trials_times_rounds(tmp_path):
    # the answers or losses of all rounds would take 2 x 50,000 x 200 x 8 bytes = 160 MB
    code, out, err = Script(tmp_path, PEAK).finish(60)
    assert code == 0, err
    assert int(out) < 30_000  # kilobytes; the losses themselves are 0.8 MB
