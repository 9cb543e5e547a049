"""Notes which files of the project a Python process opens for reading.

Python imports a module of this name as it starts, where its folder is on PYTHONPATH: in each
process that is started while a result is made, so that workers count as well. A module that is
loaded from its cached byte code is noted by the file of the cache.
"""

import os
import sys

LOG, ROOT = "DPCOMPOSE_READ", "DPCOMPOSE_ROOT"


def _watch(log: str, root: str) -> None:
    noted = set()

    def note(event: str, arguments: tuple) -> None:
        if event != "open" or arguments[0] in noted:
            return
        path, _, flags = arguments
        if not isinstance(path, str) or flags & (os.O_WRONLY | os.O_RDWR):
            return
        noted.add(path)
        try:
            whole = os.path.realpath(path)
            if whole.startswith(root):
                descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                os.write(descriptor, (whole + "\n").encode())
                os.close(descriptor)
        except OSError:  # an observer must not break what it observes
            pass

    sys.addaudithook(note)


if LOG in os.environ and ROOT in os.environ:
    _watch(os.environ[LOG], os.path.join(os.environ[ROOT], ""))
