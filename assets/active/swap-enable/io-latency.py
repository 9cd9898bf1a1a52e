#!/usr/bin/python3
"""Gives system services a tighter I/O latency target than pods, on the disks below swap and the system's file systems.

The kernel slows down whoever is in the way of a group that misses its target. So a node that swaps heavily keeps
its kubelet and CRI-O responsive.
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = "/"

# Slice and latency target: the tighter one is protected from the other.
TARGETS = (("system.slice", "5ms"), ("kubepods.slice", "50ms"))
DROP_IN = "/run/systemd/system/{slice}.d/20-io-latency.conf"
SYSTEMCTL = "/usr/bin/systemctl"

# On an image-based system / may be a composed, read-only file system; the disk is then below the other two.
SYSTEM_MOUNTS = ("/", "/sysroot", "/var")


class Failure(Exception):
    """Some disk could not be protected."""


def main(argv=None):
    """Writes the drop-ins and makes systemd read them; returns the exit status."""
    global ROOT
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    ROOT = os.path.realpath(parser.parse_args(argv).root)
    try:
        protect()
    except (Failure, OSError, subprocess.CalledProcessError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


def protect():
    """Sets the targets for every disk found; a device that leads to no disk is a failure, after the rest is done."""
    disks, lost = set(), []
    for device in swap_devices() + system_devices():
        found = disks_below(kernel_name(device))
        disks.update(found)
        if not found:
            lost.append(device)
    if disks:
        for name, target in TARGETS:
            write(DROP_IN.format(slice=name), drop_in(sorted(disks), target))
        subprocess.run([at(SYSTEMCTL), "daemon-reload"], check=True)
        print(f"I/O latency targets set on {', '.join(sorted(disks))}")
    if lost:
        raise Failure(f"no disk found below {', '.join(lost)}")
    if not disks:
        raise Failure("neither swap nor the system's file systems are on a block device")


def swap_devices():
    """Devices that are swapped to. A swap file is on a file system, zram in memory."""
    rows = [line.split() for line in read("/proc/swaps").splitlines()[1:]]
    devices = [unescape(row[0]) for row in rows if len(row) > 1 and row[1] == "partition"]
    return [device for device in devices if not os.path.basename(device).startswith("zram")]


def system_devices():
    """Devices that the system's file systems are on."""
    rows = [line.split() for line in read("/proc/mounts").splitlines()]
    mounts = [(unescape(row[0]), unescape(row[1])) for row in rows if len(row) > 1]
    sources = {source for source, target in mounts if target in SYSTEM_MOUNTS}
    return sorted(source for source in sources if source.startswith("/dev/"))


def kernel_name(device):
    """The name that the kernel has for a device, whichever link in /dev it was named by."""
    return os.path.basename(os.path.realpath(at(device)))


def disks_below(name):
    """The physical disks that a partition, a device mapper or a RAID device is made of."""
    entry = os.path.realpath(at(f"/sys/class/block/{name}"))
    if not os.path.isdir(entry):
        return set()
    if os.path.exists(os.path.join(entry, "partition")):
        return disks_below(os.path.basename(os.path.dirname(entry)))
    folder = os.path.join(entry, "slaves")
    slaves = os.listdir(folder) if os.path.isdir(folder) else []
    if not slaves:
        return {name}
    return set().union(*(disks_below(slave) for slave in slaves))


def drop_in(disks, target):
    """The text of a slice's drop-in."""
    return "".join(["[Slice]\n", *(f"IODeviceLatencyTargetSec=/dev/{disk} {target}\n" for disk in disks)])


def unescape(field):
    """A field of /proc/mounts or /proc/swaps, where blanks are octal escapes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def read(path):
    """The text of a file under ROOT."""
    with open(at(path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    """Writes a file under ROOT, with the folders above it."""
    os.makedirs(os.path.dirname(at(path)), exist_ok=True)
    with open(at(path), "w", encoding="utf-8") as file:
        file.write(text)


def at(path):
    """Where an absolute path is under ROOT."""
    return os.path.join(ROOT, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
