from . import (
    adversaries,
    analysis,
    claims,
    data,
    errors,
    games,
    mechanisms,
    runner,
    study,
    theory,
    trials,
    worst,
)
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
from .trials.auditing import audit
from .worst import worst_case

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
    "audit",
    "bounds_for",
    "claims",
    "counting_query",
    "data",
    "errors",
    "estimate_rare",
    "games",
    "mechanisms",
    "rule",
    "runner",
    "simulate",
    "study",
    "theory",
    "trials",
    "verify",
    "worst",
    "worst_case",
]
