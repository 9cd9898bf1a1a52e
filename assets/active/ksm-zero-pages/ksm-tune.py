#!/usr/bin/python3
"""Has the kernel merge the zero pages of VMs, and no other page.

To merge pages that merely are alike would let one VM find out what another has in memory. So the scanner is started
only where the kernel knows the mode for zero pages alone, and last.
"""

import argparse
import os
import re
import sys

KSM = "/sys/kernel/mm/ksm"
ONLY_ZERO = f"{KSM}/redhat_only_zero_pages"
MAX_EMPTY = "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none"  # small pages that a new huge one may lack
PAGES_TO_SCAN = 1_000
SLEEP_SHARE_MS = 25_600  # of one GiB: the larger the node, the shorter the sleep
SLEEP_MIN_MS, SLEEP_MAX_MS = 10, 50
GIB = 1024**3


class TuneError(Exception):
    """The node does not take the settings."""


def main(argv=None):
    """Starts the merging of zero pages; returns the exit status."""
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
    """Chooses the mode, makes sure of it, and starts the scanner; says so in one line."""
    if not os.path.isfile(at(root, ONLY_ZERO)):
        raise TuneError(f"this kernel has no {ONLY_ZERO}: nothing is merged")
    write(root, ONLY_ZERO, 1)
    if read(root, ONLY_ZERO).strip() != "1":
        raise TuneError(f"{ONLY_ZERO} does not take 1: nothing is merged")
    sleep = min(max(SLEEP_SHARE_MS // gibibytes(root), SLEEP_MIN_MS), SLEEP_MAX_MS)
    write(root, f"{KSM}/pages_to_scan", PAGES_TO_SCAN)
    write(root, f"{KSM}/sleep_millisecs", sleep)
    write(root, f"{KSM}/run", 1)
    # Else khugepaged makes huge pages of merged ones again. A kernel without it has nothing to be told.
    if os.path.isfile(at(root, MAX_EMPTY)):
        write(root, MAX_EMPTY, 0)
    print(f"zero pages are merged: pages_to_scan {PAGES_TO_SCAN}, sleep_millisecs {sleep}", flush=True)


def gibibytes(root):
    """MemTotal in whole GiB, at least one."""
    found = re.search(r"^MemTotal:\s+(\d+) kB$", read(root, "/proc/meminfo"), re.MULTILINE)
    if not found:
        raise TuneError("/proc/meminfo has no MemTotal")
    return max(int(found[1]) * 1024 // GIB, 1)


def write(root, path, value):
    """Writes a setting."""
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
