"""What an ELF file asks of the loader: an interpreter, libraries, folders to look for them.

Reads the program headers and the dynamic section only, through a memory map, so that a library of
a gigabyte costs a few pages. Sections are not looked at: a stripped file has none.

Ownership: a value. Errors: ImageError names the file; a file that is no x86-64 ELF is None.

    elf = read_elf("/bin/ls")
    elf.interpreter            # /lib64/ld-linux-x86-64.so.2
    elf.needed                 # ("libselinux.so.1", "libc.so.6")
"""

import dataclasses
import mmap
import struct

from image_error import ImageError

# 64 bits, little endian, version 1; and the machine of the header.
IDENT = b"\x7fELF\x02\x01\x01"
MACHINE_X86_64 = 62

FILE_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
DYNAMIC_ENTRY = struct.Struct("<qQ")

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 1, 5, 15, 29


@dataclasses.dataclass(frozen=True)
class Elf:
    """`rpath` counts for the libraries of this file and for theirs, `runpath` for its own only.
    Where a file has both the loader does not look at `rpath`, and here it is empty."""
    interpreter: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]


def read_elf(path):
    """The Elf of a file, or None for every other file."""
    with open(path, "rb") as file:
        head = file.read(FILE_HEADER.size)
        if not head.startswith(IDENT):
            return None
        try:
            if FILE_HEADER.unpack(head)[2] != MACHINE_X86_64:
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _parse(data)
        except (struct.error, ValueError, UnicodeDecodeError) as error:
            raise ImageError(f"read ELF file {path}: cut short or damaged ({error})") from error


def _parse(data):
    header = FILE_HEADER.unpack_from(data)
    table, entry_size, count = header[5], header[9], header[10]
    loads, dynamic, interpreter = [], None, None
    for index in range(count):
        kind, _, offset, address, _, size, _, _ = PROGRAM_HEADER.unpack_from(
            data, table + index * entry_size)
        if kind == PT_LOAD:
            loads.append((address, size, offset))
        elif kind == PT_DYNAMIC:
            dynamic = (offset, size)
        elif kind == PT_INTERP:
            interpreter = _text(data, offset)
    if dynamic is None:
        return Elf(interpreter, (), (), ())
    entries = _dynamic_entries(data, *dynamic)
    strings = _file_offset(loads, next((value for tag, value in entries if tag == DT_STRTAB), 0))

    def texts(wanted):
        return [_text(data, strings + value) for tag, value in entries if tag == wanted]
    runpath = _folders(texts(DT_RUNPATH))
    return Elf(interpreter, tuple(texts(DT_NEEDED)),
               () if runpath else _folders(texts(DT_RPATH)), runpath)


def _dynamic_entries(data, offset, size):
    entries = []
    for position in range(offset, offset + size, DYNAMIC_ENTRY.size):
        tag, value = DYNAMIC_ENTRY.unpack_from(data, position)
        if tag == DT_NULL:
            break
        entries.append((tag, value))
    return entries


def _file_offset(loads, address):
    for start, size, offset in loads:
        if start <= address < start + size:
            return address - start + offset
    raise ValueError(f"no segment holds address {address:#x}")


def _text(data, offset):
    end = data.find(b"\0", offset)
    if end < 0:
        raise ValueError(f"no end of the text at {offset:#x}")
    return data[offset:end].decode()


def _folders(texts):
    return tuple(folder for text in texts for folder in text.split(":") if folder)
