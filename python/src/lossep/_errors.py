"""What can go wrong, and what should be known although nothing did."""

from __future__ import annotations


class LossepError(RuntimeError):
    """There is no result although what was given could be used."""


class WorkerError(LossepError):
    """The program that does the work ended, or answered what it should not.

    The next call starts another.
    """


class DataWarning(UserWarning):
    """Something about a table that a person should know, or be asked."""
