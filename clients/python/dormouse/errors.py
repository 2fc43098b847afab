"""What goes wrong. No error contains the token."""
from typing import Any, Dict, Optional

_REMEDIES = {
    'fix': 'Change the request.',
    'retry': 'The same request may succeed later.',
    'stop': 'The answer is final; do not repeat the request.',
    'reopen': 'Send a prompt with reopen=True.',
}


class DormouseError(Exception):
    """The base class of all errors of this package."""


class Refusal(DormouseError):
    """The server refused the request. Its class says why: one of `dormouse.refusals` for each
    code of docs/errors. `problem` is the whole problem document."""

    def __init__(self, status: int, problem: Dict[str, Any], retry_after: Optional[float]):
        text = problem.get('detail') or problem.get('title') or f'The server answered {status}.'
        super().__init__(str(text))
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        """One of the codes of docs/errors; empty if the server sent none."""
        return str(self.problem.get('code') or '')

    @property
    def next(self) -> Optional[str]:
        """`fix`, `retry`, `stop` or `reopen`; None if the server sent none."""
        return self.problem.get('next')

    @property
    def remedy(self) -> str:
        """What to do, as a sentence."""
        return _REMEDIES.get(str(self.next), 'Read the log of the server.')

    @property
    def retry_after_ms(self) -> Optional[float]:
        """Milliseconds to wait before the request may succeed, or None."""
        value = self.problem.get('retryAfter')
        value = value if isinstance(value, (int, float)) else 0
        return max(value, (self.retry_after or 0) * 1000) or None


class ConnectionFailed(DormouseError):
    """No answer: the server cannot be reached, or the connection ended before the answer did."""


class TimedOut(DormouseError):
    """The time limit of the call passed. The request may have been carried out."""


class ResponseTooLarge(DormouseError):
    """The answer has more bytes than `max_response_bytes`."""


class UnexpectedResponse(DormouseError):
    """The responder does not implement this API: HTML, another media type, a redirect, not JSON."""

    def __init__(self, status: int, message: str, retry_after: Optional[float] = None):
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
