"""Errors of the environment: which become a line, and which do not."""

from __future__ import annotations

import errno

import pytest

from service.commands.exits import Refused, one_line


def test_a_file_that_cannot_be_used_is_named():
    with pytest.raises(Refused, match=r"here cannot be used: No space left on device\."), one_line():
        raise OSError(errno.ENOSPC, "No space left on device", "here")


def test_a_reader_that_has_read_enough_is_not_a_fault_of_a_file():
    with pytest.raises(BrokenPipeError), one_line():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
