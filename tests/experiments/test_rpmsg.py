"""RPMsg over virtio (firmware/rpmsg): both sides in one program, on a board with one core."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT
from tiers import sized

import cyclescope as package
from cyclescope import firmware

BOARD = "sama5d2-xplained"
PROGRAMS = ROOT / "tests" / "firmware" / "rpmsg"
LIBRARY = ROOT / "firmware" / "rpmsg"
BOTH_SIDES = (
    "link_fault",
    "vring",
    "virtqueue_driver",
    "virtqueue_device",
    "rpmsg",
    "rpmsg_host",
    "rpmsg_remote",
)
BROKEN = -4


def build(name: str, macros: dict[str, str] | None = None) -> Path:
    own = [PROGRAMS / f"{part}.c" for part in (name, "loopback")]
    library = [LIBRARY / f"{part}.c" for part in (*BOTH_SIDES, "elf32", "remoteproc", "tty")]
    recipe = firmware.board_recipe(
        name,
        BOARD,
        [*own, *library, LIBRARY.parent / "runtime" / "string.c"],
        include=[PROGRAMS, LIBRARY],
        # for the word copies of a program with caches; the rest of the board does not matter
        settings={"memory": "ddr", "cache": "on"},
        macros=macros,
    )
    return firmware.build(recipe)


def console_of(name: str, macros: dict[str, str] | None = None) -> str:
    result = package.Board(BOARD).load(build(name, macros)).run("100s")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    return result.console


def test_messages_arrive_in_order_and_unchanged_while_indices_go_round() -> None:
    # 70000 messages: the rings' indices have 16 bits; some thousands go round their 16 buffers
    count = sized(4000, 70000)
    assert console_of("messages", {"MESSAGES": f"{count}u"}).splitlines() == [
        "channel loop addr 0x0",
        f"sent {count}, at the remote {count}, back at the host {count}, wrong 0, waits 0",
    ]


def test_a_sender_without_a_free_buffer_waits_or_says_so() -> None:
    assert console_of("exhaustion").splitlines() == [
        "channel loop addr 0x0",
        "ring takes 16",
        "trysend -1, remote has 0",
        # the remote notifies of returned buffers only while a sender waits for one
        "send 0, remote has 16, waits 1, notified of 1 returned",
        "then 17, notified of 1 returned",
        "host: vring1: no free buffer for 15000 ms: the other side has all 16 and returns none",
        f"send {BROKEN}",
        "remote's 16th 0",
        "remote: vring0: no free buffer for 15000 ms: the other side has all 16 and returns none",
        f"remote's 17th {BROKEN}",
    ]


BREACHES = {
    "avail_index": "remote: vring1: available index went from 1 to 40000, at most 16 may be new",
    "avail_descriptor": "remote: vring1: available descriptor 77, there are 16",
    "descriptor_length": "remote: vring1: descriptor 1 has 600 bytes, a buffer has at most 512",
    "descriptor_address": "remote: vring1: descriptor 1 is at 0x1000, outside of the shared memory",
    "short_buffer": "remote: vring1: a message of 8 bytes, its header alone has 16",
    "payload": "remote: vring1: a payload of 500 bytes in a buffer for 3",
    "endpoint": "remote: vring1: a message from 0x400 to endpoint 0x77, which nobody has",
    "used_index": "host: vring0: used index went from 2 to 40000, at most 16 may be new",
    "used_descriptor": "host: vring0: used descriptor 77 of 16, which the device does not have",
    "used_length": "host: vring0: 5000 bytes written into a buffer of 512",
    "remote_payload": "host: vring0: a payload of 500 bytes in a buffer for 3",
    "remote_endpoint": "host: vring0: a message from 0x0 to endpoint 0x999, which nobody has",
    "name_bytes": "host: vring0: name service: 3 bytes from 0x0, an announcement has 40",
    "name": "host: vring0: name service: the name of 0x5 does not end within 32 bytes",
}


def test_the_side_that_sees_a_broken_link_says_what_is_wrong() -> None:
    lines = iter(console_of("broken").splitlines())
    for breach, said in BREACHES.items():
        assert [next(lines), next(lines), next(lines)] == [breach, "channel loop addr 0x0", said]
        host, remote = (BROKEN, 0) if said.startswith("host") else (0, BROKEN)
        assert next(lines) == f"then host {host}, remote {remote}", breach
    assert next(lines, None) is None


REFUSED = {
    "magic": "no ELF file (0x7e) in a file of 492 bytes",
    "wide": "not 32 bits, little-endian (0x2) in a file of 492 bytes",
    "machine": "no executable for Arm (0x3e) in a file of 492 bytes",
    "object_file": "no executable for Arm (0x28) in a file of 492 bytes",
    "program_headers": "program headers outside of the file (0x1ec) in a file of 492 bytes",
    "names_index": "section headers outside of the file (0x54) in a file of 492 bytes",
    "segment_offset": "a segment outside of the file (0x1eb) in a file of 492 bytes",
    "segment_sizes": "a segment with more bytes than memory (0x10000000) in a file of 492 bytes",
    "segment_address": "a segment of 512 bytes at 0x20000000, where the processor has no memory",
    "segment_end": "a segment of 512 bytes at 0x10000f00, where the processor has no memory",
    "no_table": "no resource table",
    "table_outside": "a resource table of 140 bytes at 0x10001000",
    "table_version": "a resource table of version 2 with 2 entries",
    "table_count": "a resource table of version 1 with 100 entries",
    "entry_offset": "entry 1 of the resource table is outside of its 140 bytes",
    "no_device": "no RPMsg device with two rings in the resource table",
    "ring_size": "a ring of 24 descriptors aligned to 16 does not fit 4096 bytes",
    "ring_sizes": "rings of 16 and 8 buffers of 512 bytes do not fit 16384 bytes",
}


def test_a_remotes_program_is_loaded_or_refused_with_the_reason() -> None:
    lines = iter(console_of("loader").splitlines())
    # bytes 0 and 255 of the code, and the first one after it, which is cleared
    loaded = "code 5a a5 0, vrings 10040000 10041000 of 16, status 7, features 1, trace at 800"
    assert [next(lines), next(lines)] == ["whole", f"  {loaded}"]
    for damage, reason in REFUSED.items():
        assert [next(lines), next(lines)] == [damage, f"  firmware: {reason}"]
    assert next(lines, None) is None


def test_a_tty_cuts_writes_and_hands_over_what_is_there() -> None:
    pieces = " 496 496 496 496 64" * 2
    assert console_of("terminal").splitlines() == [
        "channel loop addr 0x0",
        "write 1: 1",
        "write 496: 496",
        "write 497: 496 1",
        f"write 4096:{pieces}",
        "woken",
        "read 2 of 2: ab",
        "read 3 of 9: cde",
        "woken",
        "read 0 of 2: ",
        "there 4096, lost 368",
        # the 17th message finds no buffer: its piece is not accepted, one message of it went out
        "stuck: accepted 6144, sent 6640",
        "write -1",
    ]
