"""Programs whose machine has the wrong time, by a library that is loaded before theirs. Debian's
libfaketime cannot be used: it waits for ever in programs with jemalloc."""
import functools
import os
import shutil
import subprocess
import tempfile

from dormouse import leave_out

# Clocks that nobody sets (CLOCK_MONOTONIC, CLOCK_BOOTTIME) are as they are.
SOURCE = r'''
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long wrong_by() {
    const char* text = getenv("WRONG_BY_S");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
    int done = syscall(SYS_clock_gettime, clock, out);
    if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += wrong_by();
    return done;
}

int gettimeofday(struct timeval* out, void* zone) {
    int done = syscall(SYS_gettimeofday, out, zone);
    if (done == 0) out->tv_sec += wrong_by();
    return done;
}

time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
'''


@functools.cache
def _library():
    compiler = shutil.which('cc') or shutil.which('gcc')
    if not compiler:
        leave_out('no C compiler, for the library that changes the time')
    folder = tempfile.TemporaryDirectory(prefix='dormouse-clock-')
    path = os.path.join(folder.name, 'clock.so')
    subprocess.run([compiler, '-shared', '-fPIC', '-x', 'c', '-o', path, '-'], input=SOURCE,
                   text=True, check=True)
    return folder, path  # the folder lives as long as the process


def clock_set_to(seconds):
    """Returns the environment of a program whose wall clock is that far ahead; negative: behind."""
    return {'LD_PRELOAD': _library()[1], 'WRONG_BY_S': str(seconds)}
