"""The Python SDK, in addition to the contract: what is printed or raised reaches the plugin's log.

`import rookery`, above the classes that are exported, is enough: an exception that none of them catches is logged with the
file and line of each frame, and the server answers 500. `print` writes to the log as well.
"""

import functools
import sys

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import log
from wit_world.imports.log import Level
from wit_world.imports.types import Failure

LONGEST = 4000
"""Characters of a line; a log has no longer ones."""


def failure(status: int, message: str, code: str = "") -> Err:
    """A failure to raise: it becomes the answer."""
    return Err(Failure(status, code, message, None))


def trace(error: BaseException) -> str:
    """The traceback of an error, its causes first. Without the text of the lines: a component has no files."""
    lines = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        lines += [trace(before), "then:"]
    lines.append(f"{type(error).__name__}: {error}")
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        # The folder of the build is mounted as /0.
        file = code.co_filename.removeprefix("/0/")
        if file != "rookery.py":
            lines.append(f"  {file}:{frame.tb_lineno}, in {code.co_name}")
        frame = frame.tb_next
    return "\n".join(lines)


def _reporting(interface: str, work):
    """`work`, whose exceptions are logged and become failures of the contract."""

    @functools.wraps(work)
    def reported(*given):
        # Not before the first call: while the component is built there is no log.
        sys.stdout, sys.stderr = _OUTPUT, _ERRORS
        try:
            return work(*given)
        except Err:
            raise
        except Exception as error:
            log.emit(Level.ERROR, trace(error)[-LONGEST:], [])
            # Its functions fail by a text.
            raise Err(str(error)) if interface == "Lifecycle" else failure(500, "Something went wrong") from None

    return reported


def _watch(interface: str, protocol: type) -> None:
    """Has the functions of every class that implements `protocol` report."""
    before = protocol.__init_subclass__.__func__

    def begun(of: type, **more) -> None:
        before(of, **more)
        for name, work in list(vars(of).items()):
            if callable(work) and not name.startswith("_"):
                setattr(of, name, _reporting(interface, work))

    protocol.__init_subclass__ = classmethod(begun)


class _Lines:
    """Standard output: a line of the log for each line, once it is complete."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.rest = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line:
                log.emit(self.level, line[:LONGEST], [])
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


for _name, _protocol in list(vars(exports).items()):
    if isinstance(_protocol, type) and _protocol.__module__ == exports.__name__:
        _watch(_name, _protocol)
_OUTPUT = _Lines(Level.INFO)
_ERRORS = _Lines(Level.WARN)
