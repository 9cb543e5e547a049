"""Notes which files and folders of the project a Python process reads, and their states then.

Python imports a module of this name as it starts, where its folder is on PYTHONPATH: in each
process that is started while a result is made, so that workers count as well. A module that is
loaded from its cached byte code is noted by its source. A folder is noted, with its names, where
they are listed by anything but an import. An error that ends a process is noted with the process's
number. What cannot be noted raises, as a result must not seem to depend on less, but in a process
whose files are limited in size on purpose. Ctrl-C cannot be caught yet: little is imported.
"""

import errno
import os
import sys

LOG, ROOT = "DPCOMPOSE_READ", "DPCOMPOSE_ROOT"
LISTINGS = ("os.listdir", "os.scandir")
IMPORTING = ("<frozen importlib", os.path.join("importlib", "metadata"))
CACHE = "__pycache__"


def source(path: str) -> str:
    """The file itself; of one in a cache of byte code, or of kernels, the source."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != CACHE:
        return path
    return os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")


def state(path: str) -> str:
    """What of a file or a folder differs once it is another one; "" where there is none.

    Of a folder, whose path ends with a slash, it is its names, separated by slashes.
    """
    try:
        if path.endswith("/"):
            return "/".join(sorted(each for each in os.listdir(path) if each[0] not in "._"))
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _watch(log: str, root: str) -> None:
    noted = set()

    def write(name: str, now: str = "") -> None:
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, os.fsencode(f"{name}\0{now}\0"))
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
        finally:
            os.close(descriptor)

    def note(event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int) or flags & (os.O_WRONLY | os.O_TRUNC):
                return
            end = ""
        elif event in LISTINGS:
            path, end = arguments[0] or ".", "/"
            code = sys._getframe(1).f_code
            if code is state.__code__ or any(each in code.co_filename for each in IMPORTING):
                return
            if isinstance(path, int):
                return
        else:
            return
        path = os.path.abspath(os.fsdecode(path))
        if (path, end) in noted:
            return
        for whole in {path, os.path.realpath(path)}:
            name = os.path.join(whole, "") if end or os.path.isdir(whole) else source(whole)
            if whole.startswith(root) and os.path.exists(name):
                write(name, state(name))
        noted.add((path, end))

    def ended(kind: type[BaseException], error: BaseException, trace: object) -> None:
        write(f"!{os.getpid()}")
        before(kind, error, trace)  # type: ignore[arg-type]

    before, sys.excepthook = sys.excepthook, ended
    sys.addaudithook(note)


if __name__ == "sitecustomize" and LOG in os.environ and ROOT in os.environ:
    _watch(os.environ[LOG], os.path.join(os.environ[ROOT], ""))
