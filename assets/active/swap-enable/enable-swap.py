#!/usr/bin/python3
"""Turns on a swap partition or a swap file, unless it is on already, whoever turned it on.

A partition of the type for swap is turned on by systemd, others by a unit of the admin; to do it again is an error for
the kernel, but none for the node.
"""

import argparse
import glob
import os
import re
import subprocess
import sys

SWAPON = "/usr/sbin/swapon"

# Where systemd finds the kubelet's unit, and what is put on top of it.
KUBELET_UNITS = tuple(
    f"{folder}/kubelet.service{rest}"
    for folder in ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system")
    for rest in ("", ".d/*.conf")
)

# Where our setting is that lets the kubelet start beside swap: no other folder will do.
KUBELET_FOLDER = "/etc/openshift/kubelet.conf.d"
CONFIG_DIR = re.compile(rf"^[^#;\n]*--config-dir[= \t]+[\"']?{re.escape(KUBELET_FOLDER)}/*[\"']?(?=\s|$)", re.MULTILINE)


class SwapError(Exception):
    """The node does not swap to what it was told to."""


def main(argv=None):
    """Turns the swap on; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="the partition, or any link to it, or the file")
    parser.add_argument("--priority", type=int, required=True, help="the kernel fills what has the highest one first")
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    options = parser.parse_args(argv)
    try:
        print(turn_on(os.path.realpath(options.root), options.path, options.priority), flush=True)
    except (SwapError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def turn_on(root, path, priority):
    """Turns the swap on, and says what became of it."""
    if not os.path.exists(at(root, path)):
        raise SwapError(f"{path} does not exist")
    found = priority_of(root, path)
    if found is None and not kubelet_reads_drop_ins(root):
        raise SwapError(
            f"{path} stays off: the kubelet of this node is not told to read {KUBELET_FOLDER} (--config-dir), so it"
            " would not read that swap is wanted, and would not start beside it"
        )
    if found is None:
        status = subprocess.run([at(root, SWAPON), "--priority", str(priority), at(root, path)], check=False).returncode
        if status == 0:
            return f"{path} is on, with priority {priority}"
        found = priority_of(root, path)  # somebody may have been faster
        if found is None:
            raise SwapError(f"swapon {path} ended with status {status}; is it made for swap (mkswap)?")
    other = "" if found == priority else f" and not {priority}: whoever turned it on chose that"
    return f"{path} is on already, with priority {found}{other}"


def kubelet_reads_drop_ins(root):
    """Whether the kubelet's command names the folder of settings, of which one is that it starts beside swap."""
    for name in [name for unit in KUBELET_UNITS for name in glob.glob(at(root, unit))]:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            if CONFIG_DIR.search(file.read()):
                return True
    return False


def priority_of(root, path):
    """The priority with which a partition or file is on; None if it is off."""
    wanted = os.path.realpath(at(root, path))
    with open(at(root, "/proc/swaps"), encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.split() for line in file.read().splitlines()[1:]]
    for name, *_, priority in rows:
        if os.path.realpath(at(root, unescape(name))) == wanted:
            return int(priority)
    return None


def unescape(field):
    """A field of /proc/swaps, where blanks are octal escapes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def at(root, path):
    """Where an absolute path is under root."""
    return os.path.join(root, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
