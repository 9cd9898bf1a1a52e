#!/usr/bin/python3
"""Has the kernel gather huge pages for VMs fast enough for the node's memory.

Which memory may have huge pages is a kernel argument. This is about khugepaged, which makes them of small ones: with
the kernel's defaults it takes days to go once through a large node.
"""

import argparse
import os
import re
import sys

KHUGEPAGED = "/sys/kernel/mm/transparent_hugepage/khugepaged"
PAGES_TO_SCAN = 130_000
SLEEP_MIN_MS = 1_000
SLEEP_SHARE_MS = 64_000  # of one GiB: the larger the node, the shorter the sleep
GIB = 1024**3


class TuneError(Exception):
    """The node does not take the settings."""


def main(argv=None):
    """Sets khugepaged; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    options = parser.parse_args(argv)
    try:
        tune(options.root)
    except (TuneError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def tune(root):
    """Writes each setting, and says so in one line."""
    settings = {
        "pages_to_scan": PAGES_TO_SCAN,
        "scan_sleep_millisecs": SLEEP_MIN_MS + SLEEP_SHARE_MS // gibibytes(root),
    }
    for name, value in settings.items():
        write(root, f"{KHUGEPAGED}/{name}", value)
    print("khugepaged: " + ", ".join(f"{name} {value}" for name, value in settings.items()), flush=True)


def gibibytes(root):
    """MemTotal in whole GiB, at least one."""
    found = re.search(r"^MemTotal:\s+(\d+) kB$", read(root, "/proc/meminfo"), re.MULTILINE)
    if not found:
        raise TuneError("/proc/meminfo has no MemTotal")
    return max(int(found[1]) * 1024 // GIB, 1)


def write(root, path, value):
    """Writes a setting, which must be there."""
    if not os.path.isfile(at(root, path)):
        raise TuneError(f"this kernel has no {path}")
    with open(at(root, path), "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def read(root, path):
    """The text of a file under root."""
    with open(at(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def at(root, path):
    """Where an absolute path is under root."""
    return os.path.join(root, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
