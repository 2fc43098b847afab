#!/usr/bin/env python3
"""The Helm chart: Helm lints and renders it, its objects fit the schemas of Kubernetes, and a
server runs with the arguments and the configuration that it renders."""
import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import npm
import yaml
from dormouse import BINARY, ROOT, Server, environment, leave_out, main, wait_for

CHART = ROOT / 'packaging/helm/dormouse'
CHECKER = pathlib.Path(__file__).resolve().parent / 'charts'
LIMIT_S = 240
POSTGRES = {'store': {'kind': 'postgres', 'urlSecret': {'name': 'database'}}}
AGENT = """[[model]]
id = "main"
kind = "scripted"
[[agent]]
id = "ops"
model = "main"
"""
EVERYTHING = {
    **POSTGRES, 'replicas': 3, 'publicUrl': 'https://dm.example.org', 'config': AGENT,
    'allowedHosts': ['dm.example.org'], 'envSecrets': ['model-keys'],
    'tokenSecret': {'name': 'first-token'}, 'tls': {'secretName': 'certificate'},
    'metrics': {'enabled': True}, 'imagePullSecrets': [{'name': 'registry'}],
    'server': 'remind_after = "1h"', 'podAnnotations': {'a': 'b'}, 'nodeSelector': {'disk': 'ssd'},
    'tolerations': [{'key': 'k', 'operator': 'Exists'}], 'service': {'annotations': {'c': 'd'}},
    'affinity': {'podAntiAffinity': {}},
}


def setUpModule():
    if not shutil.which('helm'):
        leave_out('helm is missing (tools/setup.sh test)')


def helm(*words, values=None):
    """Runs Helm with these values; returns its exit status, standard output and standard error."""
    with tempfile.TemporaryDirectory(prefix='dormouse-helm-') as home:
        file = pathlib.Path(home) / 'values.json'
        file.write_text(json.dumps(values or {}))
        return subprocess.run(['helm', *words, '--values', file], capture_output=True, text=True,
                              timeout=LIMIT_S, env=environment(HOME=home))


@functools.cache
def template(values):
    """Returns what Helm renders with these values, a JSON text."""
    done = helm('template', 'prod', CHART, '--namespace', 'agents', values=json.loads(values))
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(values=None):
    """Returns the objects by kind."""
    objects = [one for one in yaml.safe_load_all(template(json.dumps(values or {}))) if one]
    assert len({one['kind'] for one in objects}) == len(objects)
    return {one['kind']: one for one in objects}


def wrong(objects):
    done = subprocess.run(['node', 'check.mjs'], cwd=CHECKER, input=json.dumps(objects), text=True,
                          capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def pod_of(objects):
    owner = objects.get('StatefulSet') or objects['Deployment']
    return owner['spec']['template']['spec']


class Rendered(unittest.TestCase):
    def test_chart_has_the_release_of_the_project(self):
        chart = yaml.safe_load((CHART / 'Chart.yaml').read_text())
        [release] = re.findall(r'project\(dormouse VERSION (\S+)',
                               (ROOT / 'CMakeLists.txt').read_text())
        self.assertEqual((chart['version'], chart['appVersion']), (release, release))

    def test_lint_finds_nothing(self):
        for values in ({}, POSTGRES, EVERYTHING):
            done = helm('lint', '--strict', CHART, values=values)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_objects_fit_the_schemas_of_kubernetes(self):
        if why := npm.install(CHECKER, 'node'):
            self.skipTest(why)
        for values in ({}, POSTGRES, EVERYTHING):
            self.assertEqual(wrong(list(rendered(values).values())), [])
        broken = rendered()['Service']
        broken['spec']['prots'] = broken['spec'].pop('ports')
        self.assertEqual(wrong([broken]), ['Service: unknown member prots'])
        broken['spec'].pop('prots')
        broken['spec']['type'] = 7
        [finding] = wrong([broken])
        self.assertTrue(finding.startswith('Service: data/spec/type must be string'), finding)

    def test_sqlite_is_one_server_with_a_volume(self):
        objects = rendered({'replicas': 5})
        self.assertEqual(objects.keys(), {'ConfigMap', 'Service', 'StatefulSet'})
        spec = objects['StatefulSet']['spec']
        self.assertEqual(spec['replicas'], 1)
        [claim] = spec['volumeClaimTemplates']
        mounts = {mount['name']: mount['mountPath']
                  for mount in pod_of(objects)['containers'][0]['volumeMounts']}
        self.assertEqual(mounts[claim['metadata']['name']], '/var/lib/dormouse')

    def test_postgres_is_several_servers_and_a_budget(self):
        objects = rendered({**POSTGRES, 'replicas': 3})
        self.assertEqual(objects.keys(),
                         {'ConfigMap', 'Service', 'Deployment', 'PodDisruptionBudget'})
        self.assertEqual(objects['Deployment']['spec']['replicas'], 3)
        [container] = pod_of(objects)['containers']
        self.assertEqual(container['env'], [{
            'name': 'DORMOUSE_STORE_URL',
            'valueFrom': {'secretKeyRef': {'name': 'database', 'key': 'url'}}}])
        self.assertNotIn('PodDisruptionBudget', rendered({**POSTGRES, 'replicas': 1}))

    def test_pod_has_no_rights(self):
        for values in ({}, EVERYTHING):
            pod = pod_of(rendered(values))
            self.assertTrue(pod['securityContext']['runAsNonRoot'])
            self.assertFalse(pod['automountServiceAccountToken'])
            [container] = pod['containers']
            self.assertEqual(container['securityContext'], {
                'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True,
                'capabilities': {'drop': ['ALL']}})
            self.assertIn('limits', container['resources'])

    def test_selectors_find_the_pods(self):
        for values in ({}, POSTGRES):
            objects = rendered(values)
            owner = objects.get('StatefulSet') or objects['Deployment']
            labels = owner['spec']['template']['metadata']['labels'].items()
            selectors = [owner['spec']['selector']['matchLabels'],
                         objects['Service']['spec']['selector']]
            if budget := objects.get('PodDisruptionBudget'):
                selectors.append(budget['spec']['selector']['matchLabels'])
            for selector in selectors:
                self.assertLessEqual(selector.items(), labels)

    def test_change_of_configuration_restarts_the_pods(self):
        def digest(values):
            owner = rendered(values)['StatefulSet']
            return owner['spec']['template']['metadata']['annotations']['checksum/config']
        self.assertEqual(digest({}), digest({}))
        self.assertNotEqual(digest({}), digest({'config': AGENT}))

    def test_values_that_do_not_fit_are_refused(self):
        for values, named in (
                ({'store': {'kind': 'postgres'}}, '/store/urlSecret/name'),
                ({'store': {'kind': 'redis'}}, '/store/kind'), ({'replica': 2}, 'replica'),
                ({'service': {'port': 0}}, '/service/port'),
                ({'publicUrl': 'dm.example.org'}, '/publicUrl')):
            done = helm('template', 'prod', CHART, values=values)
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn(named, done.stderr)


class OfAServer(unittest.TestCase):
    """The rendered arguments and configuration, with paths and ports of this machine."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix='dormouse-chart-')))

    def config(self, objects):
        """Writes the configuration and returns its path."""
        text = objects['ConfigMap']['data']['dormouse.toml']
        file = self.folder / 'dormouse.toml'
        file.write_text(text.replace('/etc/dormouse-tls', str(self.folder)))
        return file

    def test_every_configuration_is_accepted(self):
        subprocess.run('openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes '
                       '-subj /CN=dm.example.org -keyout tls.key -out tls.crt'.split(),
                       cwd=self.folder, check=True, capture_output=True)
        for values in ({}, {'config': AGENT}, POSTGRES, EVERYTHING):
            checked = subprocess.run(
                [BINARY, 'config', 'check', self.config(rendered(values))],
                capture_output=True, text=True, timeout=LIMIT_S, env=environment(
                    DORMOUSE_STORE_URL='postgres://dormouse@127.0.0.1/agents'))
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_probes_are_answered(self):
        objects = rendered({'config': AGENT})
        [container] = pod_of(objects)['containers']
        self.assertEqual(container['args'][-1], '--insecure')
        server = Server('--config', str(self.config(objects)), '--insecure')
        self.addCleanup(server.clean)
        server.client.token = None

        def answered(path, headers):
            return server.call('GET', path, headers=headers).status == 200

        for name in ('startupProbe', 'livenessProbe', 'readinessProbe'):
            probe = container[name]['httpGet']
            headers = {one['name']: one['value'].replace('3676', str(server.port))
                       for one in probe['httpHeaders']}
            # /readyz is 503 until the server has recovered: Kubernetes asks again, too.
            wait_for(functools.partial(answered, probe['path'], headers), what=name)
        refused = server.call('GET', '/api/agents', headers={'Host': '10.1.2.3:3676'})
        self.assertEqual(refused.status, 421, refused)
        for host in ('prod-dormouse:3676', 'prod-dormouse.agents.svc.cluster.local:3676'):
            server.client.token = server.token
            answer = server.call('GET', '/api/agents', headers={'Host': host})
            self.assertEqual(answer.status, 200, answer)
        self.assertEqual(server.term(), 0)


if __name__ == '__main__':
    main()
