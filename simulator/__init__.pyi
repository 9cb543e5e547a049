from . import adversaries, analysis, data, errors, mechanisms, runner, theory
from .adversaries import rule
from .analysis.rare import estimate_rare
from .analysis.result import Result
from .analysis.simulate import simulate
from .analysis.verification import verify
from .data.databases import Database
from .data.queries import counting_query
from .mechanisms import Gaussian, Laplace, RandomizedResponse
from .theory.bounds.composition import Composition
from .theory.bounds.registry import bounds_for
from .theory.events import Account
from .theory.guarantees.pure import PureDP

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
