#!/usr/bin/env python3
"""Writes an OCI image layout without a daemon; the same input makes the same bytes.

usage: image.py FILE... FOLDER

Each FILE is the single file of an architecture, named dormouse-linux-ARCH. The image has it, a user without rights,
certificate authorities and /var/lib/dormouse; nothing else is written at run time, so that the
root file system may be read-only.
"""
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AUTHORITIES = pathlib.Path('/etc/ssl/certs/ca-certificates.crt')
USER = 65532
MADE_S = int(os.environ.get('SOURCE_DATE_EPOCH', 0))
RELEASE = re.search(r'project\(dormouse VERSION (\S+)', (ROOT / 'CMakeLists.txt').read_text())[1]
CPUS = {'x86_64': 'amd64', 'aarch64': 'arm64'}  # as Go names them
# Without TLS beyond loopback: a port is published to this machine, or a proxy is before it.
COMMAND = ['serve', '--data', '/var/lib/dormouse', '--listen', '0.0.0.0:3676', '--insecure']


def entry(archive, name, content=None, mode=0o755, owner=0):
    """Adds a file, or a folder if it has no content."""
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.uid, info.gid = MADE_S, mode, owner, owner
    info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
    info.size = len(content or b'')
    archive.addfile(info, None if content is None else io.BytesIO(content))


def layer(program):
    """Returns the tar archive of the root file system."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for folder in ('etc', 'etc/dormouse', 'etc/ssl', 'etc/ssl/certs', 'usr', 'usr/bin', 'var',
                       'var/lib'):
            entry(archive, folder)
        entry(archive, 'tmp', mode=0o1777)
        entry(archive, 'var/lib/dormouse', mode=0o700, owner=USER)
        entry(archive, 'etc/passwd', f'root:x:0:0::/:/none\ndormouse:x:{USER}:{USER}::'
              '/var/lib/dormouse:/none\n'.encode(), 0o644)
        entry(archive, 'etc/group', f'root:x:0:\ndormouse:x:{USER}:\n'.encode(), 0o644)
        if AUTHORITIES.exists():
            entry(archive, str(AUTHORITIES)[1:], AUTHORITIES.read_bytes(), 0o644)
        entry(archive, 'usr/bin/dormouse', program.read_bytes())
    return out.getvalue()


class Layout:
    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        self.blobs = folder / 'blobs' / 'sha256'
        self.blobs.mkdir(parents=True)
        (folder / 'oci-layout').write_text('{"imageLayoutVersion":"1.0.0"}')

    def add(self, content, kind):
        """Stores a blob and returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest}',
                'size': len(content)}


def encoded(value):
    return json.dumps(value, separators=(',', ':'), sort_keys=True).encode()


def add_image(layout, file):
    """Stores the image of one architecture and returns its descriptor in the index."""
    root = layer(file)
    stored = layout.add(gzip.compress(root, 6, mtime=0), 'layer.v1.tar+gzip')
    platform = {'architecture': CPUS[file.name.split('-')[2]], 'os': 'linux'}
    made = datetime.datetime.fromtimestamp(MADE_S, datetime.timezone.utc)
    config = layout.add(encoded({
        **platform, 'created': made.strftime('%Y-%m-%dT%H:%M:%SZ'),
        'config': {'User': f'{USER}:{USER}', 'Entrypoint': ['/usr/bin/dormouse'], 'Cmd': COMMAND,
                   'ExposedPorts': {'3676/tcp': {}}, 'Volumes': {'/var/lib/dormouse': {}},
                   'Env': ['PATH=/usr/bin', 'HOME=/var/lib/dormouse'],
                   'WorkingDir': '/var/lib/dormouse', 'StopSignal': 'SIGTERM',
                   'Labels': {'org.opencontainers.image.title': 'dormouse',
                              'org.opencontainers.image.version': RELEASE,
                              'org.opencontainers.image.licenses': 'Apache-2.0'}},
        'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + hashlib.sha256(root).hexdigest()]},
        'history': [{'created_by': 'packaging/oci/image.py'}]}), 'config.v1+json')
    manifest = layout.add(encoded({
        'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
        'config': config, 'layers': [stored]}), 'manifest.v1+json')
    return {**manifest, 'platform': platform, 'annotations': {
        'org.opencontainers.image.ref.name': RELEASE}}


def main(files, folder):
    layout = Layout(folder)
    (folder / 'index.json').write_bytes(encoded({
        'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.index.v1+json',
        'manifests': [add_image(layout, file) for file in files]}))


if __name__ == '__main__':
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    *FILES, OUT = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    main(FILES, OUT)
