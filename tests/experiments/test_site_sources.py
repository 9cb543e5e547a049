"""The site's sources have every claim, figure, notebook and public name, and no dead link."""

import importlib
import json
import re
import runpy
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import stages
from experiments.notebooks import running
from experiments.results.digests import code
from experiments.site import (
    assemble,
    claim_pictures,
    docstrings,
    knobs,
    ledger,
    links,
    played,
    reference,
)
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
    return assemble.assemble(folder / "made", {"bob": played_again("zhang2020-bob")}, scripts)


def played_again(*ids):
    """Claims, played now."""
    claims = [find(id) for id in ids]
    checks = {claim.id: played.digest_of_check(claim) for claim in claims}
    uses = ("experiments/site/knobs.py",)
    sweeps = {claim.id: knobs.turned(claim) for claim in claims}
    return played.Played(uses, played.digest_of(uses), checks, sweeps)


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


def test_sweeps_are_kept_and_read_again(tmp_path):
    found = {"a": played_again("zhang2020-bob-corollary"), "b": played_again("zhang2020-bob")}
    played.write(found, tmp_path / "knobs.json")
    assert played.load(tmp_path / "knobs.json") == found
    with pytest.raises(InvalidInput, match="run: make knobs"):
        played.load(tmp_path / "none.json")


STORED = played.load()


def test_every_claim_has_sweeps_of_its_present_check_and_result():
    """After a change of a check, a knob or results/claims.json: make knobs."""
    wanted = played.groups()
    assert list(STORED) == list(wanted)
    assert [f for name, claims in wanted.items() for f in played.faults(claims, STORED[name])] == []


def test_a_stale_or_missing_sweep_is_found():
    claim = find("zhang2020-bob")
    own = STORED[claim.written[0]]
    (sweep, *_) = own.sweeps[claim.id]

    def stored(**changed):
        return replace(own, sweeps={**own.sweeps, claim.id: [replace(sweep, **changed)]})

    assert played.faults([claim], stored()) == []
    assert played.faults([claim], None) == ["zhang2020-bob has no sweep"]
    assert "check" in played.faults([claim], replace(own, checks=dict.fromkeys(own.checks, "")))[0]
    assert "other knobs" in played.faults([claim], stored(knob="another"))[0]
    turns = tuple(replace(t, slack=9.0) for t in sweep.turns)
    for changed in ({"turns": turns}, {"default": 802}, {"turns": ()}, {"altered": 1}):
        assert "another result" in played.faults([claim], stored(**changed))[0], changed


def test_a_page_says_whether_its_pictures_are_of_the_present_code(source):
    page = text(source, "ledger/zhang2020-bob.md")
    assert "what the check calls is the same today" in page
    old = replace(STORED[find("zhang2020-bob").written[0]], digest="")
    assert "has changed since:** run `make knobs`" in ledger.picture(find("zhang2020-bob"), old)


def test_comments_and_docstrings_are_no_code():
    plain = 'def f(x):\n    "Half."\n    return x / 2  # of it\n'
    same = 'def f(x):\n    """Half of x."""\n\n    return x / 2\n'
    assert code(plain) == code(same)
    assert code(plain) != code(plain.replace("2", "3"))
    assert code('class A:\n    "None."\n')  # nothing is left, and no error


def test_what_is_stored_names_the_files_that_checks_call():
    for name, each in STORED.items():
        assert name.replace(".", "/") + ".py" in each.uses or any(
            "/ledger/theorems/" in file or "/ledger/shared/" in file for file in each.uses
        ), name
        assert "experiments/site/knobs.py" in each.uses
        assert not any(file.startswith((".venv", "build")) for file in each.uses)


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(STORED, key=len))
def test_playing_again_finds_what_is_stored(name):
    """Of each file of the ledger, the claims with the fewest values."""
    least = sorted(STORED[name].sweeps, key=lambda id: -len(STORED[name].sweeps[id][0].turns))[:1]
    for id in least:
        stored = {(s.knob, t.value): t for s in STORED[name].sweeps[id] for t in s.turns}
        for sweep in knobs.turned(find(id)):
            for turn in sweep.turns:
                before = stored.get((sweep.knob, turn.value))
                if before is None or before.verdict is None or turn.verdict is None:
                    continue  # one of them had no time for it
                assert (turn.verdict, turn.slack) == (before.verdict, pytest.approx(before.slack))


def test_every_page_stands_in_one_table_of_contents_or_is_linked(source):
    """Sphinx warns of a page that stands in none, or in several: an error of the build."""
    listed, linked, orphans = Counter(), set(), set()
    for path in source.rglob("*.md"):
        content = path.read_text(encoding="utf-8")
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", content, re.S):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed.update((path.parent / entry).resolve() for entry in entries)
        linked |= {(path.parent / link).resolve() for link in LINK.findall(content)}
        if content.startswith("---\norphan: true\n---\n"):
            orphans.add(path.resolve())
    pages = {p.resolve() for p in [*source.rglob("*.md"), *source.rglob("*.ipynb")]}
    assert set(listed.values()) == {1}
    assert {page.with_suffix("") for page in pages - orphans} == {
        *listed, source.resolve() / "index"
    }  # fmt: skip
    assert orphans <= linked
    assert {page.parent.name for page in orphans} == {"gallery", "ledger"}


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
