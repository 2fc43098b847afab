"""Time limits."""
import time
from typing import Optional

from .errors import TimedOut


class Deadline:
    """A time limit in ms from now on; None: no limit. It also ends when `outer` does."""

    def __init__(self, ms: Optional[float], outer: 'Optional[Deadline]' = None):
        self.ms = ms
        self.outer = outer
        self.end = float('inf') if ms is None else time.monotonic() + ms / 1000

    @property
    def left_s(self) -> float:
        own = self.end - time.monotonic()
        return own if self.outer is None else min(own, self.outer.left_s)

    @property
    def seconds(self) -> Optional[float]:
        """For sockets: what is left, or None. TimedOut if nothing is."""
        left = self.left_s
        if left <= 0:
            self.passed()
        return None if left == float('inf') else left

    def passed(self) -> None:
        raise TimedOut('The time limit passed before the answer came.')
