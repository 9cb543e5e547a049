"""The programs of README and of the pages run, and their tables are those of the code."""

import json
import math
import re
import runpy
import shlex
import sys
import types
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest
from scipy.stats import logistic

import simulator
from experiments import stages
from simulator.adversaries import Rule
from tests.helpers import bounds_table, loaders_table, mechanisms_table, rooms

README = (stages.ROOT / "README.md").read_text(encoding="utf-8")
PAGES = stages.ROOT / "experiments" / "site" / "pages"
MAKEFILE = (stages.ROOT / "Makefile").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+\.\d+(?:e-\d+)?")
WEIGHTED = r"\d[\d.e-]* \[\d[\d.e-]*, \d[\d.e-]*\] \(95%, [\w, -]+\)"


def text_of(page):
    return README if page == "README" else (PAGES / "howto" / f"{page}.md").read_text("utf-8")


def programs(page):
    return re.findall(r"```python\n(.*?)```", text_of(page), flags=re.DOTALL)


def run(tmp_path, page, number=0, trials=None):
    """Run a program of a page, with fewer trials where so many are given; return its names."""
    path = tmp_path / f"{page}_{number}.py"
    text = programs(page)[number]
    if trials is not None:
        text, changed = re.subn(r"trials=[\d_]+", f"trials={trials}", text)
        assert changed >= 1
    path.write_text(text, encoding="utf-8")
    return runpy.run_path(str(path), run_name="__main__")


def printed_below(program, text):
    """The block of text that follows a program."""
    return re.search(r"```text\n(.*?)```", text.split(program)[1], flags=re.DOTALL)[1]


def test_readme_is_short_and_begins_with_a_program_that_prints_what_it_says(tmp_path, capsys):
    assert len(README.splitlines()) <= 100
    names = run(tmp_path, "README")
    assert capsys.readouterr().out == printed_below(programs("README")[0], README)
    played = names["result"].specification
    # some 2 seconds of processor time; the bench has the line
    assert 2 * played.rounds * played.trials <= 100_000


def test_the_command_of_readme_prints_what_it_says():
    from click.testing import CliRunner

    from simulator.doors.cli import group

    command, shown = re.search(
        r"```console\n\$ dpcompose (.*?)\n(.*?)```", README, re.DOTALL
    ).groups()
    assert CliRunner().invoke(group, command.split()).output == shown


def test_the_program_of_events_prints_what_it_says(tmp_path, capsys):
    run(tmp_path, "events")
    printed, said = capsys.readouterr().out, printed_below(programs("events")[0], text_of("events"))
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", said)
    # another processor may round otherwise, by far less than the ends are apart
    found, expected = ([float(each) for each in NUMBER.findall(text)] for text in (printed, said))
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert len(expected) == 6


def test_the_program_of_black_boxes_finds_the_broken_one(tmp_path, capsys):
    run(tmp_path, "audit", 1)
    assert capsys.readouterr().out.startswith("violated: pure:1.0, ")


@pytest.mark.nightly
def test_the_program_of_one_run_finds_the_forgotten_clip(tmp_path, capsys):
    run(tmp_path, "audit", 2)
    kept, forgotten = capsys.readouterr().out.splitlines()
    assert "gdp:0.447213595499958: not violated, p = " in kept
    assert "gdp:0.447213595499958: violated, p = " in forgotten


@pytest.mark.nightly
def test_the_program_of_rare_events_reaches_what_it_says(tmp_path, capsys):
    # epsilon(1e-12) of this adversary is 1.88 to three digits, by exact recursion
    run(tmp_path, "rare", trials=20_000)
    printed = capsys.readouterr().out
    exact, again, sampled = printed.splitlines()
    computed = WEIGHTED.replace("95%, ", "exact, ")
    assert re.fullmatch(rf"doob {computed}", exact)
    assert re.fullmatch(computed, again)
    assert abs(float(exact.split()[1]) - 1.88) < 0.01
    assert re.fullmatch(WEIGHTED, sampled)


def test_the_program_of_the_search_prints_what_it_says(tmp_path, capsys):
    names = run(tmp_path, "worst")
    ends, verdict = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"between 2\.8113\d*e-05 and 2\.8113\d*e-05", ends)
    assert verdict.startswith("broken between 9.2424")
    assert isinstance(names["rule"], Rule)


@pytest.mark.nightly
def test_the_program_of_the_audit_prints_what_it_says(tmp_path, capsys):
    run(tmp_path, "audit")
    printed = capsys.readouterr().out.splitlines()
    expected = printed_below(programs("audit")[0], text_of("audit")).splitlines()
    number = r"-?\d+(?:\.\d+)?(?:e-\d+)?"  # another processor's logarithm may choose another event
    found = [re.sub(number, "#", line).replace(">=", "<") for line in printed]
    assert found == [re.sub(number, "#", line).replace(">=", "<") for line in expected]
    for what, tolerance in ((r"\((0\.\d+) and", 0.1), (r"epsilon >= (\S+)", 0.002)):
        found, said = (float(re.findall(what, "".join(each))[0]) for each in (printed, expected))
        assert found == pytest.approx(said, abs=tolerance)


@pytest.mark.usefixtures("few_draws")
def test_the_program_of_bounds_prints_what_each_grants_and_no_violation(tmp_path, capsys):
    run(tmp_path, "accounting", trials=500)
    *granted, violated = capsys.readouterr().out.splitlines()
    assert dict(line.split() for line in granted)["basic"].startswith("20.0")
    assert violated == "[]"


@pytest.mark.nightly
def test_the_program_of_epochs_prints_what_it_says(tmp_path, capsys):
    run(tmp_path, "allocation")
    epochs, with_one_more, three = capsys.readouterr().out.splitlines()
    lower, upper = re.fullmatch(r"between (\S+) and (\S+)", epochs).groups()
    assert 1.7014 < float(lower) <= float(upper) < 1.7016  # as the page says
    assert 1.7015 < float(with_one_more) < 1.8016
    assert float(three) < 1.82


def test_every_page_is_in_the_index_once():
    """A page that stood three times broke the build of the site."""
    pages = sorted(path.stem for path in (PAGES / "howto").glob("*.md") if path.stem != "index")
    questions, hidden = text_of("index").split(":hidden:")
    rows = re.findall(r"^\| .+\? \| \[[^]]+\]\((\w+)\.md\) \|$", questions, flags=re.MULTILINE)
    assert sorted(rows) == sorted(re.findall(r"\((\w+)\.md\)", questions)) == pages
    assert sorted(hidden.split("```")[0].split()) == pages


def test_there_is_no_other_program():
    here = {"README": 1, "audit": 3, "rare": 1, "worst": 1, "accounting": 1}
    here |= {"events": 1, "allocation": 1, "loaders": 2}
    assert {page: len(programs(page)) for page in here} == here


def test_the_readme_of_the_distribution_needs_no_file_beside_it(monkeypatch):
    plugin = types.ModuleType("hatchling.metadata.plugin.interface")
    plugin.MetadataHookInterface = object
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    alone = runpy.run_path(str(stages.ROOT / "hatch_build.py"))["alone"]
    assert "](" in README
    assert re.findall(r"!?\[[^\]]*\]\((?!https?:|#).*", alone(README)) == []
    kept = "[paper](https://example.org/a) and [below](#rooms)\n"
    assert alone(kept + "![a picture](results/a.png)\n\n[file](LICENSE).") == kept + "file."


def test_the_example_of_a_mechanism_has_the_loss_of_logistic_noise(tmp_path):
    names = run(tmp_path, "mechanism", trials=200)
    params = [0.0, 1.0, 10.0]
    for answer in (-1e4, -30.0, 0.2, 0.5, 40.0, 1e4):
        expected = logistic.logpdf(answer, 0.0, 10.0) - logistic.logpdf(answer, 1.0, 10.0)
        assert names["loss"](params, answer) == pytest.approx(expected, abs=1e-11)
    noise = np.random.default_rng(3)
    drawn = [names["sample"](params, 1, noise) for _ in range(2000)]
    assert abs(np.mean(drawn) - 1.0) < 5.0 * 10.0 * np.pi / np.sqrt(3.0 * 2000)


def table(page):
    rows = [line for line in text_of(page).splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows]


def test_the_table_of_bounds_is_that_of_the_registry():
    advice = "put in what `python -m tests.helpers.bounds_table` prints"
    assert bounds_table.table() in text_of("bounds"), advice


def test_the_table_of_mechanisms_is_what_they_can_do():
    advice = "put in what `python -m tests.helpers.mechanisms_table` prints"
    assert mechanisms_table.table() in text_of("mechanisms"), advice


def test_every_figure_is_in_its_table():
    shown = {
        re.match(r"\[(\w+)\]\((?:\.\./)+results/figures/\1\.png\)", row[0])[1]
        for row in table("figures")
    }
    # A figure is listed once its pictures are there.
    drawn = {path.stem for path in (stages.RESULTS / "figures").glob("*.png")}
    assert shown == drawn == set(stages.names()) & drawn


def test_what_readme_and_the_pages_link_to_is_there():
    found = 0
    for path in [stages.ROOT / "README.md", *PAGES.rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        for link in re.findall(r"\]\((?!\w+:)([^)#]+)(?:#[^)]*)?\)", text):
            found += 1
            made = re.match(r"(\.\./)?(gallery|ledger|lemmas|reference)/", link)
            notebook = stages.ROOT / "experiments" / "notebooks" / Path(link).name
            assert made or (path.parent / link).exists() or notebook.is_file(), (path, link)
        for named in re.findall(
            r"`((?:simulator|experiments|results|tests)/[\w/]*(?:/|\.py))`", text
        ):
            assert named_by(named), (path, named)
        for named in re.findall(r"`(simulator(?:\.\w+)+)`", text):
            assert resolve_name(named) is not None, (path, named)
    assert found > 60


def test_the_lower_ends_of_loaders_are_those_that_are_printed_and_committed(tmp_path, capsys):
    run(tmp_path, "loaders")
    printed = capsys.readouterr().out
    assert printed == printed_below(programs("loaders")[0], text_of("loaders"))
    for row in loaders_table.rows():
        if row["proved"]["1e-05"] is not None and "shuffled" in row["name"]:
            shown = f"at least {math.floor(100.0 * row['proved']['1e-05']) / 100.0:.2f}"
            assert shown in text_of("loaders")
    advice = "put in what `python -m tests.helpers.loaders_table` prints"
    assert loaders_table.table() in text_of("loaders"), advice


def test_shuffled_batches_are_played_as_the_page_does(tmp_path, capsys):
    run(tmp_path, "loaders", 1, trials=60)
    assert float(capsys.readouterr().out) > 0.75


@pytest.mark.nightly
def test_the_numbers_of_dp_sgd_are_those_that_are_printed_and_committed():
    from click.testing import CliRunner

    from simulator.doors.cli import group

    section = text_of("training")
    command = re.search(r"^    dpcompose (bounds .*)$", section, flags=re.MULTILINE)[1]
    printed = CliRunner().invoke(group, command.split()).output
    rows = {
        line.split()[0]: re.search(r"(.*?) +(\d\S*) +(\d\S*) +(\d\S*|inf)  (\S.*)", line).groups()
        for line in printed.splitlines()[2:-1]
        if line[0] != " "
    }
    truth, renyi = rows["privacy-loss-distribution"], rows["rdp-canonne-kamath-steinke"]
    assert f"[{truth[2]}, {truth[3]}]" in section
    game = rows["any-direction"]
    assert truth[0].endswith("certified for that pair")
    assert game[0].endswith("exact")
    assert f"`any-direction`, ε in [{game[2]}, {game[3]}]" in " ".join(section.split())
    assert f"and grant {float(renyi[1]):.3f};" in section
    joined = float(rows["dominating-both-directions"][1])
    assert f"directions**, at {joined:.3f}, which" in " ".join(section.split())

    stored = json.loads(stages.data_path("dp_sgd").read_text(encoding="utf-8"))
    found = stored["data"]["measured"]["mislabelled canary"]
    (alone,) = [one for one in found["black_box"] if one["delta"] == 0.01]
    assert f"proves ε ≥ {math.floor(100.0 * alone['epsilon']) / 100.0:g} at δ = 0.01" in section
    assert f"from {stored['specification']['trials']['mislabelled canary']:,} trials" in section
    lower = zip(stored["data"]["epsilons"], found["1"]["lower"])
    assert f"prove {max(epsilon for epsilon, delta in lower if delta >= 0.01):g}, and" in section


def commands():
    """Every command line of README and of the pages, with its page."""
    for path in [stages.ROOT / "README.md", *sorted(PAGES.rglob("*.md"))]:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        text = re.sub(r"```sh\n(.*?)```", lambda block: indented(block[1]), text, flags=re.DOTALL)
        for line in re.findall(r"(?:^ {4}|^  |\$ |`)dpcompose ([^`\n]+)", text, flags=re.MULTILINE):
            yield path.name, line


def indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_every_command_that_is_printed_is_one(tmp_path, monkeypatch):
    """Each is parsed as a shell would hand it over: its options, and what they may hold."""
    import click

    from simulator.doors.cli import group

    monkeypatch.chdir(tmp_path)
    found = 0
    program = click.Context(group, **group.context_settings)
    for page, line in commands():
        name, *arguments = shlex.split(line.replace("$SLURM_ARRAY_TASK_ID", "1"), comments=True)
        if name.startswith("-") or "NAME" in arguments:
            continue
        command = group.get_command(program, name)
        assert command is not None, (page, line)
        if arguments:  # the name alone is prose
            command.make_context(name, list(arguments), parent=program)
        found += 1
    assert found > 60


def test_the_files_and_targets_that_contributing_names_are_there():
    text = (stages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for room, inside in re.findall(
        r"^\| \w+ \| `(simulator/\w+/)` \| (.*) \|$", text, re.MULTILINE
    ):
        folders = re.findall(r"`(\w+/)`", inside)
        assert [each for each in folders if not (stages.ROOT / room / each).is_dir()] == [], room
    text = text.replace(rooms.table(), "")
    named = {
        path
        for path in re.findall(r"`((?:[\w.]+/)+[\w.]*|[\w.-]+\.(?:md|yaml))`", text)
        if not re.search(r"NAME|SOURCE|THEME|^[.]hypothesis", path)
    }
    assert len(named) > 30
    assert [path for path in sorted(named) if not named_by(path)] == []
    targets = re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE)
    assert set(re.findall(r"(?:`|^    )make ([a-z]+)", text, flags=re.MULTILINE)) <= set(targets)


def named_by(path):
    """Whether a path stands in the project, in the package or, as in its map, in a room."""
    package = Path(simulator.__file__).parent
    return any((base / path).exists() for base in (stages.ROOT, package, *package.iterdir()))
