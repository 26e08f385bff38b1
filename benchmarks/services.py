"""A running service to measure: with machine code, as users have it once it has run for a while."""

from __future__ import annotations

from pathlib import Path

from tests.fixtures.service_process import ServiceProcess, until

COMPILED = 600.0
"""Seconds that a new checkout may take to compile all, which is done at the lowest priority."""


class Service(ServiceProcess):
    """`treescore serve` whose machine code is kept, where the tests' service has none."""

    def __init__(self, folder: Path, workers: int = 2, **environment: str) -> None:
        super().__init__(folder, workers, port=None, **{"TREESCORE_COMPILE": "auto", **environment})

    def start(self) -> None:
        """Start it and wait until all that it compiles is kept."""
        super().start()
        try:
            with self.client() as client:
                until(
                    lambda: client.get("/readyz").json()["workers"]["kernels"] == "compiled",
                    "the machine code of all workers",
                    COMPILED,
                )
        except BaseException:
            self.stop()
            raise
