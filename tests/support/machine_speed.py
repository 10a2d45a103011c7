"""Budgets of CPU time, which hold on slow machines, too."""

import mmap
import subprocess
import sys
import time

# What the loop takes on a quiet core of a machine that keeps the budgets. Assumed: the machine that missed `reproduce t3`'s 30 s by
# a fifth took 0.22 s.
LOOP_S = 0.15
# What 250,000 reads all over a table of 64 MB take on a quiet core: measured on a virtual machine. With a larger table, beside a build
# on all cores, they took 1.9 times as long there, a sweep of layouts 1.5 times, and the loop above no longer than alone.
SCATTERED_S = 0.08
# What the first touch of a page takes there. Assumed; a virtual machine whose hypervisor keeps the page tables took 16e-6.
FAULT_S = 1e-6


def loop_seconds():
    begun = time.process_time()
    total, table = 0.0, {}
    for i in range(2_000_000):
        total += (i % 7) * 0.5
        table[i & 4095] = total
    return time.process_time() - begun


def scattered_seconds():
    """The least of three: what programs do that are larger than the caches. In a process of its own, whose memory is not counted as
    that of a program that this one starts later (ru_maxrss)."""
    return float(subprocess.run([sys.executable, __file__], capture_output=True, check=True).stdout)


def read_all_over():
    size, times = 64 << 20, []
    with mmap.mmap(-1, size) as memory, memoryview(memory) as raw, raw.cast("d") as table:
        memory.write(bytes(size))
        mask, place, total = len(table) - 1, 1, 0.0
        for _ in range(3):
            begun = time.process_time()
            for _ in range(250_000):
                place = (place * 1664525 + 1013904223) & mask
                total += table[place]
            times.append(time.process_time() - begun)
    return min(times)


def fault_seconds():
    pages, size = 4096, mmap.PAGESIZE
    with mmap.mmap(-1, pages * size) as memory:
        begun = time.process_time()
        for page in range(pages):
            memory[page * size] = 1
        return (time.process_time() - begun) / pages


def slowness():
    """How many times as long as a machine that keeps the budgets this one takes at the moment; at least 1."""
    return max(1.0, min(loop_seconds() for _ in range(3)) / LOOP_S, scattered_seconds() / SCATTERED_S)


def cpu_budget(seconds, faults=0, before=1.0):
    """`seconds` of CPU time, or more where this machine is slower (slowness()) right after what it is for, or was so `before`:
    neighbours come and go. `faults` of its pages (ru_minflt) may take longer than FAULT_S, too."""
    return seconds * max(before, slowness()) + faults * max(0.0, min(fault_seconds() for _ in range(3)) - FAULT_S)


if __name__ == "__main__":
    print(read_all_over())
