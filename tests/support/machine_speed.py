"""Budgets of CPU time, which hold on slow machines, too."""

import time

# What the loop takes on a quiet core of a machine that keeps the budgets. Assumed: the machine that missed `reproduce t3`'s 30 s by
# a fifth took 0.22 s.
LOOP_S = 0.15


def loop_seconds():
    begun = time.process_time()
    total, table = 0.0, {}
    for i in range(2_000_000):
        total += (i % 7) * 0.5
        table[i & 4095] = total
    return time.process_time() - begun


def cpu_budget(seconds):
    """`seconds` of CPU time, or more where this machine is slower at the moment than that of LOOP_S. Ask for it right after what it
    is for: neighbours come and go."""
    return seconds * max(1.0, min(loop_seconds() for _ in range(3)) / LOOP_S)
