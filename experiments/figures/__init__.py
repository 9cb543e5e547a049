"""One script a figure; its contract is :class:`experiments.stages.Script`."""
