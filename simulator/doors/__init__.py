"""The command line and the pytest plugin: they parse, call and print."""
