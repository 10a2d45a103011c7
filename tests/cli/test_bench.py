"""c3sim bench measures a case in every way of running it, and proves that its runs are the same run."""

import json
import os
import subprocess
import unittest

C3SIM = os.environ["C3SIM"]
FIELDS = {
    "name",
    "events_per_s",
    "limit_events_per_s",
    "native_events_per_s",
    "ratio_limit",
    "ratio_native",
    "peak_rss_bytes",
    "dates_sha256",
}


def bench(*arguments):
    return subprocess.run([C3SIM, "bench", *arguments], capture_output=True, text=True, timeout=300)


class Bench(unittest.TestCase):
    def test_json_has_the_documented_fields_and_the_dates_of_every_run(self):
        results = []
        for _ in range(2):
            done = bench("--case", "ring-8", "--repeat", "1", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual(set(document), {"schema_version", "cases"})
            (case,) = document["cases"]
            results.append(case)
        for case in results:
            self.assertEqual(set(case), FIELDS)
            self.assertEqual(case["name"], "ring-8")
            self.assertRegex(case["dates_sha256"], "^[0-9a-f]{64}$")
            self.assertAlmostEqual(case["ratio_limit"], case["events_per_s"] / case["limit_events_per_s"], places=9)
            self.assertAlmostEqual(case["ratio_native"], case["events_per_s"] / case["native_events_per_s"], places=9)
            self.assertGreater(case["native_events_per_s"], 0)
            self.assertGreater(case["peak_rss_bytes"], 1_000_000)
            # No speed gate, the machine may be busy; but SimGrid's loop must not cost more than twice the events.
            self.assertGreater(case["ratio_limit"], 0.3)
        self.assertEqual(results[0]["dates_sha256"], results[1]["dates_sha256"])

    def test_the_table_names_units_and_only_the_cases_asked_for(self):
        done = bench("--case", "ring-8", "--repeat", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[kev/s]", done.stdout)
        self.assertIn("[MB]", done.stdout)
        self.assertIn("ring-8", done.stdout)
        self.assertNotIn("ring-64", done.stdout)

    def test_a_command_is_measured_beside_another_build(self):
        done = bench("--case", "memory-70b", "--repeat", "1", "--against", C3SIM, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (case,) = json.loads(done.stdout)["cases"]
        self.assertEqual(set(case), {"name", "user_s", "peak_rss_bytes", "against", "ratio"})
        self.assertAlmostEqual(case["ratio"], case["against"]["user_s"] / case["user_s"], places=9)
        self.assertGreater(case["peak_rss_bytes"], 10_000_000)
        table = bench("--case", "memory-70b", "--repeat", "1").stdout
        self.assertRegex(table, r"(?m)^memory-70b +[0-9.]+ +[0-9]+ +- +- +-$")

    def test_another_build_that_cannot_be_measured_is_named(self):
        done = bench("--case", "ring-8", "--against", C3SIM)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--against needs a --case of commands", done.stderr)
        done = bench("--case", "memory-70b", "--against", "/nonexistent/c3sim")
        self.assertEqual(done.stdout, "")
        self.assertIn("/nonexistent/c3sim", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_an_unknown_case_is_a_usage_error_with_a_suggestion(self):
        done = bench("--case", "ring-9")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn("did you mean 'ring-8'?", done.stderr)

    def test_help_shows_three_examples(self):
        done = bench("--help")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("  c3sim bench"), 3)


if __name__ == "__main__":
    unittest.main()
