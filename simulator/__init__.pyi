from . import (
    adversaries as adversaries,
    analysis as analysis,
    data as data,
    errors as errors,
    mechanisms as mechanisms,
    runner as runner,
    theory as theory,
)
from .adversaries import rule as rule
from .analysis.rare import estimate_rare as estimate_rare
from .analysis.result import Result as Result
from .analysis.simulate import simulate as simulate
from .analysis.verification import verify as verify
from .data.databases import Database as Database
from .data.queries import counting_query as counting_query
from .mechanisms import (
    Gaussian as Gaussian,
    Laplace as Laplace,
    RandomizedResponse as RandomizedResponse,
)
from .theory.bounds.composition import Composition as Composition
from .theory.bounds.registry import bounds_for as bounds_for
from .theory.events import Account as Account
from .theory.guarantees.pure import PureDP as PureDP

__version__: str

__all__ = [
    "Account",
    "Composition",
    "Database",
    "Gaussian",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "Result",
    "__version__",
    "adversaries",
    "analysis",
    "bounds_for",
    "counting_query",
    "data",
    "errors",
    "estimate_rare",
    "mechanisms",
    "rule",
    "runner",
    "simulate",
    "theory",
    "verify",
]
