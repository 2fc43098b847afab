#!/usr/bin/env python3
"""A server that reaches PostgreSQL by TLS: `sslmode=verify-full` accepts the certificate of the
named authority alone, for the named host, and nothing that is refused shows a password."""
import os
import pathlib
import shutil
import subprocess

import postgres
from dormouse import main
from store_postgres import SECRET, Database


def authority(folder, name):
    """Returns the certificate and the key of a new authority, as paths."""
    cert, key = folder / f'{name}.pem', folder / f'{name}.key'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', f'/CN={name}',
                    '-keyout', key, '-out', cert], check=True, capture_output=True)
    return cert, key


def certificate(folder, by, host):
    """Returns the certificate of a server, signed by an authority, and its key, as paths."""
    cert, key, request = (folder / f'server.{end}' for end in ('pem', 'key', 'csr'))
    names = folder / 'names'
    names.write_text(f'subjectAltName=IP:{host}')
    subprocess.run(['openssl', 'req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
                    '-nodes', '-subj', f'/CN={host}', '-keyout', key, '-out', request],
                   check=True, capture_output=True)
    subprocess.run(['openssl', 'x509', '-req', '-in', request, '-CA', by[0], '-CAkey', by[1],
                    '-CAcreateserial', '-days', '2', '-extfile', names, '-out', cert],
                   check=True, capture_output=True)
    return cert, key


class Encrypted(Database):
    def setUp(self):
        super().setUp()
        self.ca, self.other = authority(self.folder, 'ours'), authority(self.folder, 'theirs')
        self.database = postgres.Cluster()
        self.addCleanup(self.database.end)
        self.database.run(f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'",
                          'GRANT CREATE ON DATABASE postgres TO locked')

    def encrypt(self, host):
        """The database has TLS with a certificate for this host, and accepts nothing else."""
        for source, name in zip(certificate(self.folder, self.ca, host), ('crt', 'key')):
            target = f'{self.database.data}/server.{name}'
            shutil.copyfile(source, target)
            os.chmod(target, 0o600)
            if self.database.user:
                os.chown(target, self.database.user.pw_uid, self.database.user.pw_gid)
        self.database.stop()
        self.database.configure('ssl = on')
        hba = pathlib.Path(self.database.data, 'pg_hba.conf')
        hba.write_text('hostnossl all locked all reject\n' + hba.read_text())
        self.database.start()

    def url(self, ca=None, **more):
        return super().url(user='locked', **more) + f'&sslmode=verify-full&sslrootcert={ca}'

    def refused(self, ca):
        output = self.refusal(self.url(ca), '--relaxed', env={'PGPASSWORD': SECRET})
        self.assertIn('PostgreSQL cannot be reached', output)
        self.assertNotIn(SECRET, output)
        return output

    def test_certificate_of_the_named_authority_is_accepted(self):
        self.encrypt('127.0.0.1')
        server = self.server(store=self.url(self.ca[0]), env={'PGPASSWORD': SECRET})
        session = server.create('deploy A')['id']
        call, = server.open_calls(session)
        self.assertEqual(server.result(call['id'], 'live').status, 200)
        server.at_rest(session)
        encrypted = ('SELECT count(*), count(*) FILTER (WHERE s.ssl) FROM pg_stat_ssl s'
                     " JOIN pg_stat_activity a USING (pid) WHERE a.usename = 'locked'")
        (all_of_them, those), = self.database.run(encrypted)
        self.assertEqual(those, all_of_them)
        self.assertGreater(int(those), 0)
        server.finish()

    def test_another_authority_is_refused(self):
        self.encrypt('127.0.0.1')
        self.assertIn('certificate verify failed', self.refused(self.other[0]))

    def test_certificate_for_another_host_is_refused(self):
        self.encrypt('127.0.0.2')
        self.assertIn('127.0.0.1', self.refused(self.ca[0]))

    def test_missing_file_of_the_authority_is_refused(self):
        self.encrypt('127.0.0.1')
        self.assertIn('does not exist', self.refused(self.folder / 'missing.pem'))

    def test_database_without_tls_is_refused(self):
        self.assertIn('does not support SSL', self.refused(self.ca[0]))


if __name__ == '__main__':
    main()
