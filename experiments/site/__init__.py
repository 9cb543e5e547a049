"""The site: pages written by hand, and pages made of the ledger, the figures and the docstrings.

``python -m experiments.site`` lays all sources out in ``build/site/source`` and runs Sphinx on
them, into ``build/site/html``. Nothing of it needs a network once it is built.
"""
