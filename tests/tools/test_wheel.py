"""Which wheel of an index runs here: told by its name, for a Python that has no pip to ask."""

import os
import platform
import sys
import sysconfig

import pytest

from tools.wheel import fits, fits_machine

__all__: list[str] = []


class Machine:
    """A machine of some other kind than this one."""

    def __init__(self, patch: pytest.MonkeyPatch, system: str, machine: str, libc: str) -> None:
        name = f"macosx-11.0-{machine}" if system == "darwin" else f"linux-{machine}"
        patch.setattr(sys, "platform", system)
        patch.setattr(platform, "machine", lambda: machine)
        patch.setattr(platform, "mac_ver", lambda: ("14.4", ("", "", ""), machine))
        patch.setattr(sysconfig, "get_platform", lambda: name)
        patch.setattr(os, "confstr", lambda _: libc)


@pytest.mark.parametrize(
    ("system", "machine", "libc", "tags"),
    [
        ("linux", "x86_64", "glibc 2.36", ["manylinux_2_17_x86_64"]),
        ("linux", "aarch64", "glibc 2.28", ["manylinux_2_17_aarch64", "manylinux_2_28_aarch64"]),
        ("linux", "aarch64", "glibc 2.17", ["manylinux_2_17_aarch64"]),
        ("linux", "x86_64", "", ["musllinux_1_1_x86_64"]),
        ("darwin", "arm64", "", ["macosx_11_0_arm64"]),
        ("darwin", "x86_64", "", ["macosx_10_12_x86_64"]),
    ],
)
def test_wheel_for_another_machine_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, libc: str, tags: list[str]
) -> None:
    """By the C library and its version, the processor, and the version of macOS."""
    Machine(monkeypatch, system, machine, libc)
    known = [
        *(
            "manylinux_2_17_x86_64",
            "manylinux_2_17_aarch64",
            "manylinux_2_28_aarch64",
            "musllinux_1_1_x86_64",
        ),
        *(
            "macosx_10_12_x86_64",
            "macosx_11_0_arm64",
            "macosx_15_0_arm64",
            "win_amd64",
            "manylinux_2_17_s390x",
        ),
    ]
    assert [tag for tag in known if fits_machine(tag)] == tags


@pytest.mark.parametrize(
    ("file", "is_taken"),
    [
        ("uv-1.0-py3-none-any.whl", True),
        ("uv-1.0-py3-none-win_amd64.any.whl", True),
        ("uv-1.0.1-py3-none-any.whl", False),
        ("uv_build-1.0-py3-none-any.whl", False),
        ("uv-1.0.tar.gz", False),
        ("uv-1.0-py3-none-any.whl.metadata", False),
    ],
)
def test_file_of_another_package_or_version_is_passed_over(file: str, *, is_taken: bool) -> None:
    """A wheel for several platforms is taken for any of them."""
    assert fits(file, "uv", "1.0") is is_taken
