"""One script per figure; its contract is :class:`experiments.stages.Script`."""
