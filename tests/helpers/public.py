"""The public modules; see "The public surface" in CONTRIBUTING.md."""

NAMESPACES = (
    "simulator.adversaries",
    "simulator.analysis",
    "simulator.analysis.estimation",
    "simulator.claims",
    "simulator.data",
    "simulator.data.queries",
    "simulator.errors",
    "simulator.games",
    "simulator.mechanisms",
    "simulator.runner",
    "simulator.study",
    "simulator.theory",
    "simulator.theory.events",
    "simulator.trials",
    "simulator.worst",
)
"""The public modules below the root."""
