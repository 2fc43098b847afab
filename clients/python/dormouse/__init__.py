"""Client of Dormouse: agent sessions that sleep while their tools work, and wake exactly once."""
from . import refusals, types
from ._artifact import Artifact
from ._async.changes import AsyncChanges
from ._async.client import AsyncClient
from ._async.stream import AsyncEventStream
from ._sync.changes import Changes
from ._sync.client import Client
from ._sync.stream import EventStream
from .errors import (
    ConnectionFailed,
    DormouseError,
    Refusal,
    ResponseTooLarge,
    TimedOut,
    UnexpectedResponse,
)

__all__ = [
    'Artifact', 'AsyncChanges', 'AsyncClient', 'AsyncEventStream', 'Changes', 'Client',
    'ConnectionFailed', 'DormouseError', 'EventStream', 'Refusal', 'ResponseTooLarge', 'TimedOut',
    'UnexpectedResponse', 'refusals', 'types',
]
