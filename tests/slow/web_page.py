#!/usr/bin/env python3
"""The web page in a browser, with the real server: sign-in, inbox, decisions, a reply that streams,
crashes, hostile texts, a phone, and no script at all."""
import base64
import http.server
import json
import os
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import chromium
from dormouse import ROOT, Case, Client, leave_out, main, wait_for

PIECES = ['The first piece, ', 'the second piece, ', 'the third piece, ', 'and the end.']
CONFIG = '''
[server]
demo = true

[[model]]
id = "main"
kind = "openai-chat"
base_url = "http://127.0.0.1:%d/v1"
model = "m"
api_key_env = "MOCK_KEY"

[[agent]]
id = "writer"
model = "main"
'''
GATE = '''
[[gate]]
id = "deploys"
tools = ["deploy"]
ask = "Deploy {input.target}?"
'''
BAD = '<img src=x onerror="window.hacked=1">'
HOSTILE = (
    f'{BAD}<script>window.hacked=1</script> [link](javascript:window.hacked=1) '
    '![image](http://evil.example/x.png) <a href="http://evil.example">x</a>'
)
SIZES = {
    'small': (360, 760, True),
    'phone': (390, 844, True),
    'tablet': (768, 1024, False),
    'desk': (1440, 900, False),
}
AXE = ROOT / 'web/node_modules/axe-core/axe.min.js'

# Nothing moves but what always moves.
STILL = """document.getAnimations().every(one =>
    one.playState !== 'running' || one.effect.getComputedTiming().iterations === Infinity)"""


class Provider(http.server.BaseHTTPRequestHandler):
    """Streams its pieces; each but the first waits for a ticket."""

    def log_message(self, *_):
        pass

    def event(self, value):
        self.wfile.write(f'data: {value}\n\n'.encode())
        self.wfile.flush()

    def chunk(self, delta, finish=None):
        choice = {'index': 0, 'delta': delta, 'finish_reason': finish}
        whole = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
        self.event(json.dumps({**whole, 'choices': [choice]}))

    def do_POST(self):
        asked = self.rfile.read(int(self.headers['Content-Length'])).decode()
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        pieces = [HOSTILE] if 'be hostile' in asked else PIECES
        try:
            for number, piece in enumerate(pieces):
                if number:
                    self.server.tickets.acquire(timeout=60)
                self.chunk({'role': 'assistant', 'content': piece})
            self.chunk({}, 'stop')
            self.event('[DONE]')
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server was killed


class WebPage(Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.provider = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Provider)
        self.provider.daemon_threads = True
        self.provider.tickets = threading.Semaphore(0)
        threading.Thread(target=self.provider.serve_forever, daemon=True).start()
        self.addCleanup(self.provider.shutdown)
        self.server = self.configured(CONFIG % self.provider.server_port, MOCK_KEY='sk-mock')
        self.pages = []

    def tearDown(self):
        for page in self.pages:
            page.close()
        # The next test begins signed out.
        self.browser.call('Storage.clearCookies')
        super().tearDown()

    def url(self, path):
        return f'http://127.0.0.1:{self.server.port}{path}'

    def open(self, path):
        page = self.browser.open(self.url(path))
        # Wide enough for list and detail side by side.
        page.call('Emulation.setDeviceMetricsOverride', width=1440, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.pages.append(page)
        return page

    def sign_in(self, path='/', name='alice', role='admin'):
        link = self.server.post('/api/links', {'name': name, 'role': role})
        code = link['url'].split('#')[1]
        page = self.open(f'/sign-in?next={path}#{code}')
        self.press(page, f'Sign in as {name}')
        page.until(f'location.pathname + location.search == {path!r}')
        page.until("document.querySelector('#app > *') != null")
        return page

    def text(self, page):
        return page.run('document.body.innerText')

    def conversation(self, page):
        return page.run("document.querySelector('.th').innerText")

    def shows(self, page, text, seconds=20):
        try:
            page.until(f'document.body?.innerText.includes({json.dumps(text)})', seconds)
        except AssertionError:
            raise AssertionError(f'never shown: {text!r}, but\n{self.text(page)}') from None

    def press(self, page, label):
        """Clicks the button or link with `label`, once it is enabled."""
        script = f"""(() => {{
            const all = [...document.querySelectorAll('button, a')].filter(one =>
                one.innerText.trim() == {json.dumps(label)} && !one.disabled &&
                one.getClientRects().length > 0);
            all.at(-1)?.click();
            return all.length;
        }})()"""
        page.until(script)

    def fill(self, page, selector, text):
        page.until(f'''(() => {{
            const field = document.querySelector({json.dumps(selector)});
            if (!field) return false;
            field.value = {json.dumps(text)};
            field.dispatchEvent(new Event('input', {{ bubbles: true }}));
            return true;
        }})()''')

    # ---- sign-in

    def test_used_link_says_what_to_do(self):
        link = self.server.post('/api/links', {'name': 'alice', 'role': 'read'})
        code = link['url'].split('#')[1]
        self.assertStatus(self.server.new_client().post('/sign-in', {'code': code}), 200)
        page = self.open(f'/sign-in#{code}')
        self.shows(page, 'was used before')
        self.shows(page, 'Ask the person who sent it for a new one')
        self.assertEqual(page.run('location.hash'), '')

    def test_view_signed_out_leads_to_the_sign_in_and_back(self):
        page = self.open('/sessions?q=x')
        self.assertEqual(page.run('location.pathname'), '/sign-in')
        link = self.server.post('/api/links', {'name': 'alice', 'role': 'admin'})
        self.fill(page, '#link', link['url'])
        self.press(page, 'Continue')
        self.shows(page, 'made this link for alice, role admin')
        self.accessible(page, 'sign-in')
        self.press(page, 'Sign in as alice')
        page.until("location.pathname + location.search == '/sessions?q=x'")
        self.shows(page, 'No session')

    # ---- inbox

    def test_approval_takes_two_acts_and_the_call_runs(self):
        page = self.sign_in()
        self.shows(page, 'Nothing waits for you')
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        self.shows(page, call['message'])
        self.press(page, 'Approve…')
        self.shows(page, 'Run this once?')
        self.assertEqual(self.server.get(f'/async-tool/pending/{call["id"]}')['status'], 'waiting')
        self.press(page, 'Approve and run')
        self.shows(page, 'Approved.')
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        self.assertEqual(settled['decision']['approved'], True)
        self.assertEqual(settled['receipt']['by']['name'], 'alice')

    def test_decided_by_another_meanwhile_says_by_whom(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        page = self.sign_in()
        self.shows(page, call['message'])
        self.press(page, 'Deny…')
        self.shows(page, 'Deny dangerous?')
        self.server.decide(call, True)
        self.shows(page, 'Already approved')
        self.assertIn('was not applied', self.text(page))

    def test_one_decision_for_the_marked_calls_and_no_other(self):
        self.server = self.configured(CONFIG % self.provider.server_port + GATE, MOCK_KEY='sk-mock')
        sessions = [self.server.create(f'deploy {name}')['id'] for name in ('shop', 'blog', 'docs')]
        page = self.sign_in()
        self.press(page, 'Select…')
        for name in ('shop', 'blog'):
            page.until(f"""(() => {{
                const box = document.querySelector('[aria-label="Mark: Deploy {name}?"]');
                if (box && !box.checked) box.click();
                return box?.checked;
            }})()""")
        self.press(page, 'Approve 2…')
        self.shows(page, 'Approve 2 calls of deploy?')
        self.accessible(page, 'several calls')
        dialog = page.run("document.querySelector('dialog').textContent")
        self.assertTrue('blog' in dialog and 'shop' in dialog and 'docs' not in dialog, dialog)
        self.press(page, 'Approve and run all 2')
        self.shows(page, 'Approved: 2 calls.')
        (docs,) = self.server.open_calls(sessions[2])
        self.assertEqual((docs['reason'], docs['status']), ('approval', 'waiting'))
        for session in sessions[:2]:
            (job,) = self.server.open_calls(session)
            self.assertEqual(job['reason'], 'tool_result')

    def test_link_of_a_notification_opens_one_decision_in_two_acts(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        page = self.sign_in(f'/a/{call["id"]}')
        self.press(page, 'Approve…')
        self.shows(page, 'Run this once?')
        self.press(page, 'Approve and run')
        self.shows(page, 'Approved.')
        self.server.at_rest(session)
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        self.assertEqual(settled['receipt']['by']['name'], 'alice')
        # A link that is opened later shows what became of it.
        page.go(self.url(f'/a/{call["id"]}'))
        self.shows(page, 'Approved')

    def test_question_is_answered_by_one_of_its_choices(self):
        session = self.server.create('ask Where? | north | south')['id']
        page = self.sign_in()
        self.shows(page, 'Another answer')
        send = """[...document.querySelectorAll('button')].find(
            one => one.innerText.trim() == 'Send answer').disabled"""
        self.assertTrue(page.run(send))
        page.run("document.querySelector('input[type=radio][value=\\'1\\']').click()")
        self.press(page, 'Send answer')
        self.shows(page, 'Answer sent.')
        self.server.at_rest(session)
        self.assertEqual(self.server.said(session), 'ask_human Where?: south')

    def test_form_with_files_is_answered_and_hostile_titles_are_text(self):
        schema = {
            'type': 'object',
            'properties': {
                'count': {'type': 'integer', 'minimum': 1, 'title': f'{BAD} how many',
                          'description': BAD},
                'region': {'enum': ['eu', BAD]},
            },
            'required': ['count'],
        }
        asked = {'question': f'# Where {BAD}\n\n- **one**\n- two', 'schema': schema, 'files': True}
        session = self.server.create('ask ' + json.dumps(asked))['id']
        page = self.sign_in()
        self.shows(page, 'how many')
        self.assertEqual(page.run("document.querySelectorAll('.rest li').length"), 2)
        self.assertEqual(page.run("document.querySelectorAll('article img').length"), 0)
        disabled = '''[...document.querySelectorAll('button')].find(
            one => one.innerText.trim() == 'Send answer').disabled'''
        field = 'fieldset.choices input:not([type=file])'
        self.fill(page, field, '0')
        self.shows(page, 'must be at least 1')
        self.assertTrue(page.run(disabled))
        self.fill(page, field, '3')
        page.until(f'!({disabled})')
        name = f'{BAD}.txt'
        page.run(f'''(() => {{
            const chooser = document.querySelector('input[type=file]');
            const list = new DataTransfer();
            list.items.add(new File(['hello'], {json.dumps(name)}, {{ type: 'text/plain' }}));
            chooser.files = list.files;
            chooser.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()''')
        self.shows(page, 'onerror')
        self.accessible(page, 'a form')
        self.press(page, 'Send answer')
        self.shows(page, 'Answer sent.')
        self.server.at_rest(session)
        self.assertIn('"count":3', self.server.said(session))
        page.go(self.url(f'/sessions/{session}'))
        self.shows(page, 'onerror')
        self.assertIsNone(page.run('window.hacked'))

    def test_call_is_reassigned_and_only_the_new_answerer_has_it(self):
        session = self.server.create('ask Where?')['id']
        self.server.post('/api/tokens', {'name': 'bob', 'role': 'answer'})
        page = self.sign_in()
        self.shows(page, 'Where?')
        page.run("document.querySelector('[aria-label^=More]').click()")
        self.press(page, 'Reassign…')
        self.shows(page, 'Ask other people instead?')
        self.accessible(page, 'reassign')
        self.fill(page, 'dialog input[list]', 'bob')
        self.press(page, 'Reassign')
        self.shows(page, 'bob can answer')
        (call,) = self.server.open_calls(session)
        self.assertEqual(call['answer']['from'], ['bob'])
        self.shows(page, 'You can read, but not answer')

    def test_arguments_are_edited_and_approved_as_edited(self):
        session = self.server.create('approve A')['id']
        page = self.sign_in()
        self.press(page, 'Edit')
        self.fill(page, '#f-action', 'B')
        self.press(page, 'Done')
        self.shows(page, 'edited by you')
        self.press(page, 'Approve with 1 change…')
        self.press(page, 'Approve with 1 change and run')
        self.shows(page, 'Approved.')
        self.server.at_rest(session)
        self.assertIn('dangerous B', self.server.said(session))

    def test_two_people_race_and_one_decides(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        pages = [self.sign_in()]
        self.shows(pages[0], call['message'])
        # The cookies of a browser are shared: the second one decides by HTTP at the same time.
        self.press(pages[0], 'Approve…')
        self.shows(pages[0], 'Run this once?')
        bob = self.server.post('/api/tokens', {'name': 'bob', 'role': 'answer'})['secret']
        statuses = []

        def deny():
            client = Client(self.server.port, bob)
            body = {'pendingID': call['id'], 'approved': False, 'inputDigest': call['inputDigest']}
            statuses.append(client.post('/async-tool/decision', body).status)

        other = threading.Thread(target=deny)
        other.start()
        pages[0].run('''[...document.querySelectorAll('button')].find(
            one => one.innerText.trim() == 'Approve and run')?.click()''')
        other.join()
        self.server.at_rest(session)
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        by = settled['receipt']['by']['name']
        self.assertEqual(statuses, [200 if by == 'bob' else 409])
        self.shows(pages[0], 'Approved.' if by == 'alice' else 'was not applied')

    # ---- keyboard

    def test_keyboard_alone_leads_from_the_list_to_a_decision(self):
        for name in ('A', 'B'):
            self.server.create(f'approve {name}')
        page = self.sign_in()
        self.shows(page, 'Approve…')
        first = page.run("document.querySelector('.it.on').id")
        self.key(page, 'j')
        page.until(f"document.querySelector('.it.on')?.id !== {first!r}")
        self.key(page, 'k')
        page.until(f"document.querySelector('.it.on')?.id === {first!r}")
        self.key(page, 'a')
        self.shows(page, 'Run this once?')
        # The confirmation takes no input for its first 400 ms.
        page.until("""[...document.querySelectorAll('dialog button')].some(
            one => one.innerText.trim() == 'Approve and run' && !one.disabled)""")
        self.key(page, 'Enter', modifiers=2)
        self.shows(page, 'Approved.')
        settled = self.server.get(f'/async-tool/pending/{first[3:]}').json
        self.assertEqual(settled['decision']['approved'], True)

    def test_keyboard_alone_writes_a_prompt(self):
        session = self.server.create()['id']
        page = self.sign_in(f'/sessions/{session}')
        page.until("document.querySelector('textarea[aria-label=Message]') != null")
        self.key(page, '/')
        page.until("document.activeElement.getAttribute('aria-label') === 'Message'")
        page.call('Input.insertText', text='hello there')
        self.key(page, 'Enter', modifiers=2)
        self.shows(page, 'You said: hello there')

    def key(self, page, key, modifiers=0):
        code = {'Enter': 13}.get(key, ord(key[0].upper()))
        more = {'text': key} if len(key) == 1 else {}
        for kind in ('keyDown', 'keyUp'):
            page.call('Input.dispatchKeyEvent', type=kind, key=key, modifiers=modifiers,
                      windowsVirtualKeyCode=code, **(more if kind == 'keyDown' else {}))

    # ---- bad input

    def test_addresses_that_lead_nowhere_say_what_to_do(self):
        self.server.create('approve A', project='secret')
        page = self.sign_in()
        for path, seen in (
            ('/sessions/ses_AAAAAAE', 'does not exist'),
            ('/?open=pnd_x', 'does not exist'),
            ('/a/pnd_AAAAAAEXinbjDe5WMEYhEA_1_1_KGoT7YAtRkJgFqZeEhOjiw', 'the link is incomplete'),
            ('/nowhere', 'The link may be incomplete'),
        ):
            page.go(self.url(path))
            self.shows(page, seen)
            page.until("document.querySelector('main a[href], .app a[href]') != null")

    # ---- conversation

    def test_session_of_10000_messages_scrolls(self):
        messages = [
            {'role': 'user' if n % 2 == 0 else 'assistant',
             'parts': [{'type': 'text', 'text': f'Message {n}: ' + 'words and words ' * 10}]}
            for n in range(10_000)
        ]
        made = self.server.post('/api/projects/default/import',
                                {'agentID': 'demo', 'messages': messages})
        session = self.assertStatus(made, 201)['id']
        page = self.sign_in(f'/sessions/{session}')
        self.shows(page, 'Message 9999', seconds=60)
        frames = page.run('''new Promise(done => {
            const box = [...document.querySelectorAll('*')].filter(one =>
                one.scrollHeight > one.clientHeight + 500 &&
                /auto|scroll/.test(getComputedStyle(one).overflowY))[0] ??
                document.scrollingElement;
            let frames = 0;
            const begin = performance.now();
            const step = () => {
                frames += 1;
                box.scrollBy(0, -400);
                if (performance.now() - begin < 2000) requestAnimationFrame(step);
                else done(Math.round(frames / 2));
            };
            requestAnimationFrame(step);
        })''')
        heap = page.run('performance.memory?.usedJSHeapSize ?? 0') >> 20
        nodes = page.run("document.querySelectorAll('*').length")
        print(f'10,000 messages: {frames} frames/s, {heap} MiB, {nodes} elements')
        self.assertLess(nodes, 20_000)

    def test_reply_streams_into_two_pages_one_joins_late(self):
        session = self.server.create(agent='writer')['id']
        early = self.sign_in(f'/sessions/{session}')
        self.server.prompt(session, 'go', wait=0)
        self.shows(early, PIECES[0].strip())
        self.provider.tickets.release()
        self.shows(early, PIECES[1].strip())
        late = self.open(f'/sessions/{session}')
        self.shows(late, (PIECES[0] + PIECES[1]).strip())
        for _ in PIECES:
            self.provider.tickets.release()
        for page in (early, late):
            self.shows(page, ''.join(PIECES))
            self.server.at_rest(session)
            page.until("document.querySelector('.caret') == null")
            self.assertEqual(self.conversation(page).count(PIECES[0].strip()), 1)

    def test_server_killed_in_mid_stream_page_shows_all_once(self):
        session = self.server.create(agent='writer')['id']
        page = self.sign_in(f'/sessions/{session}')
        self.server.prompt(session, 'go', wait=0)
        self.shows(page, PIECES[0].strip())
        self.server.kill()
        self.shows(page, 'Connection lost')
        for _ in range(2 * len(PIECES)):
            self.provider.tickets.release()
        self.server.start()
        self.shows(page, ''.join(PIECES), seconds=60)
        self.server.at_rest(session)
        page.until("document.querySelector('.caret') == null")
        self.assertEqual(self.conversation(page).count(PIECES[0].strip()), 1)
        page.until("!document.body.innerText.includes('Connection lost')")

    # ---- connection

    def test_tabs_share_one_stream_and_the_next_one_continues_it(self):
        first = self.sign_in('/sessions')
        self.shows(first, 'No sessions yet')
        second = self.open('/sessions')
        self.shows(second, 'No sessions yet')
        for page in (first, second):
            self.shows(page, 'Connected')
        self.server.create(title='The first session')
        for page in (first, second):
            self.shows(page, 'The first session')
        self.pages.remove(first)
        first.close()
        self.server.create(title='The second session')
        self.shows(second, 'The second session')
        shown = second.run("document.querySelector('.body').innerText")
        self.assertEqual(shown.count('The first session'), 1)
        self.assertEqual(shown.count('The second session'), 1)

    def follow(self, page, path):
        """Presses a link of the page, which loads nothing but what the view needs."""
        page.until(f"""(() => {{
            const link = document.querySelector('a[href="{path}"]');
            link?.click();
            return link != null;
        }})()""")

    # How many sessions the browser keeps. Opening a database that does not exist would make it.
    KEPT = """indexedDB.databases().then(all => all.length === 0 ? 0 : new Promise(done => {
        const opened = indexedDB.open('dormouse');
        opened.onerror = () => done(-1);
        opened.onsuccess = () => {
            const db = opened.result;
            const count = db.transaction('sessions').objectStore('sessions').count();
            count.onsuccess = () => { db.close(); done(count.result) };
        };
    }))"""

    def test_sessions_are_read_without_a_server_until_sign_out(self):
        session = self.server.create('deploy A', title='Deploy the shop')['id']
        call = self.server.open_calls(session)[0]['id']
        page = self.sign_in('/sessions')
        self.shows(page, 'Deploy the shop')
        page.go(self.url(f'/sessions/{session}'))
        self.shows(page, 'Asleep')
        page.until(f'{self.KEPT}.then(count => count > 0)')
        self.follow(page, '/sessions')
        self.shows(page, 'Waits for')
        self.server.kill()
        self.follow(page, f'/sessions/{session}')
        self.shows(page, 'kept in this browser')
        self.shows(page, 'Deploy the shop')
        self.follow(page, '/tasks')
        self.follow(page, '/sessions')
        self.shows(page, 'Older sessions need the server.')
        self.follow(page, f'/sessions/{session}')
        self.shows(page, 'kept in this browser')
        self.server.start()
        self.server.result(call, 'live')
        self.shows(page, '11 events', seconds=60)
        page.until("!document.body.innerText.includes('kept in this browser')")
        page.go(self.url('/you'))
        self.press(page, 'Sign out')
        page.until("location.pathname == '/sign-in'")
        self.assertEqual(page.run(self.KEPT), 0)
        self.assertEqual(page.run("Object.keys(localStorage).join()"), '')

    # ---- hostile texts

    def test_past_state_shows_what_was_known_and_answers_nothing(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        asked = self.server.get(f'/api/sessions/{session}')['seq']
        self.server.decide(call, True)
        self.server.at_rest(session)
        page = self.sign_in(f'/sessions/{session}')
        self.shows(page, 'dangerous A:')
        page.go(self.url(f'/sessions/{session}?at={asked}'))
        self.shows(page, 'This is the past.')
        self.shows(page, 'Asleep since')
        self.assertNotIn('dangerous A:', self.text(page))
        self.assertEqual(page.run("document.querySelectorAll('textarea').length"), 0)
        self.accessible(page, 'a past state')
        page.run("document.querySelector('.past a').click()")
        self.shows(page, 'dangerous A:')

    def test_hostile_texts_run_nothing_anywhere(self):
        asked = self.server.create(f'ask {BAD} is it so?', title=HOSTILE)['id']
        (call,) = self.server.open_calls(asked)
        job = self.server.create('deploy A')['id']
        (waiting,) = self.server.open_calls(job)
        self.assertStatus(self.server.result(waiting['id'], {'page': HOSTILE}), 200)
        said = self.server.create(agent='writer')['id']
        part = {
            'type': 'file',
            'mime': 'text/html',
            'name': f'{BAD}.html',
            'data': base64.b64encode(HOSTILE.encode()).decode(),
        }
        body = {'parts': [{'type': 'text', 'text': f'be hostile {HOSTILE}'}, part]}
        self.assertStatus(self.server.post(f'/api/sessions/{said}/prompt?wait=20', body), 200)
        page = self.sign_in()
        for path, seen in (
            ('/', 'is it so?'),
            (f'/?open={call["id"]}', 'is it so?'),
            ('/sessions', 'onerror'),
            (f'/sessions/{asked}', 'onerror'),
            (f'/sessions/{job}', 'deploy'),
            (f'/sessions/{job}/timeline', 'deploy'),
            (f'/sessions/{job}/calls', 'deploy'),
            (f'/sessions/{said}', 'onerror'),
            (f'/a/{call["id"]}', 'is it so?'),
        ):
            page.go(self.url(path))
            self.shows(page, seen)
            # Opens everything that is folded.
            page.run("document.querySelectorAll('[aria-expanded=false]').forEach(x => x.click())")
            # A planted image fails before this one, and its script runs.
            page.run("x = new Image(); x.onerror = () => { x = 'failed' }; x.src = 'data:x'")
            page.until("x === 'failed'")
            self.assertIsNone(page.run('window.hacked'), path)
            planted = page.run(
                """[...document.querySelectorAll('*')].filter(one =>
                [...one.attributes].some(a => a.name.startsWith('on')) ||
                (one.getAttribute('href') ?? '').startsWith('javascript:') ||
                (one.getAttribute('src') ?? '').includes('evil')).length"""
            )
            self.assertEqual(planted, 0, path)

    # ---- sizes

    def test_views_fit_their_screen_and_pass_axe(self):
        if not AXE.is_file():
            self.skipTest('axe-core is not installed: tools/web_page.sh --tests installs it')
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        done = self.server.create('deploy B', title='Deploy the shop')['id']
        self.server.result(self.server.open_calls(done)[0]['id'], {'version': 2})
        page = self.sign_in()
        views = [
            ('inbox', '/', 'Allow'),
            ('decision', f'/?open={call["id"]}', 'Approve'),
            ('sessions', '/sessions', 'Deploy the shop'),
            ('session', f'/sessions/{done}', 'version'),
            ('timeline', f'/sessions/{done}/timeline', 'deploy'),
            ('answer', f'/a/{call["id"]}', 'Approve'),
            ('operate', '/operate', 'Overview'),
            ('audit', '/operate/audit', 'verified'),
            ('nodes', '/operate/nodes', 'This server'),
            ('configuration', '/operate/config', 'A secret is shown'),
            ('you', '/you', 'alice'),
        ]
        for size, (width, height, phone) in SIZES.items():
            page.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=phone)
            for scheme in ('light', 'dark'):
                page.call('Emulation.setEmulatedMedia', features=[
                    {'name': 'prefers-color-scheme', 'value': scheme},
                    {'name': 'prefers-reduced-motion', 'value': 'reduce'}])
                for name, path, seen in views:
                    self.look(page, f'{name}-{width}-{scheme}', path, seen, width)

    def look(self, page, name, path, seen, width):
        page.go(self.url(path))
        page.until("document.querySelector('main, .app') != null")
        wait_for(lambda: page.run(f'document.body.innerText.includes({seen!r})'), what=name)
        page.until("document.querySelector('.skel') == null")
        if folder := os.environ.get('DORMOUSE_SHOTS'):
            page.until(STILL)
            shot = page.call('Page.captureScreenshot', format='png')
            pathlib.Path(folder, f'{name}.png').write_bytes(base64.b64decode(shot['data']))
        wide = page.run('document.documentElement.scrollWidth')
        self.assertLessEqual(wide, width, name)
        self.accessible(page, name)

    def accessible(self, page, name):
        if not AXE.is_file():
            return
        page.until(STILL)  # what fades in has less contrast until it is there
        page.run(AXE.read_text() + '; 0')
        found = page.run("""axe.run(document).then(found => found.violations.map(one =>
            one.id + ': ' + one.nodes.map(node => node.html).join(' | ')))""")
        self.assertEqual(found, [], name)

    # ---- without script

    def test_without_script_the_list_and_the_decision_work(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        link = self.server.post('/api/links', {'name': 'bob', 'role': 'answer'})
        page = self.open('/healthz')
        page.call('Emulation.setScriptExecutionDisabled', value=True)
        page.go(self.url(f'/sign-in?next=/a/{call["id"]}'))
        self.type(page, '#link', link['url'])
        self.click(page, '#in')
        self.shown_without_script(page, 'Sign in as bob?')
        self.click(page, 'button[name=confirm]')
        self.shown_without_script(page, call['message'])
        page.go(self.url('/'))
        self.shown_without_script(page, 'Waiting for you: 1')
        page.go(self.url(f'/a/{call["id"]}'))
        self.click(page, 'button[value=approve]')
        self.shown_without_script(page, 'Approved by bob')
        self.server.at_rest(session)
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        self.assertEqual(settled['receipt']['by']['name'], 'bob')

    def html(self, page):
        root = page.call('DOM.getDocument')['root']['nodeId']
        try:
            return page.call('DOM.getOuterHTML', nodeId=root)['outerHTML']
        except RuntimeError:
            return ''  # the browser is already on the next page

    def shown_without_script(self, page, text):
        wait_for(lambda: text in self.html(page), what=text)

    def place(self, page, selector):
        root = page.call('DOM.getDocument')['root']['nodeId']
        node = page.call('DOM.querySelector', nodeId=root, selector=selector)['nodeId']
        page.call('DOM.scrollIntoViewIfNeeded', nodeId=node)
        x1, y1, _, _, x2, y2, _, _ = page.call('DOM.getBoxModel', nodeId=node)['model']['content']
        return {'x': (x1 + x2) / 2, 'y': (y1 + y2) / 2}

    def click(self, page, selector):
        at = self.place(page, selector)
        for kind in ('mousePressed', 'mouseReleased'):
            page.call('Input.dispatchMouseEvent', type=kind, button='left', clickCount=1, **at)

    def type(self, page, selector, text):
        self.click(page, selector)
        page.call('Input.insertText', text=text)


if __name__ == '__main__':
    if not chromium.program():
        leave_out('not installed: chromium-headless-shell (tools/setup.sh test)')
    main()
