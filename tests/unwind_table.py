"""The unwinder's search table of an ELF file (.eh_frame_hdr), against the entries that it indexes.

Sources: Linux Standard Base Core 5.0, chapter 10.6 (Exception Frames). Little-endian, and only the
encodings that g++, clang, ld and lld write: table of 4-byte offsets from its own section, entries
with 4-byte offsets from themselves.
"""
import bisect
import struct

TABLE_ENCODING = 0x3B  # DW_EH_PE_datarel | DW_EH_PE_sdata4


def sections(data):
    """{name: (address, bytes)} of a 64-bit ELF file."""
    start, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQ', data, start + i * size) for i in range(count)]
    text = rows[names][4]
    out = {}
    for name, kind, _, address, offset, length in rows:
        end = data.index(b'\0', text + name)
        if kind != 8:  # NOBITS
            out[data[text + name:end].decode()] = (address, data[offset:offset + length])
    return out


def entries(address, frames):
    """(address of the entry, first address, length) of each function in .eh_frame."""
    at = 0
    while at + 8 <= len(frames):
        length, cie = struct.unpack_from('<Ii', frames, at)
        if length == 0:
            break
        if cie != 0:
            begin, size = struct.unpack_from('<iI', frames, at + 8)
            yield address + at, address + at + 8 + begin, size
        at += 4 + length


def not_found(path):
    """(functions that the table does not lead to, all functions)."""
    with open(path, 'rb') as file:
        found = sections(file.read())
    where, header = found['.eh_frame_hdr']
    assert header[3] == TABLE_ENCODING, 'another encoding of the table'
    count, = struct.unpack_from('<I', header, 8)
    table = [struct.unpack_from('<ii', header, 12 + 8 * i) for i in range(count)]
    firsts = [where + first for first, _ in table]
    functions = list(entries(*found['.eh_frame']))
    lost = []
    for entry, first, size in functions:
        # The last entry that begins at or before it, as libgcc looks it up.
        row = bisect.bisect_right(firsts, first) - 1
        if size > 0 and (row < 0 or where + table[row][1] != entry):
            lost.append(hex(first))
    return lost, len(functions)
