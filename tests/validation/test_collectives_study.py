"""c3sim reproduce collectives on the measured tables: which figures meet their targets, and which do not yet."""

import csv
import json
import os
import subprocess
import unittest

from measured_data import DATA, SOURCE, skip_without

# Met, and to stay so.
MET = {f"deepep.{way}.sms.{sms}" for way in ("dispatch", "combine") for sms in (4, 12, 16, 20, 24)} | {
    "links.one_way.worst.mi300x_transferbench_p2p_uni", "links.all_at_once.worst.mi300x_transferbench_a2a",
    "time.large.median", "time.large.p90", "time.small.median", "time.several_nodes.large.median",
    "time.blackwell.large.median", "time.blackwell.small.median", "time.pcie.large.median", "peaks_met"}


class CollectivesStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["C3SIM"], "reproduce", "collectives", "--data", DATA, "--json"]
        cls.done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        cls.figures = {figure["id"]: figure for figure in json.loads(cls.done.stdout)["figures"]}

    def test_figures_that_meet_their_targets(self):
        for name, figure in sorted(self.figures.items()):
            if figure["gate"] != "none":
                print(f"{name:<60} {figure['rows']:>5} rows  {figure['simulated']:6.1f} %  {'ok' if figure['pass'] else 'MISS'}")
        for name in sorted(MET):
            with self.subTest(figure=name):
                self.assertTrue(self.figures[name]["pass"], self.figures[name])

    def test_every_table_of_the_map_is_run_and_every_other_file_is_named(self):
        self.assertIn(self.done.returncode, (0, 1), self.done.stderr)
        rows = (SOURCE / "studies/collectives/systems.csv").read_text().splitlines()
        mapped = {row["file"] for row in csv.DictReader(line for line in rows if not line.startswith("#"))}
        others = sorted(file.name for file in (DATA / "collectives").iterdir() if file.name not in mapped)
        self.assertRegex(self.done.stderr, rf"^[^\n]*files that no row of [^\n]* names: {', '.join(others)}\n$")
        for name, figure in self.figures.items():
            with self.subTest(figure=name):
                self.assertEqual(figure["skipped"], 0)


if __name__ == "__main__":
    skip_without("collectives")
    unittest.main()
