"""The pages of c3sim explain, memory and tune: bars and areas where the numbers say, the schedule of every stage, the front."""

import json
import re
import unittest
import xml.etree.ElementTree as ElementTree

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim
from test_tune import SPACE

TRAINING = SOURCE / "configs/experiments/training"
QUICK = ["measure.seeds=1", "measure.alone=false", "measure.loss_split=false", 'measure.kernel_grain="fluid"', 'measure.vector_grain="fluid"']
PIPELINE = ["model.layers=4", "training.global_batch=16", "training.sequence=1024"]
WIDTH = 1200


class ExplainPage(ScratchTest):
    def page_of(self, *arguments):
        page = self.folder / "page.html"
        done = c3sim("-q", *arguments, "--json", "--page", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = page.read_text()
        self.assertNotIn("<script", text)
        self.assertNotIn("http", text)
        return json.loads(done.stdout), {section.get("id"): section for section in ElementTree.fromstring(text).iter("section")}

    def explained(self, file, *arguments, keys=()):
        return self.page_of("explain", file, *arguments, *(word for key in [*QUICK, *keys] for word in ("--set", key)))

    def test_bars_fall_from_the_peak_to_the_run_and_levers_have_whiskers(self):
        found, sections = self.explained(MAIN_JOB, "--strategy", "concurrent", "--draws", "2")
        self.assertEqual(list(sections), ["waterfall", "exposed", "levers", "choices", "path", "schedule"])
        rows = list(sections["waterfall"].find(".//tbody"))
        self.assertEqual([row.find("th").text for row in rows], ["flops at peak", *(part["name"] for part in found["parts"]), "the run"])
        times = [found["at_peak_us"], *(part["time_us"] for part in found["parts"])]
        begin = 0.0
        for row, time in zip(rows, times):
            bar = next(row.iter("rect"))
            left, width = (float(bar.get(key)) / WIDTH * found["time_us"] for key in ("x", "width"))
            self.assertAlmostEqual(left, min(begin, begin + time), delta=0.001 * found["time_us"])
            self.assertAlmostEqual(width, abs(time), delta=0.001 * found["time_us"])
            begin += time
        self.assertAlmostEqual(begin, found["time_us"], delta=1e-6 * found["time_us"])
        levers = list(sections["levers"].find(".//tbody"))
        self.assertEqual([row.find("th").text for row in levers], [lever["name"] for lever in found["levers"]])
        choices = list(sections["choices"].find(".//tbody"))
        self.assertEqual([row[0].text for row in choices], [its["change"] for its in found["choices"] if its["problem"] is None])
        for row in levers:
            self.assertEqual(len([path for path in row.iter("path") if path.get("class") == "whisker"]), 1)

    def test_the_schedule_has_every_stage_and_micro_batch(self):
        _, sections = self.explained(TRAINING / "llama3_70b_pipeline.toml", "--no-levers", keys=PIPELINE)
        self.assertEqual(list(sections), ["waterfall", "exposed", "path", "schedule"])
        lanes = [lane for lane in sections["schedule"].iter("div") if lane.get("class") == "lane"]
        labels = [lane.find("span").text for lane in lanes]
        self.assertEqual([label for label in labels if label], ["stage 0", "stage 1", "stage 2", "stage 3", "ms"])
        firsts = []
        for stage, lane in enumerate(lane for lane, label in zip(lanes, labels) if label and label.startswith("stage")):
            passes = [rect.find("title").text for rect in lane.iter("rect")]
            for name in ("forward", "backward"):
                numbers = [text.split(",")[0] for text in passes if f", {name}:" in text]
                self.assertEqual(numbers, [f"micro-batch {i}" for i in range(len(numbers))], stage)
                self.assertGreaterEqual(len(numbers), 4)
            firsts.append(float(next(lane.iter("rect")).get("x")))
        self.assertEqual(firsts, sorted(firsts))
        self.assertGreater(firsts[3], firsts[0])

    def test_memory_stacks_kinds_of_tensors_below_the_limit(self):
        found, sections = self.page_of("memory", TRAINING / "llama3_70b_pipeline.toml", "--changes")
        self.assertGreater(len(found["classes"][0]["moments"]), 600)  # more than the chart has columns
        self.assertEqual(list(sections), ["moments", "tensors", "changes"])
        charts = [chart for chart in sections["moments"].iter("div") if chart.get("class") == "class"]
        self.assertEqual([chart.find("h3").text.split(" (")[0] for chart in charts], [its["name"] for its in found["classes"]])
        for chart, its in zip(charts, found["classes"]):
            height = float(chart.find("svg").get("viewBox").split()[3])
            limit = next(chart.iter("rect"))
            byte = (height - float(limit.get("y")) - float(limit.get("height")) / 2) / found["limit_bytes"]  # pixels
            tops = [height - min(float(word) for word in re.findall(r"V([0-9.]+)", area.get("d"))) for area in chart.iter("path")]
            self.assertAlmostEqual(max(tops), its["peak_bytes"] * byte, delta=0.5)
            self.assertEqual(tops, sorted(tops, reverse=True))  # the area of all kinds first, that of weights last
            self.assertAlmostEqual(tops[-1], its["by_class"]["weights"] * byte, delta=0.5)
        self.assertEqual([row.find("th").text for row in sections["tensors"].find(".//tbody")],
                         [tensor["name"] for tensor in found["classes"][found["fullest"]]["tenants"]][:16])
        changes = [row.find("th").text for row in sections["changes"].find(".//tbody")]
        self.assertEqual(changes, ["as it is", *(its["change"] for its in found["changes"] if "problem" not in its)])

    def test_memory_of_other_experiments_lists_operations(self):
        found, sections = self.page_of("memory", MAIN_JOB)
        self.assertEqual(list(sections), ["operations"])
        self.assertEqual([row.find("th").text for row in sections["operations"].find(".//tbody")],
                         [operation["name"] for its in found["classes"] for operation in its["operations"]])

    def test_a_search_shows_its_front(self):
        file = self.folder / "space.toml"
        file.write_text(SPACE)
        found, sections = self.page_of("tune", file, "-o", self.folder / "out")
        self.assertEqual(list(sections), ["front", "ranking", "why", "answer"])
        figures = list(sections["front"].iter("figure"))
        titles = ["memory needed [GB]", "energy of a step [kJ]", "USD/1e9 tokens"]
        self.assertEqual([figure.find(".//figcaption/b").text for figure in figures], [f"{its} against tokens/s" for its in titles])
        for figure in figures:
            self.assertEqual(len(list(figure.iter("circle"))), found["simulated"])
        self.assertEqual(len(list(sections["ranking"].find(".//tbody"))), found["simulated"])
        large = [float(dot.get("r")) for dot in figures[0].iter("circle")].count(5.0)
        beats = [its for its in found["ranking"] if not any(other["value"] >= its["value"] and other["needed_bytes"] <= its["needed_bytes"]
                                                            and other["id"] != its["id"] for other in found["ranking"])]
        self.assertEqual(large, len(beats))
        header = [cell.text for cell in sections["ranking"].find(".//thead").iter("th")]
        self.assertEqual(header[-3:], titles)
        for row, its in zip(sections["ranking"].find(".//tbody"), found["ranking"]):
            self.assertAlmostEqual(float(list(row)[-1].text) / (its["usd"] * 1e9 / its["tokens"]), 1, delta=0.01)

    def test_a_search_shows_money_only_where_a_price_is_known_and_it_is_not_the_objective(self):
        file = self.folder / "space.toml"
        file.write_text(SPACE)
        for key in ("node.usd_per_gpu_hour=0", 'tune.objective="tokens_per_usd"'):
            _, sections = self.page_of("tune", file, "-o", self.folder / key, "--set", key)
            self.assertEqual(len(list(sections["front"].iter("figure"))), 2)
            self.assertNotIn("USD/1e9", "".join(sections["ranking"].find(".//thead").itertext()))

    def test_a_page_that_cannot_be_written_costs_no_run(self):
        for verb in ("explain", "tune"):
            self.assert_one_line(c3sim("-q", verb, MAIN_JOB, "--page", self.folder / "no/such/page.html"), 74, "page.html")


if __name__ == "__main__":
    unittest.main()
