"""Signals that come before the command has begun."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

#: A signal comes while a class is made, in a module that the command imports first.
IMPORTING = """
import os, signal, sys
import fairdsl.__main__
import dataclasses

class Sends:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), {number})

before = dataclasses.dataclass
def dataclass(*arguments, **options):
    dataclasses.dataclass = before
    type("Made", (), {{"field": Sends()}})
    return before(*arguments, **options)
dataclasses.dataclass = dataclass
sys.argv = ["fairdsl", "check", "nowhere.fair"]
fairdsl.__main__.main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_waits_until_somebody_listens(number: signal.Signals, code: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTING.format(number=int(number))], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stderr
