"""Builds the wheel and the source package (PEP 517) with the standard library alone.

`python3 backend.py FOLDER` only writes the package, as it is in the wheel, into FOLDER/dormouse.
"""
import base64
import csv
import hashlib
import io
import pathlib
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

NAME, VERSION = 'dormouse', '0.1.0'
WHEEL = f'{NAME}-{VERSION}-py3-none-any.whl'
INFO = f'{NAME}-{VERSION}.dist-info'
DATE = (2020, 1, 1, 0, 0, 0)  # the same sources give the same bytes
METADATA = f'''Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Client of Dormouse: agent sessions that sleep while their tools work
License: Apache-2.0
Requires-Python: >=3.10
Description-Content-Type: text/markdown

'''


def files():
    """Returns {path in the wheel: bytes} without RECORD."""
    found = {f'{NAME}/{path}': text.encode() for path, text in generate.package().items()}
    found[f'{INFO}/METADATA'] = (METADATA + (HERE / 'README.md').read_text()).encode()
    found[f'{INFO}/WHEEL'] = (
        b'Wheel-Version: 1.0\nGenerator: dormouse\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
    )
    return found


def record(found):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator='\n')
    for path, content in found.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        rows.writerow([path, f'sha256={digest}', len(content)])
    rows.writerow([f'{INFO}/RECORD', '', ''])
    return text.getvalue().encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    found = files()
    found[f'{INFO}/RECORD'] = record(found)
    with zipfile.ZipFile(pathlib.Path(wheel_directory, WHEEL), 'w', zipfile.ZIP_DEFLATED) as wheel:
        for path, content in found.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return WHEEL


def build_sdist(sdist_directory, config_settings=None):
    """The sources, and openapi.json beside them, so that it builds anywhere."""
    name = f'{NAME}-{VERSION}'
    with tarfile.open(pathlib.Path(sdist_directory, f'{name}.tar.gz'), 'w:gz') as archive:
        for path in sorted(HERE.rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                archive.add(path, f'{name}/{path.relative_to(HERE)}')
        if not (HERE / 'openapi.json').exists():
            archive.add(generate.openapi_path(), f'{name}/openapi.json')
        entry = tarfile.TarInfo(f'{name}/PKG-INFO')
        entry.size = len(METADATA)
        archive.addfile(entry, io.BytesIO(METADATA.encode()))
    return f'{name}.tar.gz'


def write_package(folder):
    for path, text in generate.package().items():
        target = pathlib.Path(folder, NAME, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


if __name__ == '__main__':
    write_package(sys.argv[1])
