"""HTTP beyond a `Client`: bytes as they are, a server that dies meanwhile, rate limits."""
import http.client
import threading


def read_all(connection):
    """Returns the bytes until the peer closes, or sends nothing for the connection's timeout."""
    seen = b''
    try:
        while more := connection.recv(65536):
            seen += more
    except OSError:
        pass
    return seen


def kill_during(server, delay, path, raw, headers=None):
    """Kills the server `delay` seconds after a POST began, and starts it again."""
    client = server.new_client()

    def send():
        try:
            client.call('POST', path, raw=raw, headers=headers)
        except (http.client.HTTPException, OSError):
            pass  # no answer is a valid answer here

    sender = threading.Thread(target=send)
    sender.start()
    server.kill(after=delay)
    sender.join()
    server.start()


def call_when_allowed(server, client, method, path):
    """Repeats a call while it is refused with 429; the server's clock moves instead of waiting."""
    while True:
        answer = client.call(method, path, headers={'Connection': 'close'})
        if answer.status != 429:
            return answer
        server.advance(int(answer.headers['Retry-After']))
