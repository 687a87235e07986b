"""What a command prints is shown, kept and looked through."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path

import pytest

from assent.hosts.output import Echo, Keeper, SignalScan, output_file, output_folder
from assent.protocol.run import DoneReason, Mode
from assent.surfaces.width import columns


def _scan(mode: Mode, *pieces: bytes) -> DoneReason | None:
    scan = SignalScan(mode)
    for piece in pieces:
        scan.feed(piece)
    scan.close()
    return scan.signal


@pytest.mark.parametrize(
    ("mode", "text", "signal"),
    [
        (Mode.LOOP, b"<loop-done>COMPLETE</loop-done>\n", DoneReason.COMPLETE),
        (Mode.LOOP, b"talk\n<loop-done>STUCK</loop-done>", DoneReason.STUCK),
        (Mode.ISSUE, b"<loop-done>MAX_ITERATIONS</loop-done>\r\nmore\n", DoneReason.MAX_ITERATIONS),
        (Mode.ISSUE, b"<issue-complete>DONE</issue-complete>\n", DoneReason.COMPLETE),
        (Mode.GRIND, b"<grind-done>NO_MORE_ISSUES</grind-done>\n", DoneReason.NO_MORE_ISSUES),
        (Mode.GRIND, b"<grind-done>MAX_ISSUES</grind-done>\n", DoneReason.MAX_ISSUES),
        (Mode.LOOP, b"<issue-complete>DONE</issue-complete>\n", None),
        (Mode.GRIND, b"<loop-done>COMPLETE</loop-done>\n", None),
        (Mode.LOOP, b"  <loop-done>COMPLETE</loop-done>\n", None),
        (Mode.LOOP, b"print <loop-done>COMPLETE</loop-done>\n", None),
        (Mode.LOOP, b"<loop-done>COMPLETE</loop-done> when done\n", None),
        (Mode.LOOP, b"<loop-done>complete</loop-done>\n", None),
        (Mode.LOOP, b"<loop-done>COMPLETE</loop-done>" + b" " * 500 + b"not\n", None),
        (
            Mode.LOOP,
            b"<loop-done>COMPLETE</loop-done>\nno\n<loop-done>STUCK</loop-done>\n",
            DoneReason.STUCK,
        ),
    ],
)
def test_a_signal_counts_only_alone_on_an_unindented_line_of_its_mode(
    mode: Mode, text: bytes, signal: DoneReason | None
) -> None:
    """I-U8; the last one in the output wins."""
    assert _scan(mode, text) == signal


def test_a_signal_that_comes_in_pieces_is_still_found() -> None:
    """A pipe breaks lines anywhere."""
    pieces = [bytes([byte]) for byte in b"x\n<loop-done>COMPLETE</loop-done>\ny"]
    assert _scan(Mode.LOOP, *pieces) is DoneReason.COMPLETE


def test_output_beyond_the_limit_is_counted_and_not_kept(tmp_path: Path) -> None:
    """The disk of a loop that prints without end does not fill."""
    keeper = Keeper(tmp_path / "runs" / "0001.log", limit=10)
    for _ in range(3):
        keeper.write(b"12345678")
    keeper.close()
    assert keeper.path.read_bytes() == b"1234567812\n[14 more bytes were not kept]\n"
    assert keeper.path.stat().st_mode & 0o777 == 0o600


def test_names_of_runs_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    """A run's id may be any text; each gets a file of its own."""
    names = ["../../etc", "..", ".hidden", "a/b", "a_b", "x" * 200, "ü", "plain-1.2"]
    files = [output_file(output_folder(tmp_path, "shop", name), 3, 1) for name in names]
    assert all(file.resolve().is_relative_to(tmp_path) for file in files)
    assert all(len(file.relative_to(tmp_path).parts) == 3 for file in files)
    assert len(set(files)) == len(names)
    inner = output_folder(tmp_path, "shop", "plain-1.2", "issue/9")
    assert output_file(inner, 3, 2).name == "0003.attempt-2.log"
    assert inner.parent == tmp_path / "shop" / "plain-1.2"


def test_a_terminal_gets_control_characters_made_visible_and_a_pipe_gets_the_bytes() -> None:
    """Agents' text drives no terminal; what a program reads is exact."""
    hostile = "\x1b]0;title\x07\x1b[2Jü".encode()
    main, side = pty.openpty()
    echo = Echo(side)
    echo.write(hostile[:-1])
    echo.write(hostile[-1:])
    shown = os.read(main, 4096)
    while not shown.endswith("ü".encode()):
        shown += os.read(main, 4096)
    assert b"\x1b" not in shown
    assert b"\x07" not in shown
    assert shown.decode() == "│ <U+001B>]0;title<U+0007><U+001B>[2Jü"
    out, into = os.pipe()
    Echo(into).write(hostile)
    assert os.read(out, 4096) == hostile
    for descriptor in (main, side, out, into):
        os.close(descriptor)


def test_no_line_that_an_agent_prints_on_a_terminal_looks_like_one_of_ours() -> None:
    """Each of its lines stands behind a bar, however it is cut into pieces; ours never do."""
    main, side = pty.openpty()
    echo = Echo(side)
    for piece in (b"one\nassent: can", b"celled\n", b"\n", b"open"):
        echo.write(piece)
    echo.tell("assent: paused")
    shown = b""
    while b"paused" not in shown or not shown.endswith(b"\n"):
        shown += os.read(main, 4096)
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    assert lines[:4] == ["│ one", "│ assent: cancelled", "│ ", "│ open"]
    assert "assent: paused" in lines[4]
    assert not lines[4].startswith("│")
    os.close(main)
    os.close(side)


def test_an_echo_that_nobody_reads_never_waits_and_loses_nothing() -> None:
    """The run must hear that it is cancelled, also while a pager is full."""
    out, into = os.pipe()
    echo = Echo(into)
    piece = bytes(range(256)) * 4_096
    echo.write(piece)
    assert echo.is_backed_up
    got = b""
    while len(got) < len(piece):
        got += os.read(out, 1 << 16)
        echo.pass_on()
    assert got == piece
    assert not echo.is_pending
    os.close(out)
    echo.write(b"nobody reads this")
    assert echo.descriptor is None
    os.close(into)


def test_a_long_line_is_broken_behind_a_bar_and_not_by_the_terminal() -> None:
    """Where the terminal broke it, its rest would stand at the start of a row, like a line of ours."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    echo = Echo(side)
    echo.write(b"x" * 18 + b"assent: done\twide: " + "日本語日本語日本語".encode() + b"\n")
    shown = ""
    while not shown.endswith("\n"):
        shown += os.read(main, 4096).decode()
    rows = shown.replace("\r\n", "\n").splitlines()
    assert all(row.startswith("│ ") for row in rows)
    assert rows[0] == "│ " + "x" * 18
    assert all(columns(row) <= 20 for row in rows)
    os.close(main)
    os.close(side)
