"""Files with Python devices, run once each."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

from cyclescope.devices import failing
from cyclescope.errors import EngineError, UsageError
from cyclescope.host import inputs

_MOST_BYTES = 16 << 20

_loaded: set[Path] = set()


def load(file: str | os.PathLike[str]) -> None:
    """Run a file that defines devices; it can import modules in its folder.

    A file is run only once. Raises `UsageError`, one line with the place, if it fails; `OSError` if
    it can't be read.
    """
    path = Path(file)
    text = inputs.read(path, _MOST_BYTES)
    real = path.resolve()
    if real in _loaded:
        return
    module = ModuleType(path.stem)
    module.__file__ = os.fspath(path)
    folder = str(real.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules.setdefault(path.stem, module)
    before = sys.dont_write_bytecode
    # its imports leave no __pycache__ beside the user's files
    sys.dont_write_bytecode = True
    try:
        exec(compile(text, os.fspath(path), "exec"), module.__dict__)
    except Exception as error:
        raise _refused(path, error) from error
    except SystemExit as error:
        raise UsageError(
            f"{inputs.printable(path)}: the file calls exit(): remove the call"
        ) from error
    finally:
        sys.dont_write_bytecode = before
    _loaded.add(real)


def _refused(path: Path, error: Exception) -> UsageError:
    failing.show_traceback(error)
    if isinstance(error, EngineError) and failing.place(error):
        where = failing.place(error)
        text = str(error)
        return UsageError(text if where and text.startswith(f"{where[0]}:") else _line(path, error))
    return UsageError(_line(path, error))


def _line(path: Path, error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{inputs.printable(error.filename or path)}:{error.lineno}: {error.msg}"
    file, line = failing.place(error) or (path, 1)
    return f"{inputs.printable(file)}:{line}: {failing.words(error)}{failing.HINT}"
