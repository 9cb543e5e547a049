"""Whether a result is of today, by the record of what it was made from."""

import json
import shutil
import sys

import pytest

from experiments import results
from experiments.results import __main__ as command
from experiments.results import comparing, digests, listed, making, records
from tests.helpers.toy_result import HELPER, TOY, Project, made, project, use

__all__ = ["made", "project"]


def test_a_page_begins_with_when_it_was_made(project):
    made = records.record_of("toy").made
    first, _, rest = project.read("results/toy.md").partition("\n\n")
    assert first.startswith(f"Made at {made['revision'][:12]} on {made['time'][:10]}, in ")
    assert rest == "# Toy\n\n1\n"
    assert (
        records.stamped(records.stamped(rest, "Made at x"), "Made at y") == f"Made at y\n\n{rest}"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "state"),
    [
        ("toy/helper.py", "# one", "# two", "of today"),
        ("toy/helper.py", "A number", "Some number", "of today"),
        ("toy/helper.py", "return 1", "return 2", "stale"),
        ("toy/deep.py", "1", "2", "stale"),
        ("toy/apart.py", "1", "2", "of today"),
        ("toy/table.csv", "2", "3", "stale"),
        ("pyproject.toml", '"toy"', '"toys"', "of today"),
        ("pyproject.toml", "helper", "deep", "stale"),
        ("pyproject.toml", "toy.apart", "toy.deep", "stale"),
        ("results/toy.json", "1", "2", "edited"),
        ("results/toy.md", "Toy", "Boy", "edited"),
    ],
)
def test_what_a_change_makes_of_a_result(project, name, old, new, state):
    text = project.read(name)
    assert old in text
    project.write(name, text.replace(old, new))
    found = project.status()
    assert found.state == state
    assert found.because == (() if state == "of today" else (name,))


def test_a_file_that_is_gone_is_noticed(project):
    (project.root / "toy/deep.py").unlink()
    assert project.status().because == ("toy/deep.py",)
    (project.root / "results/toy.md").unlink()
    assert (project.status().state, project.status().because) == ("edited", ("results/toy.md",))


def test_a_record_that_cannot_be_read_is_none(project):
    stored = json.loads(project.read("results/made/toy.json"))
    wrong = [{key: stored[key] for key in stored if key != left} for left in stored]
    for text in (
        "",
        "[]",
        '{"read": 1}',
        *map(json.dumps, wrong),
        json.dumps(stored | {"read": {}}),
        json.dumps(stored | {"made": stored["made"] | {"seconds": "1"}}),
        json.dumps(stored | {"made": stored["made"] | {"revision": 1}}),
    ):
        project.write("results/made/toy.json", text)
        assert project.status().state == "without a record"


def test_another_command_makes_a_result_stale(project, monkeypatch):
    other = listed.Listed("toy", Project.toy.files, ("toy", "--more"))
    monkeypatch.setattr(Project, "toy", other)
    assert project.status().because == ("its command",)


def test_a_record_that_a_merge_has_put_together_is_none(project):
    text = project.read("results/made/toy.json")
    assert text.count('"seconds": ') == 1
    project.write("results/made/toy.json", text.replace('"seconds": ', '"seconds": 1'))
    assert project.status().state == "without a record"


def test_the_command_prints_and_fails_where_a_strict_result_is_stale(project, capsys):
    assert command.main(["status", "--strict", "--whole"]) == 0
    made = records.record_of("toy").made
    assert f"s of a processor, on {made['time'][:10]} at" in capsys.readouterr().out
    project.write("toy/deep.py", "depth = 2\n")
    project.write("results/stray.txt", "")
    digests.forget()
    assert command.main(["status"]) == 0
    assert command.main(["status", "--strict"]) == 1
    printed = capsys.readouterr().out
    assert "stale: toy" in printed
    assert "toy/deep.py" in printed
    assert "results/stray.txt is of no result" in printed
    assert command.main(["status", "nothing"]) == 2


def test_differences_name_keys_and_columns():
    def of(json_text, table, page):
        return {"r/a.json": json_text.encode(), "r/b.csv": table.encode(), "r/c.md": page.encode()}

    one = of('{"x": [1, {"y": 2}], "provenance": 1}', "p,q\n1,2\n", "Made at a\n\ntext\n")
    same = of('{"x": [1, {"y": 2}], "provenance": 2}', "p,q\n1,2\n", "Made at b\n\ntext\n")
    other = of('{"x": [1, {"y": 3}], "provenance": 1}', "p,q\n1,3\n", "Made at a\n\nwords\n")
    assert comparing.differences(one, same) == []
    assert comparing.differences(one, other) == ["a.json: y", "b.csv: q", "c.md"]
    assert comparing.differences({}, {"r/c.md": b""}) == ["r/c.md is new"]
    assert comparing.differences({"r/a.json": b"{"}, {"r/a.json": b"{}"}) == ["a.json"]
    assert comparing.differences({"r/a.png": b"1"}, {"r/a.png": b"2"}) == ["a.png"]
    assert comparing.differences({"r/c.md": b"\xe9"}, {"r/c.md": b"2"}) == ["c.md"]
    torn = b'p\n"' + b"1" * 200_000
    assert comparing.differences({"r/b.csv": torn}, {"r/b.csv": b"p\n1\n"}) == ["b.csv"]


def test_every_file_in_results_is_of_one_result():
    owners = {}
    for each in listed.listed().values():
        for name in each.written():
            assert owners.setdefault(name, each.name) == each.name
    assert records.strays() == []


def test_every_planted_defect_is_caught():
    stored = json.loads((digests.ROOT / "results/mutations.json").read_text(encoding="utf-8"))
    assert [label for label, each in stored.items() if not each["caught by"]] == []


def test_every_result_names_results_and_modules_that_are_there():
    everything = listed.listed()
    for each in everything.values():
        module = digests.ROOT.joinpath(*each.command[0].split("."))
        assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), each.name
        assert set(each.after) <= set(everything)
    assert results.__doc__


def test_a_package_beside_a_module_hides_it(project):
    (project.root / "toy/deep").mkdir()
    assert project.status().state == "of today"
    project.write("toy/deep/__init__.py", "depth = 2\n")
    assert project.status().because == ("toy/deep.py",)
    shutil.rmtree(project.root / "toy/deep")
    project.write("toy/deep.abi3.so", "")
    assert project.status().because == ("toy/deep.py",)


def test_a_closed_or_a_full_output_is_one_line(project, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert command.main(["status"]) == 2
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert command.main(["status"]) == 2
    said = capsys.readouterr().err
    assert "standard output: it is closed" in said
    assert "standard output: No space left" in said


def test_a_file_that_is_found_by_listing_makes_a_result_stale(project):
    listing = TOY + "import pkgutil, toy\nnames = list(pkgutil.iter_modules(toy.__path__))\n"
    project.write("toy/__main__.py", listing)
    assert making.make([project.toy]) == 0
    project.write("toy/added.py", "")
    assert project.status().because == ("toy/",)
    (project.root / "toy/added.py").unlink()
    project.write("toy/.hidden", "")
    assert project.status().state == "of today"


def test_a_file_that_is_no_python_is_stale_without_a_traceback(project):
    project.write("toy/deep.py", "<<<<<<< ours\n")
    assert project.status().because == ("toy/deep.py",)
    (project.root / "toy/deep.py").write_bytes(b"depth = 1 # \xe9\n")
    assert project.status().because == ("toy/deep.py",)
    project.write("toy/deep.py", "depth = " + "-" * 20_000 + "1\n")
    assert project.status().because == ("toy/deep.py",)
    project.write("pyproject.toml", "<<<<<<< ours\n")
    assert project.status().because == ("pyproject.toml", "toy/deep.py")


def test_what_is_made_after_a_stale_result_is_stale(project, monkeypatch):
    after = listed.Listed("after", ("after.txt",), ("toy.after",), after=("toy",))
    use(monkeypatch, project, [after])
    project.write("toy/after.py", "open('results/after.txt', 'w').write('1')\n")
    assert making.make([after]) == 0
    assert records.status(after).state == "of today"
    project.write("toy/helper.py", HELPER.replace("return 1", "return 2"))
    digests.forget()
    assert records.status(after).because == ("the result toy",)
