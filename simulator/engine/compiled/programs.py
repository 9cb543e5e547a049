"""Play a generator adversary whose source is in the closed form as a compiled rule.

Its program becomes a step over a menu, and the kernels of rules play it: equal draws, equal views,
equal losses. Where the program stops, because Python raises or a number is not held, the block
is played in Python, which draws the same from the block's seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.compiled.compiling import numba_is_installed
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine, psi_bound
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import RoundByRound, require_digits
from simulator.engine.specification import Played, Specification
from simulator.foundations.errors import Breach, DpcomposeError, NotApplicable


@dataclass(frozen=True)
class ProgramEngine:
    """A kernel that plays a program, and Python where the program stops."""

    kernel: Engine | TiltedEngine
    complaint: str = ""
    compiled: bool = True

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b``."""
        s = specification
        try:
            require_free_digits(self.kernel, s)
            return self.kernel.play_block(s, b, block)
        except DpcomposeError:  # Python raises the same, where it does
            return play_as_generator(s, b, block)


def program_engine(specification: Specification) -> ProgramEngine:
    """The engine of a generator's program; raises NotApplicable, with the reason.

    ``NotRead``, of its kind, names the file, the line and the construct.
    """
    s = specification
    if not numba_is_installed():
        raise NotApplicable("numba is not installed")
    kind = Engine if s.sampling is None else TiltedEngine
    kernel = kind.build(*Played.of(s).terms)
    if kernel.complaint:
        raise NotApplicable(kernel.complaint)
    return ProgramEngine(kernel)


def require_free_digits(kernel: Engine | TiltedEngine, specification: Specification) -> None:
    """Raise Breach where a computed parameter may have a tilted law without correct digits.

    Python checks every law that it meets.
    """
    sampling = specification.sampling
    if not isinstance(kernel, TiltedEngine) or not kernel.menus[0].any_free:
        return
    assert isinstance(sampling, RoundByRound)
    for theta in sampling.levels.tolist():
        for menu in kernel.menus:
            for entry in range(len(menu.kind)):
                if menu.is_free(entry):
                    if theta < 0.0:
                        raise Breach("a free parameter under a negative theta")
                    require_digits("this mechanism", theta, psi_bound(menu, entry, theta))
