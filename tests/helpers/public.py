"""The public modules; see "The public surface" in CONTRIBUTING.md."""

NAMESPACES = (
    "simulator.adversaries",
    "simulator.analysis",
    "simulator.analysis.estimation",
    "simulator.attacks",
    "simulator.teaching.claims",
    "simulator.data",
    "simulator.data.queries",
    "simulator.errors",
    "simulator.teaching.games",
    "simulator.teaching.mechanisms",
    "simulator.mechanisms",
    "simulator.runner",
    "simulator.studies",
    "simulator.theory",
    "simulator.theory.events",
    "simulator.auditing",
    "simulator.training",
    "simulator.worst",
)
"""The public modules below the root."""
