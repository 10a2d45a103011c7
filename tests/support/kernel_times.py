"""Times of kernels by `c3sim kernel --csv`, of shapes as dictionaries: {"op": "gemm", "m": 64, ..}."""

import csv
import io
import os
import subprocess
import tempfile


def kernel_times(shapes, gpu):
    """Microseconds of each shape on the GPU preset."""
    columns = sorted({column for shape in shapes for column in shape})
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(shapes)
        file.flush()
        done = subprocess.run([os.environ["C3SIM"], "kernel", "--gpu", gpu, "--csv", file.name, "-o", "-"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    return [float(row["time_us"]) for row in csv.DictReader(io.StringIO("\n".join(lines)))]
