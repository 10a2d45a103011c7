"""Jobs that share a fabric: table, JSON, file and page say what each takes alone and beside the others."""

import json
import unittest

import h5py
import numpy as np

from command import SOURCE, ScratchTest, c3sim

JOBS = SOURCE / "configs/experiments/two_jobs_fat_tree.toml"


class TwoJobs(ScratchTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "jobs.h5"
        self.run_json = json.loads(c3sim("run", JOBS, "--json", "-o", self.file).stdout)

    def test_two_jobs_over_one_uplink_take_twice_their_time_and_the_links_are_why(self):
        strategy, = self.run_json["strategies"]
        for job in ("job_a", "job_b"):
            times = strategy["streams"][job]
            self.assertAlmostEqual(times["together_us"], strategy["time_us"], delta=1e-3 * strategy["time_us"])
            # Alone the channels limit: 16 x 22.5 GB/s; together the uplinks of 16 x 50 / 2 GB/s for both.
            self.assertAlmostEqual(times["together_us"] / times["alone_us"], 2 * 16 * 22.5 / 400, delta=0.05)
            lost = strategy["time_us"] - times["alone_us"]
            self.assertAlmostEqual(strategy["loss_us"]["links"], lost, delta=1e-3 * lost)

    def test_the_file_has_streams_and_full_uplinks(self):
        with h5py.File(self.file) as file:
            together = file["strategies/together"]
            self.assertEqual([file["streams"][i].decode() for i in together["streams/stream"]], ["job_a", "job_b"])
            self.assertEqual(together["streams/alone"].attrs["units"], "ps")
            expected = self.run_json["strategies"][0]["streams"]["job_b"]
            self.assertAlmostEqual(together["streams/alone"][1] / 1e6, expected["alone_us"], places=3)
            resources = together["resources/list"]
            names = [file["names"][i].decode() for i in resources["name"]]
            use = dict(zip(names, resources["utilisation"]))
            bytes_of = dict(zip(names, resources["total"]))
            self.assertGreater(use["leaf0.up"], 0.9)
            self.assertAlmostEqual(use["leaf0.up"], use["leaf0.down"], delta=1e-3)
            # Every ring crosses twice a job: 15/16 of 1 GiB each way, of two jobs.
            self.assertAlmostEqual(bytes_of["leaf0.up"] / 2**30, 2 * 15 / 16, delta=1e-6)
            self.assertLess(np.max([use[name] for name in names if name.endswith(".egress")], initial=0.0), 0.9)

    def test_table_and_page_show_the_same(self):
        text = c3sim("run", JOBS, "-o", self.file).stdout
        self.assertIn("stream", text)
        row = next(line for line in text.splitlines() if line.startswith("together") and line.count(">") == 2)
        page = self.folder / "jobs.html"
        c3sim("report", self.file, "-o", page)
        for cell in row.split("  ")[1:]:
            if cell.strip():
                self.assertIn(f"<td>{cell.strip().replace('>', '&gt;')}</td>", page.read_text())
        table = c3sim("inspect", self.file, "--table", "streams", "--csv").stdout
        self.assertEqual(table.splitlines()[0], "strategy,stream,alone_ps,together_ps")

    def test_a_group_is_ranges_or_a_list_and_mistakes_are_placed(self):
        with open(JOBS) as file:
            text = file.read()
        for wrong, message in (("7-0", "no range '7-0'"), ("0-7;9", "'7;9' is no rank"), ("", "'' is no rank"),
                               ("0-7,40", "no rank 40 of 32"), ("0-7,7", "rank 7 is in the group twice")):
            with self.subTest(wrong):
                broken = self.folder / "broken.toml"
                broken.write_text(text.replace("0-7,16-23", wrong))
                result = c3sim("run", broken)
                self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
