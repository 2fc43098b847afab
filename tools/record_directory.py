#!/usr/bin/env python3
"""Records a data directory of an earlier release, with what its server answered, for
tests/stored_directories.py.

usage: tools/record_directory.py BINARY FOLDER [files]

BINARY is the program of that release. FOLDER gets dormouse.sql (the database as SQL; with
DORMOUSE_TEST_STORE=postgres of pg_dump), the files beside it, and answers.json. The server's clock
is ten years ahead, so that tests of the next years can continue from there. With a key in
DORMOUSE_TEST_KEY it is an encrypted one, whose key is stored beside it. With `files` FOLDER gets an
export, an archive and a backup instead, and files.json.
"""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tests'))

AHEAD_S = 10 * 365 * 86_400
BESIDE = ('token', 'callback.key')
LARGE = 'a large result of the earlier release; ' * 600  # more than a page of the file


def fill(server):
    """Sessions in many states. Returns their ids by what they are."""
    made = {}
    made['done'] = server.create('hello')['id']
    made['ended'] = server.create('hello again', title='what was ended')['id']
    server.post(f'/api/sessions/{made["ended"]}/end', {})
    made['sleeps'] = server.create('deploy A and B', labels={'team': 'red'})['id']
    server.result(server.open_calls(made['sleeps'])[0]['id'], 'A is live')
    made['approval'] = server.create('approve A', project='other')['id']
    made['denied'] = server.create('approve B')['id']
    server.decide(server.open_calls(made['denied'])[0], False, comment='not today')
    made['question'] = server.create('ask Which colour? | red | blue')['id']
    made['timer'] = server.create('wait 30d')['id']
    made['large'] = server.create('deploy C')['id']
    server.result(server.open_calls(made['large'])[0]['id'], LARGE)
    made['failed'] = server.create('fail')['id']
    made['cancelled'] = server.create('deploy D')['id']
    server.post(f'/api/sessions/{made["cancelled"]}/cancel', {'reason': 'a mistake'})
    made['named'] = server.create('hello', alias='receiver')['id']
    made['writer'] = server.create('tell receiver good morning')['id']
    made['parent'] = server.create('background deploy E')['id']
    made['fork'] = server.post(f'/api/sessions/{made["done"]}/fork', {}).json['id']
    server.prompt(made['fork'], 'hello from the fork')
    return made


def paths(server, made):
    """The requests to it: lists, and each session."""
    out = ['/api/projects/default/sessions?limit=200', '/api/projects/other/sessions',
           '/async-tool/pending?limit=200', '/api/tokens', '/api/audit?limit=200']
    for session in made.values():
        out += [f'/api/sessions/{session}', f'/api/sessions/{session}/messages?limit=200',
                f'/api/sessions/{session}/turns?limit=200']
    for name in ('sleeps', 'named', 'parent', 'large'):
        out.append(f'/api/sessions/{made[name]}/events?limit=200')
    return out


def dump(source, target):
    """Writes the database as SQL, with the two numbers that SQLite's own dump leaves out."""
    with contextlib.closing(sqlite3.connect(source)) as file:
        numbers = [f'PRAGMA {name}={file.execute(f"PRAGMA {name}").fetchone()[0]};'
                   for name in ('application_id', 'user_version')]
        target.write_text('\n'.join([*file.iterdump(), *numbers]) + '\n')


def dump_schema(server, target):
    """Writes the schema of a server on PostgreSQL as SQL that any role can load."""
    import postgres
    schema = server.store.split('?schema=')[1]
    done = subprocess.run(
        [postgres.programs() / 'pg_dump', '--no-owner', '--no-privileges', '--inserts',
         '--rows-per-insert=100', '--schema', schema, postgres.cluster().url()],
        check=True, capture_output=True, text=True)
    # psql before PostgreSQL's updates of 2025 has no \restrict.
    lines = [line for line in done.stdout.splitlines()
             if line and not line.startswith(('--', '\\restrict', '\\unrestrict'))]
    target.write_text('\n'.join(lines).replace(schema, 'recorded') + '\n')


def record_files(folder):
    """Writes what commands make of two sessions, of which one is completed."""
    from dormouse import Server, run
    server = Server()
    data = ('--data', server.directory)
    try:
        ended = server.create('hello', title='what was ended')['id']
        sleeps = server.create('deploy A', labels={'team': 'red'})['id']
        for session in (ended, sleeps):
            server.at_rest(session)
        server.post(f'/api/sessions/{ended}/end', {})
        recorded = {'ended': ended, 'sleeps': sleeps,
                    'events': {one: server.events(one) for one in (ended, sleeps)}}
        server.term()
        whole = run('export', *data)
        assert whole.returncode == 0, whole.stderr
        (folder / 'export.jsonl').write_text(whole.stdout)
        with tempfile.TemporaryDirectory() as place:
            for words in (('backup', place + '/backup'),
                          ('archive', folder / 'archive', '--completed-after', '0s')):
                done = run(*words, *data)
                assert done.returncode == 0, done.stderr
            with tarfile.open(folder / 'backup.tar.gz', 'w:gz') as packed:
                packed.add(place + '/backup', 'backup')
        (folder / 'files.json').write_text(json.dumps(recorded) + '\n')
    finally:
        server.clean()


def main(binary, folder, what=''):
    os.environ['DORMOUSE'] = str(pathlib.Path(binary).resolve())
    from dormouse import ENCRYPTED, Server, wait_for
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if what == 'files':
        return record_files(folder)
    if ENCRYPTED:
        (folder / 'key').write_text(ENCRYPTED)
    server = Server(start=False)
    server.ahead = AHEAD_S
    try:
        server.start()
        made = fill(server)
        reader = server.post('/api/tokens', {'name': 'reader', 'role': 'read'}).json['secret']
        for session in made.values():
            server.at_rest(session)
        tasks = f'/api/sessions/{made["parent"]}/tasks'
        wait_for(lambda: server.get(tasks)['items'][0]['status'] == 'running', what='the task')
        answers = {path: server.get(path).json for path in paths(server, made)}
        answers[tasks] = server.get(tasks).json
        recorded = {'now': round(server.time()), 'sessions': made, 'reader': reader,
                    'large': LARGE}
        server.term()
        if server.store:
            dump_schema(server, folder / 'dormouse.sql')
        else:
            dump(f'{server.directory}/dormouse.db', folder / 'dormouse.sql')
        for name in BESIDE:
            (folder / name).write_bytes(pathlib.Path(server.directory, name).read_bytes())
        lines = [f'{json.dumps(path)}: {json.dumps(answer)}' for path, answer in answers.items()]
        (folder / 'answers.json').write_text(
            json.dumps(recorded)[:-1] + ',\n"answers": {\n' + ',\n'.join(lines) + '}}\n')
    finally:
        server.clean()


if __name__ == '__main__':
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
