"""The page of c3sim reproduce conccl draws what the figures say. Here: small pairs of our own."""

import json
import os
import shutil
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

from command import SOURCE, ScratchTest, c3sim

SCENARIOS = """id,bound,class,model,projection,m,n,k,dtype,traffic,collective,algorithm,size_mib
small_ag,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_gather,ring,4
small_a2a,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_to_all,direct,4
"""
WIDTH = 1200
ALONE = ("gemm.minus64.mean", "gemm.405b_up_4096.minus32", "gemm.405b_up_4096.minus64", "dma.small.all_gather",
         "dma.small.all_to_all", "dma.large")


class ConcclPage(ScratchTest):
    def setUp(self):
        super().setUp()
        study = self.folder / "configs/studies/conccl"
        study.mkdir(parents=True)
        shutil.copy(SOURCE / "studies/conccl/one.toml", study)
        (study / "scenarios.csv").write_text(SCENARIOS)
        patch = unittest.mock.patch.dict(os.environ, {"C3SIM_CONFIGS": str(self.folder / "configs")})
        patch.start()
        self.addCleanup(patch.stop)

    def test_it_shows_the_figures_of_the_same_run(self):
        done = c3sim("reproduce", "conccl", "-q", "--draws", 2, "--json", "--page", self.folder / "page.html")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        root = ElementTree.fromstring((self.folder / "page.html").read_text())
        sections = {section.get("id"): section for section in root.iter("section")}
        self.assertEqual(list(sections), ["ladder", "alone", "scenarios", "tornado", "figures"])
        self.assert_bars(sections["ladder"], figures)
        self.assertEqual([len(list(figure.iter("circle"))) for figure in sections["alone"].iter("figure")],
                         [2 * 9, 2 * 12, 3 * 21])
        rows = list(sections["scenarios"].find(".//tbody"))
        self.assertEqual([row.find("th").text for row in rows], ["small_ag", "small_a2a"])
        self.assertEqual(len(list(sections["tornado"].find(".//tbody"))), sum("tornado." in key for key in figures))
        self.assertIn("405B up", "".join(sections["figures"].itertext()))
        for figure in ALONE:
            self.assertIsNotNone(figures[figure]["pass"], figure)

    def assert_bars(self, ladder, figures):
        rows = list(ladder.find(".//tbody"))
        bars = [next(rect for rect in row.iter("rect") if rect.get("class").split()[0] in ("share", "engines"))
                for row in rows]
        shown = [float(row.findall("td")[1].text) for row in rows]
        self.assertEqual(len(rows), 10)
        self.assertAlmostEqual(shown[3], figures["sp"]["simulated"], delta=0.05)
        self.assertAlmostEqual(shown[7], figures["conccl"]["simulated"], delta=0.05)
        scale = max(range(10), key=lambda i: abs(shown[i]))
        for bar, value in zip(bars, shown):
            self.assertAlmostEqual(float(bar.get("width")) / WIDTH,
                                   abs(value / shown[scale]) * float(bars[scale].get("width")) / WIDTH, delta=0.002)

    def test_other_studies_have_no_page(self):
        done = c3sim("reproduce", "kernels", "--page", self.folder / "page.html")
        self.assert_one_line(done, 2, "--page: the study 'kernels' has no page")

    def test_a_page_that_cannot_be_written_costs_no_run(self):
        done = c3sim("reproduce", "conccl", "-q", "--page", self.folder / "no/such/page.html")
        self.assert_one_line(done, 74, "page.html")


if __name__ == "__main__":
    unittest.main()
