import hashlib

import pytest

from simulator.data import datasets
from simulator.data.queries import counting_query, histogram_query
from simulator.foundations.errors import InvalidInput


def test_the_patients_are_those_of_the_published_table():
    patients = datasets.load("breast_cancer")
    assert patients.size == len(list(patients.records())) == 569
    by_diagnosis = histogram_query(["malignant", "benign"], by="diagnosis")
    assert by_diagnosis(patients).tolist() == [212, 357]
    first = next(iter(patients))
    assert len(first) == 31
    assert (first.mean_radius, first.worst_fractal_dimension) == (17.99, 0.1189)
    # Ranges as printed in the table's own description.
    assert min(r.mean_radius for r in patients) == 6.981
    assert max(r.worst_area for r in patients) == 4254.0


def test_the_irises_are_fishers():
    irises = datasets.load("iris", ["species", "petal_length_cm"])
    kinds = ["setosa", "versicolor", "virginica"]
    assert histogram_query(kinds, by="species")(irises).tolist() == [50, 50, 50]
    assert counting_query(lambda iris: iris.petal_length_cm > 2.0)(irises) == 100


@pytest.mark.parametrize("name", datasets.names())
def test_the_files_are_those_that_the_readme_describes(name):
    file = datasets.path(name)
    readme = (file.parent / "README.md").read_text(encoding="utf-8")
    assert f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" in readme


def test_an_unknown_table_is_refused():
    with pytest.raises(InvalidInput, match="no table 'mnist'; there are breast_cancer, iris"):
        datasets.load("mnist")
