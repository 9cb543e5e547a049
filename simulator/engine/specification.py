"""The frozen description of a run; equal specifications give equal results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import cloudpickle

from simulator.adversaries.contract import Challenge, Rule, is_of_library, name_of
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.outcomes import bins
from simulator.engine.sampling import Covering, Sampling
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.single_flight import made_once
from simulator.foundations.validation import whole
from simulator.identity.compiled_helpers import renew_compiled
from simulator.identity.fingerprint import FORMAT, Fingerprint, Walk, fingerprint
from simulator.mechanisms import Free, ScalarMechanism
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee

SMALL_BLOCK_ROUNDS, LARGE_BLOCK_ROUNDS = 1 << 17, 1 << 22
"""Rounds per block, some tenths of a second in Python and compiled, so that Ctrl-C loses little."""


WHOLE = {"rounds": 1, "trials": 1, "seed": 0, "keep_views": 0, "block_size": 0}
"""The least value of each whole number."""

KEPT = ("losses", "summary")
"""The values of ``keep``."""

SUMMARY_ABOVE = 10**7
"""Trials of each experiment above which losses are counted by default."""
MOST_ROUNDS = 10**15
"""Most rounds of one trial, which cannot be divided among workers."""

GOAL = ("trials", "keep_views")
"""The fields that may be raised for a stored run; its blocks are part of the larger run."""

DRAWS = "seeded by the kind of measure"
"""The stream of draws under a measure, which a stored run has to have in order to go on."""

MADE_OF = ("adversary", "family", "relation", "sampling", "filter")
"""The fields that may hold a user's code."""


@dataclass(frozen=True)
class Specification:
    """Everything that a result depends on, besides the version of the code.

    Attributes
    ----------
    adversary : a generator function or a Rule.
    family : the class M that the mechanisms must belong to.
    rounds : k, at least 1.
    trials : how often each experiment is played.
    seed : the root seed.
    relation : when two databases are neighbours.
    block_size : trials that share one seed; 0 chooses it from the number of rounds and the kind
        of adversary.
    keep_views : the number of first trials whose views are kept.
    trace : whether to record the moments of the loss along the rounds.
    sampling : the measure to draw from when large losses are rare; None draws from the
        experiments themselves.
    filter : a privacy filter that admits or refuses every query; a refused query is not run, costs
        nothing, and has the answer NaN.
    keep : "losses" to keep every loss, "summary" to count them (``bins``);
        None for losses up to SUMMARY_ABOVE trials. No draw depends on it.
    trust : if False the challenges that are sent are recorded, so that their declared likelihoods
        can be tested. No number depends on it.
    task : a number that seeds the draws, made from names and numbers only, and from the kind of
        the measure: its parameters may be computed, and differ by an ulp between processors.
    code : the fingerprint of the adversary and of all other fields that may hold a user's code,
        taken when the specification is made. A kernel is compiled per fingerprint.
    """

    adversary: Callable[..., Any]
    family: Guarantee
    rounds: int
    trials: int
    seed: int = 0
    _: KW_ONLY
    relation: Relation = ADD_REMOVE
    block_size: int = 0
    keep_views: int = 0
    trace: bool = False
    sampling: Sampling | None = None
    filter: Filter | None = None
    trust: bool = True
    keep: str | None = None
    task: int = field(init=False, repr=False, default=0)
    code: Fingerprint = field(init=False, repr=False, default=Fingerprint(()))

    def __post_init__(self) -> None:
        if not callable(self.adversary):
            raise InvalidInput(
                f"the adversary must be a generator function or a Rule, not {self.adversary!r:.80}"
            )
        if not isinstance(self.family, Guarantee):
            raise InvalidInput(
                f"the family must be a guarantee such as PureDP(0.2), not {self.family!r:.80}"
            )
        self._check_play()
        for name, least in WHOLE.items():  # plain integers in place of numpy's, for equal draws
            object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if self.rounds > MOST_ROUNDS:
            raise InvalidInput(
                f"rounds must be at most {MOST_ROUNDS}, not {self.rounds}: one trial would take "
                "months"
            )
        walk = Walk()
        object.__setattr__(self, "code", self.code_now(walk))
        renew_compiled(walk)
        if self.block_size == 0:
            budget = LARGE_BLOCK_ROUNDS if self._is_surely_read else SMALL_BLOCK_ROUNDS
            object.__setattr__(self, "block_size", max(1, min(1 << 16, budget // self.rounds)))
        self._check_keep()
        kind = "None" if self.sampling is None else self.sampling.kind
        seeding = self.describe() | {"sampling": kind}
        text = repr(sorted((k, v) for k, v in seeding.items() if k != "trials"))
        digest = hashlib.sha256(text.encode()).digest()
        object.__setattr__(self, "task", int.from_bytes(digest[:8], "big"))

    def _check_play(self) -> None:
        if not isinstance(self.relation, Relation):
            raise InvalidInput(
                "the relation must be ADD_REMOVE or REPLACE_ONE, or a Group of one, not "
                f"{self.relation!r}"
            )
        if not isinstance(self.sampling, Sampling | None):
            raise InvalidInput(
                f"sampling must be a measure such as Tilted(3.0), or None, not {self.sampling!r}"
            )
        if not isinstance(self.filter, Filter | None):
            searched = "; worst_case searches one with admit()" * hasattr(self.filter, "admit")
            raise InvalidInput(
                "filter must be None or a Filter: a name as 'sum:1', SumFilter(1.0), or an object "
                f"of a subclass of Filter with name, initial and step, not {self.filter!r:.80}"
                f"{searched}"
            )
        if self.keep_views and isinstance(self.sampling, Covering):
            raise InvalidInput(
                "a covering measure plays the states of the rule and has no views: leave out "
                "keep_views, or use another sampling"
            )
        if self.trace and self.sampling is not None:
            raise InvalidInput(
                "trace records the moments of plain play, not of another measure: leave out "
                "either trace or sampling"
            )

    def _check_keep(self) -> None:
        if self.keep not in (None, *KEPT):
            raise InvalidInput(f"keep must be 'losses', 'summary' or None, not {self.keep!r}")
        if self.summarises and self.trials > bins.MOST:
            raise InvalidInput(
                f"the losses of {self.trials} trials do not fit into memory, and a summary counts "
                f"{bins.MOST} at most; play fewer trials"
            )

    @property
    def summarises(self) -> bool:
        """Whether the losses are counted and not kept: by ``keep``, or by the number of trials."""
        if self.keep is None:
            return self.trials > SUMMARY_ABOVE
        return self.keep == "summary"

    @property
    def program(self) -> Rule | str:
        """The adversary as a rule over a menu, or why it is not read as one.

        It is the rule itself, or the program that a generator's source is. The text is a line of
        the first construct that is not in the closed form, or of a menu that needs Python.
        """
        if isinstance(self.adversary, Rule):
            return self.adversary
        return program_of(Played.of(self))

    @property
    def is_read(self) -> bool:
        """Whether the adversary is known as a rule over a menu, however it is written."""
        return isinstance(self.program, Rule)

    @property
    def has_whole_menu(self) -> bool:
        """Whether every challenge that can be met is on a menu.

        A program whose parameters are numbers of its own has an interval of them, of which most
        are never met.
        """
        program = self.program
        if program is self.adversary:
            return True
        return isinstance(program, Rule) and not any(map(has_free_number, program.menu))

    @property
    def _is_surely_read(self) -> bool:
        """Whether the adversary is read on every machine; a user's source may not be there."""
        return isinstance(self.adversary, Rule) or (is_of_library(self.adversary) and self.is_read)

    @property
    def observes(self) -> bool:
        """Whether a filter depends on the realised losses."""
        return self.filter is not None and self.filter.observes

    @property
    def blocks(self) -> int:
        """How many blocks each experiment has."""
        return -(-self.trials // self.block_size)

    def trials_in(self, block: int) -> int:
        """How many trials block number ``block`` plays."""
        return min(self.block_size, self.trials - block * self.block_size)

    def views_in(self, block: int) -> int:
        """How many of the block's first trials keep their views."""
        return max(0, min(self.trials_in(block), self.keep_views - block * self.block_size))

    @property
    def name(self) -> str:
        """The adversary's name."""
        return name_of(self.adversary)

    def beginning(self, trials: int) -> Specification:
        """The play of the first so many trials of block 0, without a trace; of the same draws."""
        few = object.__new__(type(self))
        views = min(trials, self.keep_views)
        few.__dict__.update(self.__dict__, trials=trials, keep_views=views, trace=False)
        return few

    def describe(self) -> dict[str, Any]:
        """The names and numbers that name the play; equal descriptions have equal draws."""
        return {
            "adversary": self.name,
            "family": str(self.family),
            "rounds": self.rounds,
            "trials": self.trials,
            "seed": self.seed,
            "relation": str(self.relation),
            "block_size": self.block_size,
            "sampling": str(self.sampling),
            "filter": str(self.filter),
        }

    def code_now(self, walk: Walk | None = None) -> Fingerprint:
        """The fingerprint of all fields that may hold a user's code, in their current state."""
        return fingerprint(walk, **{name: getattr(self, name) for name in MADE_OF})

    def require_unchanged(self) -> None:
        """Raise InvalidInput where the code has changed since the specification was made."""
        if (now := self.code_now()) != self.code:
            before = dict(self.code.parts)
            changed = [name for name, digest in now.parts if before.get(name) != digest]
            raise InvalidInput(
                f"the {' and the '.join(changed) or 'adversary'} of {self.name} has changed since "
                "the specification was made (a function, or a value that it looks up): make a new "
                "specification"
            )

    def identity(self) -> dict[str, Any]:
        """The description and all else that the recorded result depends on, except the goal."""
        described = {name: value for name, value in self.describe().items() if name not in GOAL}
        if self.sampling is not None:
            described["draws"] = DRAWS
        return described | {
            "trace": self.trace,
            "fingerprint_format": FORMAT,
            "code": dict(self.code.parts),
            "not_covered": list(self.code.not_covered),
        }

    def goal(self) -> dict[str, int]:
        """The fields that may be raised while every played block is kept."""
        return {name: getattr(self, name) for name in GOAL}

    def __getstate__(self) -> dict[str, Any]:
        # plain pickle refuses functions that cannot be imported by name
        state = dict(self.__dict__)
        made_of = {name: state.pop(name) for name in MADE_OF}
        return state | {"made_of": cloudpickle.dumps(made_of)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = dict(state)
        self.__dict__.update(cloudpickle.loads(own.pop("made_of")) | own)


@dataclass(frozen=True)
class Played:
    """The cache key of a specification's kernel and menu.

    Equality of rules is not enough: the globals of a step are read once for its program, and 0
    equals 0.0.
    """

    code: tuple[tuple[str, str], ...]
    rule: int
    specification: Specification = field(compare=False)  # kept, so that the rule's id is not reused

    @classmethod
    def of(cls, specification: Specification) -> Played:
        """The key of the specification's kernel."""
        code = specification.code
        parts = tuple(part for part in code.parts if part[0] != "sampling")
        # parts that a fingerprint does not cover may differ between two rules
        return cls(parts, id(specification.adversary) if code.not_covered else 0, specification)

    @property
    def terms(self) -> tuple[Rule, Guarantee, Relation, Filter | None]:
        """The program, and the terms under which its menu is checked; raises NotApplicable."""
        s = self.specification
        program = s.program
        if isinstance(program, str):
            raise NotApplicable(program)
        return program, s.family, s.relation, s.filter


def has_free_number(entry: Challenge) -> bool:
    """Whether an entry of a menu has a parameter that a program computes."""
    mechanism = entry.mechanism
    return isinstance(mechanism, ScalarMechanism) and isinstance(mechanism.parameter, Free)


@made_once(maxsize=64)
def program_of(played: Played) -> Rule | str:
    """The program of a generator whose menu is within the family, or why there is none.

    It does not depend on the machine: numba need not be installed.
    """
    from simulator.adversaries.program.rules import rule_of_generator
    from simulator.engine.compiled.menu import Menu

    s = played.specification
    try:
        rule = rule_of_generator(s.adversary, s.family, s.relation)
        for exchanged in (False, True):
            Menu.of(rule, s.family, s.relation, s.filter, exchanged)
    except Exception as error:  # the user's code may raise anything
        return str(error) or type(error).__name__
    return rule
