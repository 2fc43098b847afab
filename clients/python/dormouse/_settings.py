"""Where the server is, and how often a call is repeated: shared by both clients."""
import os
import pathlib
import random
import re
import secrets
import ssl as tls
import urllib.parse
from typing import Any, Dict, NamedTuple, Optional

from .errors import ConnectionFailed, DormouseError, Refusal, TimedOut, UnexpectedResponse

PAUSE_MS = (100, 200, 500, 1000, 2000, 5000)
# Operations without a key that change nothing when they are repeated.
REPEATABLE = {
    'submitResult', 'submitResults', 'submitError', 'submitDecision', 'submitProgress',
    'cancelPending', 'claimPending', 'reassignPending', 'patchSession', 'cancelSession',
    'cancelTask', 'attachSession', 'importMore',
}
PASSING = (429, 502, 503, 504)


class Address(NamedTuple):
    host: str
    port: int
    secure: bool
    name: str  # of the header Host
    prefix: str  # of all paths


class Limits(NamedTuple):
    timeout_ms: float
    outage_ms: float
    max_bytes: int


def address_of(url: str) -> Address:
    parts = urllib.parse.urlsplit(url)
    unwanted = parts.username or parts.password or parts.query or parts.fragment
    if parts.scheme not in ('http', 'https') or not parts.hostname or unwanted:
        raise DormouseError(
            'url must be an http or https URL without credentials, query and fragment')
    if re.search(r'[\x00-\x20\x7f-\uffff]', url):
        raise DormouseError('url must consist of visible ASCII characters')
    secure = parts.scheme == 'https'
    port = parts.port or (443 if secure else 80)
    return Address(parts.hostname, port, secure, parts.netloc, parts.path.rstrip('/'))


def url_from_environment() -> str:
    return os.environ.get('DORMOUSE_URL') or 'http://127.0.0.1:3676'


def token_from_environment() -> Optional[str]:
    if os.environ.get('DORMOUSE_TOKEN'):
        return os.environ['DORMOUSE_TOKEN']
    data = os.environ.get('XDG_DATA_HOME') or pathlib.Path.home() / '.local/share'
    try:
        return pathlib.Path(data, 'dormouse/token').read_text().split('\n')[0].strip() or None
    except OSError:
        return None


def checked_token(token: Optional[str]) -> Optional[str]:
    if token and not re.fullmatch(r'[\x21-\x7e]+', token):
        raise DormouseError('token must consist of visible ASCII characters')
    return token or None


def tls_context(address: Address, given: 'Optional[tls.SSLContext]') -> 'Optional[tls.SSLContext]':
    return (given or tls.create_default_context()) if address.secure else None


def new_key() -> str:
    return secrets.token_hex(16)


def without_none(members: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def input_of(prompt: Any) -> Dict[str, Any]:
    return {'text': prompt} if isinstance(prompt, str) else {'parts': prompt}


def seconds_of(header: Optional[str]) -> Optional[float]:
    return float(header) if header and re.fullmatch(r'\d{1,9}', header) and int(header) else None


def back_off_ms(tries: int) -> float:
    return PAUSE_MS[min(tries, len(PAUSE_MS) - 1)] * (0.75 + random.random() / 2)


def pause_before(error: Exception, tries: int, repeatable: bool) -> Optional[float]:
    """Milliseconds to wait before the call is repeated; None: it is not."""
    if isinstance(error, (ConnectionFailed, TimedOut)):
        return back_off_ms(tries) if repeatable else None
    if isinstance(error, UnexpectedResponse):
        if not repeatable or error.status not in PASSING:
            return None
        return max((error.retry_after or 0) * 1000, back_off_ms(tries))
    if not isinstance(error, Refusal) or error.next != 'retry':
        return None
    # 429: nothing was done. After 408 or 503 that is not certain.
    if error.status == 429 or (repeatable and error.status in (408, 503)):
        return error.retry_after_ms or back_off_ms(tries)
    return None


def stream_pause(error: Exception, failures: int) -> Optional[float]:
    """Milliseconds to wait before a stream connects again; None: that cannot help."""
    if isinstance(error, Refusal):
        if error.status not in (429, 503):
            return None
        return error.retry_after_ms or back_off_ms(failures)
    if isinstance(error, UnexpectedResponse):
        return back_off_ms(failures) if error.status in PASSING else None
    return back_off_ms(failures) if isinstance(error, (ConnectionFailed, TimedOut)) else None
