"""c3sim sample kernels reads and samples ten million rows in 5 s and 1 GB, or a tenth of them in a tenth (C3SIM_SAMPLE_ROWS)."""

import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from machine_speed import cpu_budget

ROWS = int(os.environ.get("C3SIM_SAMPLE_ROWS", "1000000"))
WHOLE = 10_000_000
SECONDS, BYTES = 5.0, 1e9
KERNELS = [f"void kernel_{i}<float, (int){i}>(float*, int)" for i in range(60)]


def write_rows(path):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("name,duration_us\n")
        for _ in range(0, ROWS, 1000):
            kernels = [draw.randrange(60) for _ in range(1000)]
            file.write("".join(f'"{KERNELS[i]}",{(5 + i) * draw.lognormvariate(0, 0.6 if i % 3 == 0 else 0.05):.3f}\n' for i in kernels))


class SampleSpeed(unittest.TestCase):
    def test_ten_million_rows_take_5_s_and_1_gb(self):
        with tempfile.TemporaryDirectory(prefix="c3sim sample ") as folder:
            table = pathlib.Path(folder) / "k.csv"
            write_rows(table)
            with subprocess.Popen([os.environ["C3SIM"], "sample", "kernels", table], stdout=subprocess.PIPE, text=True) as process:
                text = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertIn(f": {ROWS} invocations of 60 kernels", text)
        seconds, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        budget = cpu_budget(SECONDS * ROWS / WHOLE, usage.ru_minflt)
        print(f"{ROWS / 1e6:g} M rows: {seconds:.2f} s of CPU time (budget {budget:.2f}), {peak / 1e6:.0f} MB")
        self.assertLess(seconds, budget)
        self.assertLess(peak, max(150e6, BYTES * ROWS / WHOLE))


if __name__ == "__main__":
    unittest.main()
