"""What windows and chunks save of causal attention on an H100: the time with them over the time without, of the same call of the same
library. What surrounds attention in a call of these libraries (rotation, writing keys to a cache) is in both times."""

import csv
import statistics
import unittest

from kernel_times import kernel_times
from measured_data import DATA, skip_without

TABLES = DATA / "kernels"
SHAPE = ("library", "batch", "tokens", "heads", "kv_heads", "head_dim")
SHORTEST = 100.0  # us, of the call without a window: below it calls cost what their launches cost
CHUNK = "8192"  # of Llama 4, which these rows measure: their times fall as those of sequences of that length, not of windows


def rows_of(table):
    with open(TABLES / table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pairs():
    """Rows with a window, and the time of the same call without one. Triton's kernel is left out: it goes through keys that
    its windows hide."""
    whole = {tuple(row[key] for key in SHAPE): float(row["us"]) for row in rows_of("attention_prefill_libraries_h100.csv")}
    found = []
    for row in rows_of("attention_windows_h100.csv"):
        time = whole.get(tuple(row[key] for key in SHAPE), 0.0)
        if row["phase"] == "context" and row["cached"] == "0" and row["kernel_source"] != "triton" and time >= SHORTEST:
            found.append((row, time))
    return found


def predicted(shapes):
    return kernel_times([{"op": "attention", "dtype": "bf16", "b": batch, "heads": row["heads"], "kv_heads": row["kv_heads"], "seq": tokens,
                          "head_dim": row["head_dim"], "causal": "true", "window": window} for row, batch, tokens, window in shapes], "h100-sxm")


def with_window(row):
    batch, tokens = int(row["batch"]), int(row["tokens"])
    if row["window"] != CHUNK:
        return row, batch, tokens, row["window"]
    chunks = -(-tokens // int(CHUNK))
    return row, batch * chunks, -(-tokens // chunks), ""


class Windows(unittest.TestCase):
    def test_what_they_save(self):
        found = pairs()
        with_one = predicted([with_window(row) for row, _ in found])
        without = predicted([(row, int(row["batch"]), int(row["tokens"]), "") for row, _ in found])
        for is_chunk, count, most in ((False, 68, 0.20), (True, 13, 0.11)):
            errors = [one / all_ / (float(row["us"]) / time) - 1.0
                      for (row, time), one, all_ in zip(found, with_one, without, strict=True) if (row["window"] == CHUNK) == is_chunk]
            print(f"{'chunks' if is_chunk else 'windows'}: {len(errors)} pairs, mean absolute error "
                  f"{100 * statistics.mean(map(abs, errors)):.1f} %, mean {100 * statistics.mean(errors):+.1f} %")
            self.assertEqual(len(errors), count)
            self.assertLess(statistics.mean(map(abs, errors)), most)


if __name__ == "__main__":
    skip_without("windows")
    unittest.main()
