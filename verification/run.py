#!/usr/bin/env python3
"""Checks the models with spin: each one unchanged, then with each planted bug, which spin must
find. Needs spin and gcc (tools/setup.sh ci). The last line is `N passed, N failed, 0 skipped`.

  verification/run.py             all of them, under two minutes on two cores
  verification/run.py call 7      the checks of call.pml with BUG=7, and the path to the error
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 300

ONE = "-DNODES=1 -DFAULTS={} -DSTEERS={} -DAWAY={}"
TWO = "-DNODES=2 -DBATCH_MAX=1 -DFAULTS={} -DSTEERS={} -DAWAY={}"
NO_TWIN = 0b00010  # without the client that submits A a second time
TWO_CLIENTS = 0b01010  # also without the canceller
ONE_CLIENT = 0b01110  # also without the client that submits B

# Model, settings, and what is checked, or the rule that is broken. BUG numbers are unique in a
# model.
CHECKS = [
    ("call", "-DBUG=0 " + ONE.format(2, 0, NO_TWIN), "one process, two faults"),
    ("call", "-DBUG=0 " + ONE.format(1, 1, NO_TWIN), "one process, a steering prompt"),
    ("call", "-DBUG=0 -DPOLICY=NEVER " + ONE.format(1, 1, NO_TWIN), "a tool that never runs twice"),
    ("call", "-DBUG=0 " + TWO.format(0, 0, TWO_CLIENTS), "two processes"),
    ("call", "-DBUG=0 " + TWO.format(1, 0, ONE_CLIENT), "two processes, a fault"),
    ("call", "-DBUG=0 " + TWO.format(1, 1, ONE_CLIENT), "two processes, a fault, a steering prompt"),
    ("call", "-DBUG=0 -DPOLICY=NEVER " + TWO.format(1, 0, TWO_CLIENTS),
     "two processes, a tool that never runs twice"),
    ("call", "-DBUG=0 -DLOST=1 " + TWO.format(0, 0, TWO_CLIENTS),
     "two processes, a store that loses its newest appends"),
    ("call", "-DBUG=1 " + TWO.format(0, 0, 0), "an append does not look at the head"),
    ("call", "-DBUG=2 " + ONE.format(1, 0, 0), "answers leave before the append is durable"),
    ("call", "-DBUG=3 " + TWO.format(1, 1, ONE_CLIENT), "an older attempt of the model commits"),
    ("call", "-DBUG=4 " + ONE.format(0, 0, 0), "the intent is not in the append of its cause"),
    ("call", "-DBUG=5 " + ONE.format(0, 0, 0), "a tool's outcome after an early result settles"),
    ("call", "-DBUG=6 " + ONE.format(0, 0, 0), "expiries that are due are not written first"),
    ("call", "-DBUG=7 -DPOLICY=NEVER " + ONE.format(1, 0, 0), "an older epoch's run stays open"),
    ("call", "-DBUG=8 " + ONE.format(1, 0, 0), "memory is kept after a failed append"),
    ("call", "-DBUG=9 " + ONE.format(0, 0, 0), "an effect starts before its intent is durable"),
    ("call", "-DBUG=10 " + ONE.format(0, 1, 0), "a reply consumes what came after its view"),
    ("call", "-DBUG=11 " + TWO.format(0, 1, ONE_CLIENT), "a process that does not drive starts effects"),
    ("call", "-DBUG=12 " + TWO.format(1, 0, ONE_CLIENT), "memory is older than another's append"),
    ("call", "-DBUG=13 " + ONE.format(1, 0, 0), "a repeated failure counts for the next attempt"),
    ("call", "-DBUG=14 " + TWO.format(1, 0, ONE_CLIENT), "no fence: what is gone still appends"),
    ("call", "-DBUG=15 " + TWO.format(1, 1, ONE_CLIENT), "an append does not look at the driver"),
    ("call", "-DBUG=16 " + TWO.format(0, 0, ONE_CLIENT), "a process that does not drive writes intents"),
    ("call", "-DBUG=17 -DLOST=1 " + TWO.format(0, 0, ONE_CLIENT), "an append does not look at the stamp"),
    ("call", "-DBUG=18 " + TWO.format(1, 0, ONE_CLIENT), "an effect starts without a heartbeat"),
    ("call", "-DBUG=19 -DLOST=1 " + TWO.format(0, 0, ONE_CLIENT), "an outcome of a lost history counts"),
    ("outbox", "-DBUG=0 -DRESTORE=0", "exactly once and in order"),
    ("outbox", "-DBUG=0 -DRESTORE=1", "the sender comes back from a backup"),
    ("outbox", "-DBUG=0 -DRESTORE=2", "the receiver comes back from a backup"),
    ("outbox", "-DBUG=1 -DRESTORE=0", "the pump does not start with the oldest"),
    ("outbox", "-DBUG=2 -DRESTORE=1", "the new incarnation is sent before rows of the backup"),
    ("outbox", "-DBUG=3 -DRESTORE=1", "a restored sender keeps its incarnation"),
    ("outbox", "-DBUG=4 -DRESTORE=0", "an old number is accepted again"),
    ("outbox", "-DBUG=5 -DRESTORE=0", "a later number is accepted too early"),
    ("outbox", "-DBUG=6 -DRESTORE=2", "a message does not say which ones before it are gone"),
]


def broken(settings):
    return "-DBUG=0 " not in settings + " "


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)


def search(model, settings, folder):
    """Returns the output of spin's search of all states; for outbox.pml also of cycles without
    progress."""
    shutil.copy(HERE / f"{model}.pml", folder)
    made = run(["spin", "-a", *settings.split(), f"{model}.pml"], folder)
    if made.returncode != 0:
        return made.stdout + made.stderr
    cycles = model == "outbox"
    optimised = "-O1" if broken(settings) else "-O2"
    looks_for = "-DNP" if cycles else "-DSAFETY"
    made = run(["gcc", "-w", optimised, "-DCOLLAPSE", "-DMEMLIM=6000", looks_for, "-o", "pan",
                "pan.c"], folder)
    if made.returncode != 0:
        return made.stderr
    return run(["./pan", "-m1000000", *(["-l"] if cycles else [])], folder).stdout


def check(model, settings, text):
    """Returns what is wrong, or None, and the line to print."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dormouse-spin-") as folder:
        try:
            out = search(model, settings, folder)
        except subprocess.TimeoutExpired:
            return f"no end within {LIMIT_S} s", text
    states = re.search(r"(\d+) states, stored", out)
    errors = re.search(r"errors: (\d+)", out)
    whole = states and errors and "Search not completed" not in out
    count = f"{int(states[1]):,} states" if states else "no states"
    summary = f"{text}: {count}, {time.monotonic() - start:.0f} s"
    if broken(settings):
        found = errors and int(errors[1]) > 0 and re.search(r"assertion violated|non-progress", out)
        return (None if found else "spin did not find it:\n" + out[-800:]), f"found: {summary}"
    fine = whole and int(errors[1]) == 0
    return (None if fine else "spin found:\n" + out[:800]), summary


def show(model, number):
    """Prints the path to the error, statement by statement."""
    for name, settings, text in CHECKS:
        if name != model or f"-DBUG={number} " not in settings + " ":
            continue
        print(f"{name} {settings}: {text}")
        with tempfile.TemporaryDirectory(prefix="dormouse-spin-") as folder:
            print(search(name, settings, folder))
            if (pathlib.Path(folder) / f"{name}.pml.trail").exists():
                print(run(["spin", "-t", "-p", "-g", *settings.split(), f"{name}.pml"],
                          folder).stdout)


def main():
    if len(sys.argv) == 3:
        return show(sys.argv[1], sys.argv[2])
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (model, settings, _), (wrong, summary) in zip(CHECKS, pool.map(check, *zip(*CHECKS))):
            print(f"{'FAILED' if wrong else 'ok':<8}{model:<6} {summary}", flush=True)
            if wrong:
                failed += 1
                print(f"        {settings}\n        {wrong}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
