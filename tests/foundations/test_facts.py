"""Results on one line, and as a table."""

from simulator import Composition, PureDP, bounds_for, simulate
from simulator.auditing import audit
from simulator.foundations.facts import ShownByFacts
from simulator.worst import worst_case


class Answer(ShownByFacts):
    def facts(self):
        return {"name": "<b>", "value": "3"}


def test_facts_are_a_line_and_a_table():
    assert repr(Answer()) == "<Answer: name <b>, value 3>"
    assert "<th>value</th><td>3</td>" in Answer()._repr_html_()
    assert "&lt;b&gt;" in Answer()._repr_html_()


def test_results_are_short_on_a_line():
    results = [
        worst_case("randomized-response:0.3", rounds=3, epsilon=0.5),
        audit(lambda data, rng: len(data), [1], [], claimed="pure:1", samples=100),
        simulate("fixed-worst-case", "pure:0.2", 3, 100, progress=False),
    ]
    for result in results:
        assert len(repr(result)) < 300
        assert result._repr_html_().startswith("<table>")
    assert "verdict violated" in repr(results[1])
    shown = repr(bounds_for(Composition.repeat(PureDP(0.1), 10))[0])
    assert shown == "<basic of 10 x pure:0.1>"
