"""Notes which files and folders of the project a Python process reads.

Python imports a module of this name as it starts, where its folder is on PYTHONPATH: in each
process that is started while a result is made, so that workers count as well. A module that is
loaded from its cached byte code is noted by the file of the cache. A folder is noted, with a slash,
where its names are listed by anything but an import. An error that ends a process is noted with the
process's number. What cannot be noted raises, as a result must not seem to depend on less, but in
a process whose files are limited in size on purpose. Ctrl-C cannot be caught yet: little is
imported.
"""

import errno
import os
import sys

LOG, ROOT = "DPCOMPOSE_READ", "DPCOMPOSE_ROOT"
LISTINGS = ("os.listdir", "os.scandir")


def _watch(log: str, root: str) -> None:
    noted = set()

    def write(line: str) -> None:
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, (line + "\n").encode())
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
        finally:
            os.close(descriptor)

    def note(event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, str) or flags & (os.O_WRONLY | os.O_RDWR):
                return
            end = ""
        elif event in LISTINGS:
            path, end = arguments[0], "/"
            path = os.fspath(path) if isinstance(path, os.PathLike) else path or "."
            importing = sys._getframe(1).f_code.co_filename.startswith("<frozen importlib")
            if importing or not isinstance(path, str):
                return
        else:
            return
        if (path, end) in noted:
            return
        noted.add((path, end))
        for whole in {os.path.abspath(path), os.path.realpath(path)}:
            if whole.startswith(root) and os.path.exists(whole):
                write(whole + end)

    def ended(kind: type[BaseException], error: BaseException, trace: object) -> None:
        write(f"!{os.getpid()}")
        before(kind, error, trace)  # type: ignore[arg-type]

    before, sys.excepthook = sys.excepthook, ended
    sys.addaudithook(note)


if LOG in os.environ and ROOT in os.environ:
    _watch(os.environ[LOG], os.path.join(os.environ[ROOT], ""))
