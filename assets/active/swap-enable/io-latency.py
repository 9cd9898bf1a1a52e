#!/usr/bin/python3
"""Gives system services a tighter I/O latency target than pods, on the disks below swap and the system's file systems.

The kernel slows down whoever is in the way of a group that misses its target. So a node that swaps heavily keeps
its kubelet and CRI-O responsive. On a node that does not swap to a disk this would only slow down pods: the unit starts
it only where there is swap to turn on, and to find none on is a failure.
"""

import argparse
import os
import re
import subprocess
import sys
import time

# Slice and latency target in milliseconds: the tighter one is protected from the other.
TARGETS = (("system.slice", 5), ("kubepods.slice", 50))
DROP_IN = "/run/systemd/system/{slice}.d/20-io-latency.conf"
SYSTEMCTL = "/usr/bin/systemctl"

# What the kernel has taken. The pods' slice may not exist yet: only the kubelet makes it.
IN_FORCE = "/sys/fs/cgroup/system.slice/io.latency"
ATTEMPTS = 10

# On an image-based system / may be a composed, read-only file system; the disk is then below the other two.
SYSTEM_MOUNTS = ("/", "/sysroot", "/var")


class LatencyError(Exception):
    """Some disk could not be protected."""


def main(argv=None):
    """Writes the drop-ins and makes systemd read them; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default="/", help="folder that stands for / (for tests)")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between looks at what the kernel has taken")
    options = parser.parse_args(argv)
    try:
        protect(os.path.realpath(options.root), options.pause)
    except (LatencyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def protect(root, pause):
    """Sets the targets for every disk found; a place that leads to no disk is a failure, after the rest is done."""
    mounts = mounted(root)
    swaps = swap_sources(root, mounts)
    if not swaps:
        raise LatencyError("no disk is swapped to; see swap-disk-enable.service and ocpswap-file-enable.service")
    disks, lost = set(), []
    for source in sorted(swaps | system_sources(mounts)):
        found = disks_below(root, kernel_name(root, source))
        disks |= found
        if not found:
            lost.append(source)
    if disks:
        for name, target in TARGETS:
            write(root, DROP_IN.format(slice=name), drop_in(sorted(disks), target))
        reload_units(root)
    taken = wait_until_in_force(root, disks, pause)
    refused = sorted(physical(root, disks) - taken)
    if taken:
        print(f"I/O latency targets are in force on {', '.join(sorted(taken))}", flush=True)
    problems = []
    if lost:
        problems.append(f"no disk found below {', '.join(lost)}")
    if refused:
        problems.append(f"{IN_FORCE} has no target for {', '.join(refused)}: does the kernel support it there?")
    if problems:
        raise LatencyError("; ".join(problems))


def mounted(root):
    """The source of each mount point; what is mounted last hides what was there before."""
    rows = [line.split() for line in read(root, "/proc/mounts").splitlines()]
    return {unescape(row[1]): unescape(row[0]) for row in rows}


def swap_sources(root, mounts):
    """Devices that are swapped to, and those that swap files are on. zram is in memory and needs no protection."""
    sources = set()
    for row in read(root, "/proc/swaps").splitlines()[1:]:
        name, kind = map(unescape, row.split()[:2])
        if kind == "file":
            sources.add(source_of_file(mounts, name))
        elif not kernel_name(root, name).startswith("zram"):
            sources.add(name)
    return sources


def source_of_file(mounts, path):
    """The source of the mount that a file is on: of the mount points above it, the deepest."""
    above = [point for point in mounts if path.startswith(point.rstrip("/") + "/")]
    return mounts[max(above, key=len)] if above else path


def system_sources(mounts):
    """Devices that the system's file systems are on."""
    return {mounts[point] for point in SYSTEM_MOUNTS if mounts.get(point, "").startswith("/dev/")}


def kernel_name(root, device):
    """The name that the kernel has for a device, whichever link in /dev it was named by."""
    return os.path.basename(os.path.realpath(at(root, device)))


def disks_below(root, name):
    """The disks that a partition, a device mapper or a RAID device is made of."""
    entry = os.path.realpath(at(root, f"/sys/class/block/{name}"))
    if not os.path.isdir(entry):
        return set()
    if os.path.exists(os.path.join(entry, "partition")):
        return disks_below(root, os.path.basename(os.path.dirname(entry)))
    slaves = slaves_of(root, name)
    if not slaves:
        return {name}
    below = set().union(*(disks_below(root, slave) for slave in slaves))
    # Depending on its queue mode it is the map or its paths that queue requests, and only there a target counts.
    return below | {name} if is_multipath(root, name) else below


def slaves_of(root, name):
    """The devices directly below one; empty for a disk."""
    folder = at(root, f"/sys/class/block/{name}/slaves")
    return os.listdir(folder) if os.path.isdir(folder) else []


def is_multipath(root, name):
    """Whether a device joins several paths to one disk."""
    path = f"/sys/class/block/{name}/dm/uuid"
    return os.path.exists(at(root, path)) and read(root, path).startswith("mpath-")


def drop_in(disks, target):
    """The text of a slice's drop-in."""
    lines = [f"IODeviceLatencyTargetSec=/dev/{disk} {target}ms\n" for disk in disks]
    return "".join(["# Written by kubevirt-io-latency-setup.service.\n[Slice]\n", *lines])


def reload_units(root):
    """Makes systemd read the drop-ins, which it then applies to slices that run too."""
    status = subprocess.run([at(root, SYSTEMCTL), "daemon-reload"], check=False).returncode
    if status != 0:
        raise LatencyError(f"systemctl daemon-reload ended with status {status}")


def wait_until_in_force(root, disks, pause):
    """The disks for which the kernel has got the target, in the time it is given: it may lack the controller."""
    names = {read(root, f"/sys/class/block/{disk}/dev").strip(): disk for disk in disks}
    taken = set()
    for attempt in range(ATTEMPTS):
        if attempt > 0:
            time.sleep(pause)
        taken = {names[number] for number in numbers_in_force(root) & names.keys()}
        if physical(root, disks) <= taken:
            break
    return taken


def physical(root, disks):
    """The disks without multipath maps; systemd takes a map of one path for that path."""
    return {disk for disk in disks if not slaves_of(root, disk)}


def numbers_in_force(root):
    """Device numbers for which the kernel has the system's target."""
    if not os.path.exists(at(root, IN_FORCE)):
        return set()
    [(_, target), *_] = TARGETS
    rows = [line.split() for line in read(root, IN_FORCE).splitlines()]
    return {row[0] for row in rows if f"target={target * 1000}" in row}


def unescape(field):
    """A field of /proc/mounts or /proc/swaps, where blanks are octal escapes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def read(root, path):
    """The text of a file under root."""
    with open(at(root, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def write(root, path, text):
    """Writes a file under root, all of it or nothing, with the folders above it."""
    os.makedirs(os.path.dirname(at(root, path)), exist_ok=True)
    beside = at(root, f"{path}.new")  # systemd reads only what ends in .conf
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, at(root, path))


def at(root, path):
    """Where an absolute path is under root."""
    return os.path.join(root, path.lstrip("/"))


if __name__ == "__main__":
    sys.exit(main())
