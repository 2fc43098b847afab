#!/usr/bin/env python3
"""Sessions are forked while content is removed from them."""
import json
import threading

from dormouse import main
from redact import SECRET, Redacting


class BesideForks(Redacting):
    def test_forks_beside_redactions_have_nothing(self):
        for _ in range(4):
            session = self.server.create(f'the key is {SECRET}')['id']
            self.server.at_rest(session)
            forks, redacted = [], threading.Event()

            def fork_meanwhile(session=session, forks=forks, redacted=redacted):
                client = self.server.new_client()
                for _ in range(100):
                    made = client.post(f'/api/sessions/{session}/fork', {})
                    forks.append(self.assertStatus(made, 201)['id'])
                    if redacted.is_set():
                        break
                client.close()

            threads = [threading.Thread(target=fork_meanwhile) for _ in range(3)]
            for thread in threads:
                thread.start()
            for message in [m['id'] for m in self.server.messages(session)]:
                self.assertStatus(self.redact(session, messageID=message, forks=True), 200)
            redacted.set()
            for thread in threads:
                thread.join()
            self.assertGreaterEqual(len(forks), 3)
            for fork in forks:
                self.assertNotIn(SECRET, json.dumps(self.server.messages(fork)))


if __name__ == '__main__':
    main()
