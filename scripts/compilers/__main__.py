"""Measures programs that other compilers, or other people, built: into docs/compilers.csv.

python scripts/compilers thread-metric [--kernel FOLDER]
    the tests of thread-metric by arm-none-eabi-gcc, with the FreeRTOS of the crate, and with the
    kernel in FOLDER (that has tasks.c), if given
python scripts/compilers fft [--library FOLDER] [--elf FILE]
    FFTs of CMSIS-DSP on an STM32F4 Discovery: built by arm-none-eabi-gcc from the library's folder
    (that has Include and Source), and an ELF of github.com/PY1CX/Cortex-M-FFT for its STM32F405

New rows replace the rows with the same names; `python scripts/results` writes the pages. The
compiler is Debian's gcc-arm-none-eabi (scripts/install-debian-packages).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# the module that stores rows and reads them for the pages
sys.path.append(str(ROOT / "scripts" / "results"))

import compiler_store  # noqa: E402
import fft  # noqa: E402
import gcc  # noqa: E402
import kernels  # noqa: E402

from cyclescope.bench.rows import Row  # noqa: E402
from cyclescope.errors import EngineError  # noqa: E402

THREADS = 2


def thread_metric(kernel: Path | None) -> list[Row]:
    """All tests by GCC, each with every available kernel."""
    version = gcc.version()
    builds = kernels.builds(kernel)
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda build: kernels.measured(build, version), builds))


def transforms(library: Path | None, elf: Path | None) -> list[Row]:
    """FFTs from a library's sources, and of an ELF."""
    rows: list[Row] = []
    if library is not None:
        rows += fft.of_library(library, gcc.version())
    if elf is not None:
        rows.append(fft.of_elf(elf))
    return rows


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "compilers.csv")
    what = parser.add_subparsers(dest="what", required=True)
    one = what.add_parser(kernels.NAME)
    one.add_argument("--kernel", type=Path, help="folder of another FreeRTOS kernel")
    one = what.add_parser("fft")
    one.add_argument("--library", type=Path, help="folder of CMSIS-DSP")
    one.add_argument("--elf", type=Path, help="ELF of Cortex-M-FFT for the STM32F405")
    given = parser.parse_args()
    if given.what == "fft" and given.library is None and given.elf is None:
        parser.error("fft: --library, --elf or both")
    return given


def main() -> int:
    """Run what was asked for, and keep its rows."""
    given = parsed()
    rows: Sequence[Row]
    try:
        if given.what == kernels.NAME:
            rows = thread_metric(given.kernel)
        else:
            rows = transforms(given.library, given.elf)
        compiler_store.keep(rows, given.out)
    except (EngineError, OSError) as error:
        print(f"scripts/compilers: {error}", file=sys.stderr)
        return 2
    for row in rows:
        print(f"{row.label}: {row.simulated:,} {row.unit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
