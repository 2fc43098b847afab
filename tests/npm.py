"""What tests get from the npm registry: exactly what a package-lock.json names."""
import shutil
import subprocess


def install(folder, *needs, limit_s=300):
    """None, or why it is not there. `needs`: programs besides npm."""
    if not all(shutil.which(program) for program in ('npm', *needs)):
        return 'npm is not installed'
    lock = folder / 'package-lock.json'
    stamp = folder / 'node_modules' / '.installed'
    if stamp.exists() and stamp.read_text() == lock.read_text():
        return None
    done = subprocess.run(
        ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
        cwd=folder, capture_output=True, text=True, timeout=limit_s,
    )
    if done.returncode != 0:
        return f'npm can not install what package-lock.json names: {done.stderr[-300:]}'
    stamp.write_text(lock.read_text())
    return None
