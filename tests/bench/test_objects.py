"""Objects are shared between programs exactly where nothing that a file depends on differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.errors import FirmwareError
from cyclescope.firmware import objects, unchanging

TARGET = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c", "-O2")


def source(folder: Path, *macros: str) -> objects.Source:
    flags = (*TARGET, *(f"-D{macro}" for macro in macros), f"-I{folder / 'include'}")
    return objects.Source(folder / "main.c", flags, (folder / "include",), {"root": folder})


def key(folder: Path, *macros: str) -> str:
    found = source(folder, *macros)
    return found.key(found.relevant())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "config.h").write_text('#include "deeper.h"\n')
    (tmp_path / "include" / "deeper.h").write_text("#define LOOPS APP_LOOPS\n")
    (tmp_path / "main.c").write_text(
        "#if 0\n#include <config.h>\nextern int loops[LOOPS];\n#endif\nint f(void);\n"
    )
    return tmp_path


def test_a_macro_that_nothing_mentions_is_no_part_of_an_object(folder: Path) -> None:
    assert key(folder, "APP_LOOPS=1") == key(folder, "APP_LOOPS=1", "APP_MODE_QUAD=1")
    assert "-DAPP_MODE_QUAD=1" not in source(folder, "APP_MODE_QUAD=1").relevant()


def test_a_macro_that_a_header_of_a_header_mentions_is_part_of_it(folder: Path) -> None:
    assert key(folder, "APP_LOOPS=1") != key(folder, "APP_LOOPS=2")


def test_a_macro_that_may_be_put_together_is_part_of_it(folder: Path) -> None:
    (folder / "main.c").write_text(
        "#define MODE(name) APP_MODE_##name\nint mode = MODE(QUAD) + MODE(DUAL);\n"
    )
    assert key(folder, "APP_MODE_QUAD=1") != key(folder, "APP_MODE_DUAL=1")
    assert key(folder, "APP_LOOPS=1") == key(folder, "APP_LOOPS=2")


def test_a_macro_that_another_ones_value_mentions_is_part_of_it(folder: Path) -> None:
    macros = ("APP_LOOPS=DEFAULT_LOOPS", "DEFAULT_LOOPS=3")
    assert {f"-D{macro}" for macro in macros} <= set(source(folder, *macros).relevant())


@pytest.mark.parametrize(
    ("main", "part"),
    [
        # a macro that no code names, however deep
        ("#include <config.h>\nint f(void);\n", False),
        ("#include <config.h>\n#define MORE (LOOPS + 1)\nint f(void);\n", False),
        ("#include <config.h>\n#define MORE \\\n    (LOOPS + 1)\nint f(void);\n", False),
        ("#include <config.h>\n#define MORE (LOOPS + 1)\nint f[MORE];\n", True),
        ("#include <config.h>\nint f[LOOPS];\n", True),
        # a macro that a comment names
        ("/* by APP_LOOPS\n * and LOOPS */\nint f(void); // APP_LOOPS\n", False),
        ("int f(void); /* one */ int g[APP_LOOPS]; /* two */\n", True),
        # no comments
        ('const char *f = "/*"; int g[APP_LOOPS]; const char *h = "*/";\n', True),
        ("int f = '\"', g[APP_LOOPS]; /* \" */\n", True),
        ('const char *f = "\\"//"; int g[APP_LOOPS];\n', True),
        # a name that the preprocessor concatenates
        ("#define JOIN(a) APP_##a\nint f[JOIN(LOOPS)];\n", True),
        ("#define JOIN(a) APP_##a\nint f(void);\n", False),
        ("#define JOIN(a, b) a##b\nint f[JOIN(APP, _LOOPS)];\n", True),
        ("#define JOIN(a_, b) a_##b\nint f[JOIN(APP, _LOOPS)];\n", True),
        ("#include <config.h>\n#define JOIN(a, b) a##b\nint f[JOIN(LO, OPS)];\n", True),
        ("#define LOG(text, ...) log(text, ##__VA_ARGS__)\nint f(void);\n", False),
        # would be an error, or another value
        ("#define APP_LOOPS 3\nint f(void);\n", True),
        ("#ifndef APP_LOOPS\n#define APP_LOOPS 3\n#endif\nint f(void);\n", True),
    ],
)
def test_only_what_code_may_come_to_is_part_of_an_object(
    folder: Path, main: str, part: bool
) -> None:
    (folder / "main.c").write_text(main)
    assert (key(folder, "APP_LOOPS=1") != key(folder, "APP_LOOPS=2")) == part


@pytest.mark.parametrize("header", ["config.h", "deeper.h"])
def test_the_text_of_each_header_is_part_of_it(folder: Path, header: str) -> None:
    before = key(folder)
    path = folder / "include" / header
    path.write_text(path.read_text() + "int g(void);\n")
    assert key(folder) != before


def test_an_include_by_a_macro_depends_on_all_headers(folder: Path) -> None:
    (folder / "main.c").write_text(
        "#define HEADER <config.h>\n#include HEADER\nextern int loops[LOOPS];\n"
    )
    assert folder / "include" / "config.h" in source(folder).closure()
    assert key(folder, "APP_LOOPS=1") != key(folder, "APP_LOOPS=2")


def test_headers_that_include_each_other_are_read_once(folder: Path) -> None:
    (folder / "include" / "deeper.h").write_text('#include "config.h"\n')
    assert len(source(folder).closure()) == 3


def test_an_object_is_compiled_once_for_settings_that_it_does_not_know(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(folder / "cache"))
    first = objects.compiled(source(folder, "APP_LOOPS=1"))
    assert first.read_bytes()[:4] == b"\x7fELF"
    with monkeypatch.context() as patched:
        patched.setattr(objects, "run_compiler", None)
        assert objects.compiled(source(folder, "APP_LOOPS=1", "APP_MODE_QUAD=1")) == first


def test_the_compilers_message_is_the_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(folder / "cache"))
    (folder / "main.c").write_text("int f(void) { return missing; }\n")
    with pytest.raises(FirmwareError, match="undeclared identifier 'missing'"):
        objects.compiled(source(folder))


def test_files_are_read_once_while_they_are_said_to_stay_as_they_are(folder: Path) -> None:
    header = folder / "include" / "deeper.h"
    with unchanging():
        before = key(folder)
        with unchanging():
            header.write_text("int g(void);\n")
        assert key(folder) == before
    assert key(folder) != before


def test_an_unreadable_file_is_read_again_next_time(folder: Path) -> None:
    path = folder / "main.c"
    text = path.read_text()
    path.unlink()
    with unchanging():
        with pytest.raises(FirmwareError, match=r"main\.c"):
            key(folder)
        path.write_text(text)
        assert key(folder)


def test_a_folder_without_a_header_of_the_file_is_no_part_of_an_object(folder: Path) -> None:
    for name, header in (("app", "app.h"), ("crate", "crate.h"), ("other", "deeper.h")):
        (folder / name).mkdir()
        (folder / name / header).write_text("int g(void);\n")
    plain = source(folder)

    def searching(name: str, **roots: Path) -> objects.Source:
        include = (*plain.include, folder / name)
        own = (f"-I{include[-1]}", *(objects.prefix_map(at, name) for name, at in roots.items()))
        return objects.Source(
            plain.path,
            (*plain.arguments, *own),
            include,
            {**plain.roots, **roots},
            frozenset(roots),
        )

    for other in (searching("app"), searching("app", crate=folder / "crate")):
        assert other.relevant() == plain.relevant()
        assert other.key(other.relevant()) == key(folder)
    # one in which a header of the same name lies is searched, whatever the other folders have
    found = searching("other", crate=folder / "other")
    assert {f"-I{folder / 'other'}", objects.prefix_map(folder / "other", "crate")} <= {
        *found.relevant()
    }
    assert found.key(found.relevant()) != key(folder)
