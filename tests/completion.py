#!/usr/bin/env python3
"""Shell completion and the manual page, read by the programs they are for. bash is required; zsh,
fish, groff and mandoc are used if installed (tools/setup.sh test)."""
import os
import pathlib
import shutil
import subprocess

from dormouse import BINARY, Case, environment, main, run

from cli import Terminal

if os.path.basename(BINARY) != 'dormouse':
    raise SystemExit('the binary must be called dormouse: that is what is completed')

# Calls the function as bash does, with the words as bash would split them.
BASH = r"""
eval "$(dormouse completion bash)"
complete -p dormouse >/dev/null || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
set -u
_dormouse
printf '%s\n' "${COMPREPLY[@]}"
"""


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(self.session)
        self.call = call['id']
        self.url = f'http://127.0.0.1:{self.server.port}'

    def environment(self, **more):
        return environment(
            PATH=os.path.dirname(BINARY) + ':' + os.environ['PATH'],
            DORMOUSE_URL=self.url,
            DORMOUSE_TOKEN=self.server.token,
            HOME=self.server.own,
            **more,
        )

    def shell(self, *command, env=None):
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=30, env=env or self.environment()
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ''), ended)
        return ended.stdout.split()

    def bash(self, *words, env=None):
        return self.shell('bash', '-c', BASH, 'bash', 'dormouse', *words, env=env)

    def test_words_of_the_table(self):
        self.assertEqual(self.bash('pro'), ['prompt', 'progress'])
        self.assertIn('watch', self.bash(''))
        self.assertNotIn('candidates', self.bash(''))
        self.assertEqual(self.bash('prompt', '--wh'), ['--when'])
        self.assertIn('--server', self.bash('sessions', '--'))
        self.assertEqual(
            self.bash('prompt', '--when', ''), ['queue', 'steer', 'interrupt', 'reject']
        )
        self.assertEqual(self.bash('--json', 'pending', '--status', 'wai'), ['waiting'])
        self.assertEqual(self.bash('pending', '--status', '=', 'wai'), ['waiting'])
        self.assertEqual(self.bash('completion', 'f'), ['fish'])
        self.assertEqual(self.bash('prompt', 'x'), [], 'a text is nobody else\'s')

    def test_ids(self):
        self.assertEqual(self.bash('tail', 'ses_'), [self.session])
        self.assertEqual(self.bash('result', self.call[:20]), [self.call])
        self.assertEqual(sorted(self.bash('show', '')), sorted([self.session, self.call]))
        self.assertEqual(self.bash('prompt', '-s', ''), [self.session])
        self.assertEqual(self.bash('prompt', '-a', 'demo-'), ['demo-each'])
        self.assertEqual(self.bash('result', self.call, ''), [])
        self.assertEqual(self.bash('tail', 'ses_nothing'), [])

    def test_ids_of_the_server_that_was_named(self):
        elsewhere = environment(
            PATH=os.path.dirname(BINARY) + ':' + os.environ['PATH'], HOME=self.server.own
        )
        self.assertEqual(self.bash('tail', 'ses_', env=elsewhere), [])
        where = ['--server', 'http', ':', f'//127.0.0.1', ':', str(self.server.port)]
        where += ['--data', self.server.directory]
        self.assertEqual(self.bash(*where, 'tail', 'ses_', env=elsewhere), [self.session])

    def test_files(self):
        pathlib.Path(self.server.own, 'a value.json').write_text('1')
        found = self.bash('result', self.call, '--file', self.server.own + '/a v')
        self.assertEqual(' '.join(found), self.server.own + '/a value.json')

    def test_no_server_prints_nothing(self):
        self.server.term()
        self.assertEqual(self.bash('tail', 'ses_'), [])
        self.server.start()

    def test_tab_key(self):
        for shell, flags, set_up in (
            ('bash', ['--norc', '--noprofile', '-i'], ''),
            ('zsh', ['-f', '-i'], 'autoload -U compinit; compinit -u -D; '),
        ):
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest(f'{shell} is not installed (tools/setup.sh test)')
                screen = Terminal(*flags, program=shell, **self.shell_environment())
                screen.type(f"{set_up}source <(dormouse completion {shell}); echo re''ady\n")
                screen.until('ready')
                screen.type(f'dormouse tail {self.session[:12]}\t')
                screen.until(self.session)
                screen.type('\x15dormouse tail --no-fo\t')
                screen.until('--no-follow')
                screen.type('\x15exit\n')
                screen.ended()

    def shell_environment(self):
        return {k: v for k, v in self.environment().items() if k not in os.environ or k == 'PATH'}

    def test_fish(self):
        if not shutil.which('fish'):
            self.skipTest('fish is not installed (tools/setup.sh test)')
        def fish(line):
            script = 'dormouse completion fish | source; complete -C $argv[1]'
            ended = subprocess.run(
                ['fish', '--no-config', '-c', script, line],
                capture_output=True,
                text=True,
                timeout=30,
                env=self.environment(),
            )
            self.assertEqual((ended.returncode, ended.stderr), (0, ''))
            return [found.split('\t')[0] for found in ended.stdout.splitlines()]

        self.assertEqual(sorted(fish('dormouse pro')), ['progress', 'prompt'])
        self.assertEqual(fish('dormouse tail ses_'), [self.session])
        self.assertEqual(fish('dormouse prompt --when re'), ['reject'])
        self.assertEqual(fish('dormouse prompt -a demo-'), ['demo-each'])


class Manual(Case):
    def setUp(self):
        pass  # no server

    def tearDown(self):
        pass

    def test_page_is_read_without_a_warning(self):
        page = run('man')
        self.assertEqual((page.returncode, page.stderr), (0, ''))
        for program in (
            ['groff', '-man', '-ww', '-z', '-Tutf8'],
            ['mandoc', '-T', 'lint', '-W', 'error'],
        ):
            with self.subTest(program[0]):
                if not shutil.which(program[0]):
                    self.skipTest(f'{program[0]} is not installed (tools/setup.sh test)')
                ended = subprocess.run(program, input=page.stdout, capture_output=True, text=True)
                self.assertEqual((ended.returncode, ended.stdout + ended.stderr), (0, ''))

    def test_completion_names_every_command(self):
        page = run('man').stdout
        listed = run('--help').stdout.split('Run a server:')[1]
        for line in listed.splitlines():
            words = line.split()
            if line.startswith('  ') and words and words[0].isalpha() and line[2] != ' ':
                if words[0] == 'dormouse':
                    break  # the example
                self.assertIn(f'dormouse {words[0]}\\fR', page)


if __name__ == '__main__':
    main()
