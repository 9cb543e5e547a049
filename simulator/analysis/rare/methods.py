"""The names of the methods for rare events.

- ``doob``: exact, by recursion over the states and losses of an adversary.
- ``covering``: a measure that covers every path of an adversary whose states can be enumerated.
- ``plain``: the experiment itself.
- ``tilted``: one theta, from a pilot.
- ``steered``: theta by round and loss, learnt by cross-entropy.
- ``guarded``: that, mixed with a measure that bounds its weights.
- ``splitting``: paths that reach a level are cloned.
- ``auto``: the first that applies of doob; covering; plain if it suffices; one theta whose weights
  are bounded in advance; guarded.
"""

METHODS = (
    "auto", "doob", "covering", "plain", "tilted", "steered", "guarded", "splitting",
)  # fmt: skip
