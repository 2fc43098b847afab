"""What is not JSON."""
from typing import NamedTuple


class Artifact(NamedTuple):
    """Bytes of an artifact."""

    bytes: bytes
    mime: str  # media type, such as text/plain
    digest: str  # SHA-256 in hex
