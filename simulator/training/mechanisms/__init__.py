"""Mechanisms of training: gradient steps, epochs, batches; one file each."""
