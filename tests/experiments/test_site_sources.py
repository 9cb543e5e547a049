"""The site's sources have every claim, figure, notebook and public name, and no dead link."""

import importlib
import json
import re
import runpy
import time
from pathlib import Path

import pytest

from experiments import stages
from experiments.notebooks import running
from experiments.site import assemble, claim_pictures, docstrings, knobs, ledger, links, reference
from simulator.foundations.errors import InvalidInput
from simulator.teaching.claims import Verdict, all_claims, find
from tests.helpers.public import NAMESPACES

PAGES = Path(assemble.__file__).parent / "pages"
LINK = re.compile(r"(?<!!)\[(?:[^\]]*)\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    scripts = folder / "tex-svg.js"
    scripts.write_text("")
    sweeps = {"zhang2020-bob": knobs.turned(find("zhang2020-bob"))}
    return assemble.assemble(folder / "made", sweeps, scripts)


def text(source, name):
    return (source / name).read_text(encoding="utf-8")


def test_every_claim_has_a_page_with_its_statement_verdict_and_knobs(source):
    results = ledger.committed()
    for claim in all_claims():
        page = text(source, f"ledger/{claim.id}.md")
        assert docstrings.plain(claim.statement) in page
        assert results[claim.id]["verdict"] in page
        assert f"dpcompose claims {claim.id}\n" in page
        assert all(f"| `{name}` |" in page for name in claim.parameters)
        assert f"[{claim.id}]({claim.id}.md)" in text(
            source, f"ledger/source-{claim.source.key}.md"
        )


def test_how_a_claim_is_checked_is_said_in_words():
    assert ledger.how({"method": "simulation", "false_alarm": 0.0}) == (
        "simulated; never blames a true claim"
    )
    assert ledger.how({"method": "both", "false_alarm": 1e-6}).endswith("probability 1e-06 at most")
    assert ledger.how({"method": "exact", "false_alarm": None}) == "computed"


def test_a_claim_that_is_not_in_the_committed_results_is_an_error(tmp_path):
    stored = json.loads((stages.RESULTS / "claims.json").read_text(encoding="utf-8"))
    (tmp_path / "claims.json").write_text(json.dumps(stored[1:]), encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"differ in {stored[0]['id']}; run: make claims"):
        ledger.committed(tmp_path / "claims.json")


def test_every_figure_has_a_page_with_its_picture_and_code(source):
    for name in stages.names():
        page = text(source, f"gallery/{name}.md")
        assert f"{name}.svg" in page
        assert f"literalinclude}} {name}.py" in page
        for kind in ("svg", "png", "json", "py"):
            assert (source / "gallery" / f"{name}.{kind}").stat().st_size > 0
        assert f"({name}.md)" in text(source, "gallery/index.md")


def test_every_notebook_is_there_and_in_the_plan(source):
    for path in running.paths():
        assert (source / "class" / path.name).read_bytes() == path.read_bytes()
        assert text(source, "class/index.md").count(path.stem) >= 3  # table, download, toctree


def test_every_public_name_is_in_the_reference(source):
    for room in reference.ROOMS:
        page = text(source, f"reference/{room}.md")
        for name in importlib.import_module(room).__all__:
            assert name.startswith("__") or re.search(rf"\b{name}\b", page), (room, name)


def test_the_modules_of_the_reference_are_the_public_ones():
    assert sorted(reference.ROOMS) == sorted({"simulator", *NAMESPACES})


def test_no_link_of_the_sources_is_dead(source):
    dead, found = [], 0
    for path in [*source.rglob("*.md"), *source.rglob("*.ipynb")]:
        prose = path.read_text(encoding="utf-8")
        for link in LINK.findall(re.sub(r"```.*?```", "", prose, flags=re.S)):
            if re.match(r"[\w./-]+\.(md|ipynb|svg|png)$", link):
                found += 1
                if not (path.parent / link).exists():
                    dead.append((path.name, link))
    assert dead == []
    assert found > 300


def test_a_page_is_written_again_only_when_it_changes(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, files in ((old, {"a": "1", "b": "1", "c": "1"}), (new, {"a": "1", "b": "2"})):
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
    before = (old / "a").stat().st_mtime_ns
    assemble.replace(old, new)
    assert {path.name: path.read_text() for path in old.iterdir()} == {"a": "1", "b": "2"}
    assert (old / "a").stat().st_mtime_ns == before


ELSEWHERE = {
    "accounting", "allocation", "audit", "ci", "deploy", "events", "loaders", "rare", "worst",
}  # fmt: skip
"""Pages whose programs have tests elsewhere: test_readme.py, test_deploy_page.py, the plugin's."""

PROGRAMS = [
    pytest.param(program, id=f"{path.stem}-{number}")
    for path in sorted(PAGES.rglob("*.md"))
    if path.stem not in ELSEWHERE
    for number, program in enumerate(
        re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
    )
    if "def test_" not in program
]


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_run_as_they_stand(tmp_path, program, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    path = tmp_path / "program.py"
    path.write_text(re.sub(r"trials=[\d_]+", "trials=200", program), encoding="utf-8")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_tutorials_programs_print_what_it_says(tmp_path, capsys):
    page = (PAGES / "tutorial.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n([^`]*)```\n(?:\nIt prints:\n)?\n```text\n([^`]*)```", page)
    assert len(shown) == 2
    for program, printed in shown:
        path = tmp_path / "program.py"
        path.write_text(program, encoding="utf-8")
        runpy.run_path(str(path), run_name="__main__")
        assert capsys.readouterr().out == printed


def test_what_the_pages_say_of_their_programs_is_so(tmp_path, capsys):
    found = {}
    for name in ("filter", "bound", "auditors"):
        page = (PAGES / "howto" / f"{name}.md").read_text(encoding="utf-8")
        path = tmp_path / f"{name}.py"
        path.write_text(re.search(r"```python\n(.*?)```", page, re.S)[1], encoding="utf-8")
        found[name] = runpy.run_path(str(path), run_name="__main__")
    assert found["filter"]["found"].delta.lower > 0.3
    printed = capsys.readouterr().out
    tried = {(line[:15].strip(), line[16:36].strip()): line for line in printed.splitlines()}
    for noise in ("Laplace", "Gaussian", "randomized response"):
        false = "false too often" in tried["with_shares", noise]
        assert false == (noise != "Gaussian"), noise
        assert "kept" in tried["with_intervals", noise], noise
    words = map(str.split, printed.splitlines())
    rows = [row for row in words if row[-1] in ("refuted", "false")]
    assert [(row[0], row[-1]) for row in rows] == [
        ("10", "refuted"), ("100", "refuted"), ("1000", "false"), ("10000", "false")
    ]  # fmt: skip


def test_a_knob_that_is_turned_changes_the_verdict():
    (denominator, *_) = knobs.turned(find("zhang2020-bob"))
    found = {turn.value: turn.verdict for turn in denominator.turns}
    assert denominator.knob == "denominator"
    assert found[801.0] == Verdict.DOES_NOT_FOLLOW
    assert found[700.0] == Verdict.FAILS
    assert found[1602.0] == Verdict.HOLDS


def test_a_value_that_a_check_refuses_or_does_not_finish_is_a_gap(monkeypatch):
    claim = find("zhang2020-bob")
    assert knobs.turn(claim, "denominator", -1.0).verdict is None
    monkeypatch.setattr(knobs, "WAITING", 1.0)
    with pytest.raises(TimeoutError), knobs.time_limit(1.0):
        time.sleep(60)


def test_the_time_that_counts_is_the_processors():
    with knobs.time_limit(0.3):
        time.sleep(1.0)

    def busy():
        started = time.process_time()
        while time.process_time() - started < 10.0:
            pass

    with pytest.raises(TimeoutError), knobs.time_limit(0.3):
        busy()


def test_what_is_printed_has_its_mark_however_little_time_there_is(monkeypatch):
    """Claims that there was no time for had an empty picture."""
    monkeypatch.setattr(knobs, "SECONDS_A_CLAIM", 0.0)
    claim = find("zhang2020-bob")
    (only,) = knobs.turned(claim)
    assert [turn.value for turn in only.turns] == [700.0, 801.0]
    printed = next(turn for turn in only.turns if turn.value == only.default)
    checked = claim.check()
    assert (printed.verdict, printed.slack) == (checked.verdict, pytest.approx(checked.slack))
    assert printed.slack == ledger.committed()[claim.id]["slack"]


def test_sweeps_are_kept_and_read_again(tmp_path, monkeypatch):
    sweep = knobs.turned(find("zhang2020-bob-corollary"))
    stored = {"x": [knobs.plain(each) for each in sweep]}
    (tmp_path / f"knobs-{knobs.fingerprint()}.json").write_text(json.dumps(stored))
    assert knobs.turned_all(tmp_path) == {"x": sweep}


def test_the_picture_of_a_claim_is_the_same_bytes_again(tmp_path):
    sweep = knobs.turned(find("zhang2020-bob"))[0]
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    claim_pictures.save(sweep, first)
    claim_pictures.save(sweep, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("written", "made"),
    [
        (["A |x_i| and x_(i-1)* of ``a|b``."], r"A \|x_i\| and x\_(i-1)\* of ``a|b``."),
        (["See :func:`f`, `g`."], "See :func:`f`, `g`."),
    ],
)
def test_prose_of_docstrings_marks_up_nothing_by_accident(written, made):
    assert docstrings.as_restructured_text(written)[0] == made


def test_sections_of_docstrings_are_lists():
    section = ["Parameters", "----------", "a, b : two *numbers*", "    or more."]
    lines = ["One line.", "", *section, "", "Source: a paper."]
    made = "\n".join(docstrings.as_restructured_text(lines))
    assert ".. rubric:: Parameters" in made
    assert "``a, b``\n    two \\*numbers\\*\n    or more." in made
    assert made.rstrip().endswith("\n\nSource: a paper.")


def test_the_checker_of_links_finds_what_is_broken(tmp_path):
    (tmp_path / "b.html").write_text("<p id=here>")
    (tmp_path / "a.html").write_text(
        "<a href='b.html#here'>1</a><a href='b.html#there'>2</a><a href='c.html'>3</a>"
        "<img src='d.svg'><a href='https://example.org'>4</a>"
        "<script src='https://example.org/x.js'></script>"
    )
    assert links.broken(tmp_path) == [
        "a.html: loads https://example.org/x.js",
        "a.html: no file c.html",
        "a.html: no file d.svg",
        "a.html: no place b.html#there",
    ]
