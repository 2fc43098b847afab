#!/usr/bin/env python3
"""Writes a C++ source that embeds the files of the web page into the program.

usage: embed_files.py FOLDER OUT.cc

A file NAME.br beside NAME is its content compressed with Brotli."""
import hashlib
import pathlib
import sys

TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.webmanifest': 'application/manifest+json',
}
HEAD = '''// Made by tools/embed_files.py. Do not edit.
#include "app/web_files.h"

#include <array>

'''
BYTES = '''asm(R"(
    .section .rodata
    .global {name}_begin
    .global {name}_end
{name}_begin:
    .incbin "{path}"
{name}_end:
    .byte 0
    .previous
)");
extern "C" {{
extern char const {name}_begin[];
extern char const {name}_end[];
}}

'''
TAIL = '''namespace dormouse::app {{

namespace {{
std::string_view bytes(char const* begin, char const* end) {{
    return {{begin, static_cast<std::size_t>(end - begin)}};
}}
}}  // namespace

http::WebFiles web_files() {{
    static std::array<http::WebFile, {count}> const files{{{{
{rows}    }}}};
    return files;
}}

}}  // namespace dormouse::app
'''


def main():
    folder, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    files = sorted(p for p in folder.rglob('*') if p.is_file() and p.suffix != '.br')
    text, rows = HEAD, ''
    for number, path in enumerate(files):
        name, small = f'dormouse_web_{number}', path.with_name(path.name + '.br')
        text += BYTES.format(name=name, path=path)
        brotli = '""'
        if small.is_file():
            text += BYTES.format(name=f'{name}_br', path=small)
            brotli = f'bytes({name}_br_begin, {name}_br_end)'
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        rows += (f'        {{"/{path.relative_to(folder)}", "{TYPES[path.suffix]}",\n'
                 f'         bytes({name}_begin, {name}_end), {brotli}, "{digest}"}},\n')
    if not any(path.name == 'index.html' for path in files):
        sys.exit(f'{folder} holds no page')
    output.write_text(text + TAIL.format(count=len(files), rows=rows))


main()
