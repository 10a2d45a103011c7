"""The page of `c3sim report` shows what is in the result file: well-formed, self-contained, and true to its numbers."""

import collections
import html.parser
import json
import pathlib
import re
import resource
import shutil
import tempfile
import unittest
import xml.etree.ElementTree

import h5py
import numpy as np

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim, unseal

PICOSECONDS = 1e6  # in a microsecond
WIDTH = 1200  # units of a plot
PRECISION = 0.02  # units: two decimals, twice rounded
LOSSES = ["dispatch", "cus", "cache", "hbm", "links", "interaction"]
LABELS = dict(zip(LOSSES, ["dispatch", "CUs", "cache", "HBM", "links", "interaction"]))
VOID = {"meta", "br"}


class Balance(html.parser.HTMLParser):
    """Every tag that is opened is closed, in order; attributes and ids once."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags = [], [], collections.Counter()

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.ids += [value for name, value in attrs if name == "id"]
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
            self.open.pop()


class Page:
    """A page whose markup is also XML."""

    def __init__(self, path):
        self.text = path.read_text()
        self.root = xml.etree.ElementTree.fromstring(self.text.removeprefix("<!DOCTYPE html>\n"))
        self.axis = int(self.section("timeline").get("data-axis-ps"))

    def section(self, name):
        return self.root.find(f".//section[@id='{name}']")

    def rows(self, section):
        """By strategy, of the rows that have their header cell (the first system's)."""
        rows = self.section(section).findall(".//tbody/tr")
        return {row.find("th").text: row for row in rows if row.find("th") is not None}

    def figures(self, strategy):
        """By system."""
        article = self.root.find(f".//article[@data-strategy='{strategy}']")
        return {figure.get("data-system"): figure for figure in article.findall(".//figure")}

    def x(self, picoseconds):
        return WIDTH * picoseconds / self.axis


def shapes(element, tag, css_class):
    """Those whose classes include `css_class`."""
    return [shape for shape in element.iter(tag) if css_class in shape.get("class", "").split()]


def span(rect):
    x, width = float(rect.get("x")), float(rect.get("width"))
    return x, x + width


def lane(figure, css_class, label=None):
    for row in figure.iter("div"):
        if css_class in row.get("class", "").split() and row.get("class").startswith("lane"):
            if label is None or row.find("span").text == label:
                return row
    raise AssertionError(f"no lane {css_class} {label}")


def steps_of_path(path):
    """x and y of every horizontal part of a step area."""
    x, y, steps = 0.0, None, []
    for command, values in re.findall(r"([MHVZ])([-\d. ]*)", path):
        if command == "M":
            x, y = map(float, values.split())
        elif command == "H":
            steps.append((x, float(values), y))
            x = float(values)
        elif command == "V":
            y = float(values)
    return steps


def union(parts):
    total, end = [], -1
    for start, stop in sorted(parts):
        if start > end:
            total.append([start, stop])
        total[-1][1] = end = max(end, stop)
    return total


def length(parts):
    return sum(stop - start for start, stop in parts)


def common(a, b):
    return sum(max(0, min(p[1], q[1]) - max(p[0], q[0])) for p in a for q in b)


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim report ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.path = cls.folder / "mi300x.h5"
        done = c3sim("run", MAIN_JOB, "--set", "measure.seeds=2", "--json", "-q", "-o", cls.path)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.rows = {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}
        cls.page = cls.report(cls.path)
        cls.file = h5py.File(cls.path)
        cls.addClassCleanup(cls.file.close)
        cls.names = cls.file["names"].asstr()[:]

    @classmethod
    def report(cls, *arguments, output="page.html"):
        done = c3sim("report", "-q", *arguments, "-o", cls.folder / output)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        return Page(cls.folder / output)

    def activities(self, strategy):
        group = self.file[f"strategies/{strategy}/activities"]
        kinds = {value: name for name, value in h5py.check_enum_dtype(group["kind"].dtype).items()}
        columns = {name: group[name][:].tolist() for name in ("id", "parent", "start", "end", "stream", "engine")}
        columns["kind"] = [kinds[value] for value in group["kind"][:]]
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def use(self, strategy, pattern):
        """Dates and shares in use of all resources that match, taken together; of equal dates the last row."""
        group = self.file[f"strategies/{strategy}/resources"]
        names = self.names[group["list/name"][:]]
        rows = [row for row, name in enumerate(names) if re.fullmatch(pattern, name)]
        used, capacity = dict.fromkeys(rows, 0.0), {row: group["list/capacity"][row] for row in rows}
        curve = {}
        steps = group["steps"]
        for row, time, now, there in zip(*(steps[name][:].tolist() for name in ("resource", "time", "used", "capacity"))):
            if row in used:
                used[row], capacity[row] = now, there
                curve[time] = sum(used.values()) / sum(capacity.values())
        return np.array(list(curve)), np.array(list(curve.values()))

    # The page as a document

    def test_the_markup_is_well_formed_and_has_no_script(self):
        balance = Balance()
        balance.feed(self.page.text)
        self.assertEqual(balance.open, [])
        self.assertEqual(len(balance.ids), len(set(balance.ids)))
        self.assertEqual(balance.tags["script"] + balance.tags["link"] + balance.tags["img"], 0)
        self.assertGreater(balance.tags["svg"], 50)

    def test_nothing_is_fetched(self):
        for pattern in (r"https?:", r"\bsrc=", r"\bhref=", r"url\(", "@import", "@font-face"):
            self.assertNotRegex(self.page.text, pattern)

    def test_the_page_has_light_and_dark_colours_for_the_same_things(self):
        style = self.page.root.find(".//style").text
        light, dark = (re.search(pattern, style, re.DOTALL).group(1)
                       for pattern in (r":root \{(.*?)\}", r"scheme: dark\) \{\s*:root \{(.*?)\}"))
        colours = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", text)) for text in (light, dark)]
        self.assertEqual(*map(set, colours))
        used = set(re.findall(r"var\(--([a-z]+)", style)) - {"fill"}
        self.assertEqual(used, set(colours[0]))

    def test_text_has_a_contrast_of_at_least_four_and_a_half(self):
        style = self.page.root.find(".//style").text
        for text in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
            colour = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", text))
            pairs = [("text", "back"), ("muted", "back")]
            pairs += [("on", bar) for bar in ("compute", "comm", "dispatch", "cus", "cache", "hbm", "links", "interaction")]
            for front, back in pairs:
                with self.subTest(front=front, back=back):
                    self.assertGreaterEqual(contrast(colour[front], colour[back]), 4.5)

    def test_every_plot_says_what_it_is(self):
        for svg in self.page.root.iter("svg"):
            self.assertEqual(svg.get("role"), "img")
            self.assertTrue(svg.get("aria-label"))

    def test_the_head_names_system_conditions_and_the_file_its_origin(self):
        head = "".join(self.page.root.find(".//header").itertext())
        for text in ("c3_llama70b_mi300x", "mi300x-8", "8 × mi300x", "1 simulated", "CUs304",
                     "2 seeds; modelled with HBM arbitration outstanding, dispatch oldest_first"):
            self.assertIn(text, head)
        origin = self.page.section("provenance")
        terms = {term.text: value.text for term, value in zip(origin.iter("dt"), origin.iter("dd"))}
        for name, value in self.file.attrs.items():
            if name != "config_resolved":
                self.assertEqual(terms[name], str(value))
        self.assertEqual(origin.find(".//pre").text, self.file.attrs["config_resolved"])

    def test_the_same_file_makes_the_same_page(self):
        self.assertEqual(self.report(self.path, output="again.html").text, self.page.text)

    # Tables

    def test_the_table_is_the_one_that_run_prints(self):
        rows = self.page.rows("table")
        self.assertEqual(list(rows), list(self.rows))
        header = [cell.text for cell in self.page.section("table").findall(".//thead/tr/th")]
        self.assertEqual(header, ["strategy", "time", "p5 - p95", "bound", "speedup", "ideal", "share", "kernel",
                                  "collective", "CUs"])
        for name, row in self.rows.items():
            def ms(key):
                return f"{row[key] / 1000:.3f}"

            def side(key):
                return " > ".join(f"{row[key][when] / 1000:.3f}" for when in ("alone_us", "together_us"))

            expected = [ms("time_us"), f"{ms('time_p5_us')} - {ms('time_p95_us')}", ms("lower_bound_us"),
                        f"{row['speedup']:.3f}", f"{row['ideal_speedup']:.3f}", f"{100 * row['share_of_ideal']:.1f}%",
                        side("kernel"), side("collective"), str(row.get("best_cus", "-"))]
            self.assertEqual([cell.text for cell in rows[name].findall("td")], expected)

    def test_loss_bars_are_as_long_as_their_numbers_on_one_scale(self):
        zeros, scales = set(), []
        for name, row in self.page.rows("losses").items():
            losses = self.rows[name]["loss_us"]
            numbers = ["".join(cell.itertext()) for cell in row.findall("td")[1:]]
            expected = [f"{losses[part]:.1f}" for part in LOSSES] + [f"{losses['total']:.1f} us"]
            self.assertEqual([number.replace("-0.0", "0.0") for number in numbers],
                             [number.replace("-0.0", "0.0") for number in expected])
            [zero] = shapes(row, "path", "zero")
            zero = float(re.match(r"M([\d.]+) 0", zero.get("d")).group(1))
            zeros.add(zero)
            ends = {True: zero, False: zero}
            for part in LOSSES:
                [rect] = shapes(row, "rect", f"part-{part}")
                left, right = span(rect)
                is_gain = losses[part] < 0
                self.assertLessEqual(left, right)
                if right > left:  # a loss of nothing may be drawn on either side
                    self.assertAlmostEqual(right if is_gain else left, ends[is_gain], delta=PRECISION)
                    ends[is_gain] = left if is_gain else right
                self.assertIn(f"{losses[part]:.1f} us".replace("-0.0 us", "0.0 us"), rect.find("title").text.replace("-0.0 us", "0.0 us"))
                if abs(losses[part]) > 50:
                    scales.append((right - left) / abs(losses[part]))
        self.assertEqual(len(zeros), 1)
        self.assertGreaterEqual(len(scales), 5)
        self.assertLess(max(scales) / min(scales), 1.001)

    # Time split

    def split(self, strategy):
        activities = self.activities(strategy)
        busy = {}
        for kind in ("kernel", "collective"):
            wholes = {row["id"] for row in activities if row["kind"] == kind}
            busy[kind] = union((row["start"], row["end"]) for row in activities
                               if row["parent"] in wholes and row["kind"] in ("cohort", "channel", "transfer"))
        both = common(busy["kernel"], busy["collective"])
        return length(busy["kernel"]) - both, both, length(busy["collective"]) - both

    def test_the_summary_says_what_the_table_recommends(self):
        table = c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "-q", "-o", self.folder / "again.h5").stdout
        self.assertIn("recommended: dma, ", table)
        summary = "".join(self.page.section("glance").find("p").itertext())
        self.assertIn("; recommended: dma, ", summary)

    def test_the_split_of_time_is_that_of_the_intervals(self):
        for name, row in self.page.rows("glance").items():
            with self.subTest(strategy=name):
                cells = {cell.get("data-label"): cell.text for cell in row.findall("td")}
                compute, both, communication = self.split(name)
                for label, time in (("compute only", compute), ("both", both), ("comm. only", communication)):
                    self.assertEqual(cells[label], f"{time / 1e9:.3f}")
                upper, lower = ([span(rect) for rect in shapes(row, "rect", side)] for side in ("compute", "comm"))
                self.assertAlmostEqual(upper[-1][1] - upper[0][0], self.page.x(compute + both), delta=2 * PRECISION)
                self.assertAlmostEqual(lower[-1][1] - lower[0][0], self.page.x(both + communication), delta=2 * PRECISION)
                self.assertAlmostEqual(lower[0][0], self.page.x(compute), delta=PRECISION)
                [whole] = shapes(row, "rect", "span")
                self.assertAlmostEqual(span(whole)[1], self.page.x(self.rows[name]["time_us"] * PICOSECONDS), delta=PRECISION)

    # Timeline

    def test_slices_stand_at_their_dates(self):
        for name in self.rows:
            [figure] = self.page.figures(name).values()
            activities = self.activities(name)
            for stream, label, css_class in ((0, "compute", "compute"), (1, "fsdp", "comm")):
                with self.subTest(strategy=name, stream=label):
                    [whole] = [row for row in activities if row["stream"] == stream and row["parent"] == 0]
                    first = min(row["start"] for row in activities if row["parent"] == whole["id"])
                    rects = shapes(lane(figure, "stream", label), "rect", css_class)
                    self.assertAlmostEqual(span(rects[-1])[0], self.page.x(first if len(rects) > 1 else whole["start"]),
                                           delta=0.5)
                    self.assertAlmostEqual(span(rects[-1])[1], self.page.x(whole["end"]), delta=PRECISION)
                    self.assertAlmostEqual(span(rects[0])[0], self.page.x(whole["start"]), delta=PRECISION)
                    title = rects[-1].find("title").text
                    self.assertIn(f"{whole['start'] / 1e9:.3f} to {whole['end'] / 1e9:.3f} ms", title)

    def test_the_wait_for_slots_is_drawn_and_explained(self):
        [figure] = self.page.figures("concurrent").values()
        waiting, running = shapes(lane(figure, "stream", "fsdp"), "rect", "comm")
        self.assertIn("waiting", waiting.get("class"))
        self.assertAlmostEqual(span(waiting)[1], span(running)[0], delta=PRECISION)
        self.assertIn("waited for CU slots of mlp.gate_up", waiting.find("title").text)
        self.assertIn("waits", figure.find("p[@class='reading']").text)

    def test_each_copy_engine_has_a_lane(self):
        [figure] = self.page.figures("dma").values()
        transfers = [row for row in self.activities("dma") if row["kind"] == "transfer"]
        rects = shapes(lane(figure, "engines"), "rect", "comm")
        self.assertEqual(len({rect.get("y") for rect in rects}), len({row["engine"] for row in transfers}))
        expected = sorted((self.page.x(row["start"]), self.page.x(row["end"])) for row in transfers)
        for (left, right), (start, end) in zip(sorted(map(span, rects)), expected, strict=True):
            self.assertAlmostEqual(left, start, delta=PRECISION)
            self.assertAlmostEqual(right, end, delta=2 * PRECISION)

    def test_bound_and_end_are_marked_in_every_plot_of_a_strategy(self):
        for name, row in self.rows.items():
            [figure] = self.page.figures(name).values()
            for css_class, time in (("bound", row["lower_bound_us"]), ("end", row["time_us"])):
                lines = shapes(figure, "path", css_class)
                self.assertEqual(len(lines), len(list(figure.iter("svg"))))
                for line in lines:
                    x = float(re.match(r"M([\d.]+) 0", line.get("d")).group(1))
                    self.assertAlmostEqual(x, self.page.x(time * PICOSECONDS), delta=PRECISION)

    def test_use_is_the_files_and_stays_within_its_strip(self):
        patterns = {"CUs": r"gpu0\.cus", "HBM": r"gpu0\.hbm", "links": r"link0-\d"}
        for name, row in self.rows.items():
            [figure] = self.page.figures(name).values()
            end = row["time_us"] * PICOSECONDS
            for label, pattern in patterns.items():
                with self.subTest(strategy=name, resource=label):
                    times, shares = self.use(name, pattern)
                    area = np.dot(shares, np.diff(np.append(np.minimum(times, end), end)))
                    plot = lane(figure, "use", label)
                    self.assertEqual(plot.find("span/b").text, f"{100 * area / end:.0f}%")
                    svg = plot.find(".//svg")
                    height = float(svg.get("viewBox").split()[3])
                    full = height - 2  # 100 %
                    [path] = shapes(svg, "path", "used")
                    steps = steps_of_path(path.get("d"))
                    self.assertTrue(all(height - full <= y <= height for _, _, y in steps))
                    drawn = sum((right - left) * (height - y) / full for left, right, y in steps)
                    self.assertAlmostEqual(drawn / self.page.x(area), 1, delta=0.02)
                    peak = 100 * shares.max()
                    self.assertIn(f"{min(peak, 100):.1f}% at most", path.find("title").text)

    def test_every_link_has_a_lane(self):
        [figure] = self.page.figures("dma").values()
        titles = [path.find("title").text for path in shapes(lane(figure, "links"), "path", "used")]
        self.assertEqual([title.split(":")[0] for title in titles], [f"link0-{peer}" for peer in range(1, 8)])

    # Several inputs, and choices

    def test_two_systems_are_compared_on_one_axis(self):
        other = self.folder / "h100.h5"
        done = c3sim("run", MAIN_JOB, "--set", "measure.seeds=3", "--set", "system=h100-sxm-8", "--json", "-q", "-o", other)
        h100 = {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}
        page = self.report(other, self.path, output="both.html")
        self.assertEqual([head.text for head in page.root.findall(".//header//h2")], ["h100-sxm-8", "mi300x-8"])
        for name in self.rows:
            figures = page.figures(name)
            self.assertEqual(list(figures), ["h100-sxm-8", "mi300x-8"])
            for figure, time in zip(figures.values(), (h100[name]["time_us"], self.rows[name]["time_us"])):
                end = float(re.match(r"M([\d.]+) 0", shapes(figure, "path", "end")[0].get("d")).group(1))
                self.assertAlmostEqual(end, page.x(time * PICOSECONDS), delta=PRECISION)
                self.assertLess(end, WIDTH)
        ratios = [cell.text for cell in page.section("glance").iter("td") if cell.get("data-label") == "× first"]
        self.assertEqual([ratio for ratio in ratios if ratio],
                         [f"{self.rows[name]['time_us'] / h100[name]['time_us']:.2f}" for name in self.rows])
        summary = "".join(page.section("glance").findall("p")[2].itertext())
        strategy, part = max(((name, part) for name, row in self.rows.items() if row["loss_us"] for part in LOSSES),
                             key=lambda at: abs(self.rows[at[0]]["loss_us"][at[1]] - h100[at[0]]["loss_us"][at[1]]))
        self.assertIn(f"{LABELS[part]} in {strategy}, {h100[strategy]['loss_us'][part]:.1f} us on h100-sxm-8, "
                      f"{self.rows[strategy]['loss_us'][part]:.1f} us on mi300x-8", summary)

    def test_one_engine_that_serves_several_peers_copies_for_one_at_a_time(self):
        other = self.folder / "three engines.h5"
        c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "--set", "system=h100-sxm-8", "-q", "-o", other)
        [figure] = self.report(other, "--strategies", "dma", output="three.html").figures("dma").values()
        lanes = collections.defaultdict(list)
        for rect in shapes(lane(figure, "engines"), "rect", "comm"):
            lanes[rect.get("y")].append(span(rect))
        self.assertEqual(sorted(map(len, lanes.values())), [2, 2, 3])
        for spans in lanes.values():
            for (_, end), (start, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, start + 2 * PRECISION)

    def test_unlike_work_is_said_before_any_ratio(self):
        other = self.folder / "fewer tokens.h5"
        c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "--set", "measure.loss_split=false", "--set",
              "model.tokens=1024", "-q", "-o", other)
        page = self.report(self.path, other, output="unlike.html")
        (warning,) = page.root.findall(".//header/p[@class='warning']")
        self.assertRegex(warning.text, r"^work differs: model\.tokens 2048 / 1024.*; times below do not compare machines$")
        for files in ((self.path,), (self.path, self.path)):
            self.assertEqual(self.report(*files, output="alike.html").root.findall(".//header/p[@class='warning']"), [])

    def test_two_files_of_one_system_are_told_apart(self):
        copy = self.folder / "copy.h5"
        shutil.copy(self.path, copy)
        page = self.report(self.path, copy, output="twice.html")
        self.assertEqual(list(page.figures("dma")), ["mi300x-8 (mi300x.h5)", "mi300x-8 (copy.h5)"])

    def test_chosen_strategies_and_title(self):
        page = self.report(self.path, "--strategies", "dma,serial", "--title", "a < b & \"c\"", output="chosen.html")
        self.assertEqual(list(page.rows("table")), ["serial", "dma"])
        self.assertEqual([article.get("data-strategy") for article in page.root.iter("article")], ["serial", "dma"])
        self.assertEqual((page.root.find(".//h1").text, page.root.find(".//title").text), ("a < b & \"c\"",) * 2)

    def test_every_rank_of_an_explicit_run_is_there(self):
        explicit = self.folder / "explicit.h5"
        done = c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "--set", "measure.fold=none", "-q", "-o", explicit)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.report(explicit, "--strategies", "dma", output="explicit.html")
        [figure] = page.figures("dma").values()
        self.assertEqual([rank.text for rank in figure.findall(".//p[@class='rank']")], [f"GPU {i}" for i in range(8)])
        self.assertEqual(len(figure.findall(".//details//p[@class='rank']")), 7)

    # Size

    def test_a_hundred_thousand_activities_make_a_page_of_less_than_three_megabytes(self):
        crowded = self.folder / "crowded.h5"
        shutil.copy(self.path, crowded)
        count, last = 100_000, self.file["strategies/dma/activities/id"][:].max()
        unseal(crowded)
        with h5py.File(crowded, "a") as file:
            group = file["strategies/dma/activities"]
            step = int(file["strategies/dma/summary/time"][0]) // count
            values = {"id": last + 1 + np.arange(count), "start": step * np.arange(count),
                      "end": step * np.arange(count) + step // 2, "stream": np.full(count, 1)}
            row = np.flatnonzero(group["parent"][:] == 0)[0]  # the collective
            for name, column in group.items():
                old = len(column)
                column.resize((old + count,))
                column[old:] = values.get(name, np.full(count, column[row]))
        page = self.report(crowded, output="crowded.html")
        self.assertLess(len(page.text), 3_000_000)
        [figure] = page.figures("dma").values()
        merged = shapes(lane(figure, "stream", "fsdp"), "g", "merged")
        drawn = sum(int(group.find("title").text.split()[0]) for group in merged)
        self.assertEqual(drawn, count)
        self.assertIn(f"{count} slices shorter than 1/{WIDTH} of the axis", "".join(page.section("timeline").itertext()))


def contrast(one, other):
    """As WCAG 2 defines it."""
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return np.dot([0.2126, 0.7152, 0.0722], linear) + 0.05
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return light / dark


PRODUCT = "gemm 8192x64x8192 bf16"


class ChannelsPage(ScratchTest):
    def cells(self, table):
        return {row[0].text: [cell.text or "" for cell in row[1:]] for row in table.find("tbody")}

    def test_a_run_at_channel_grain_shows_its_channels_and_which_tensors_camp(self):
        result, page = self.folder / "camping.h5", self.folder / "camping.html"
        self.assertEqual(c3sim("run", SOURCE / "configs/experiments/channel_camping.toml", "-o", result).returncode, 0)
        self.assertEqual(c3sim("report", result, "-o", page).returncode, 0)
        Balance().feed(page.read_text())
        section = Page(page).section("channels")
        kernels, buffers = section.findall(".//table")
        # Rows of A and B are 64 of 128 blocks apart: 2 channels have all of them.
        self.assertEqual(buffers.find("thead")[0][2].text, "consecutive (this run)")
        self.assertEqual(self.cells(buffers)[f"{PRODUCT} A"][1], "1.6%")
        self.assertGreater(float(self.cells(buffers)[f"{PRODUCT} A"][3].rstrip("%")), 70)
        self.assertLess(float(self.cells(kernels)[PRODUCT][3].rstrip("%")), 5)
        with h5py.File(result) as file:
            table = file["strategies/concurrent/buffers"]
            self.assertEqual(table.attrs["channel_mapping"], "consecutive")
            names = file["names"].asstr()[:][table["name"][:]]
            self.assertEqual(table["reach_consecutive"][list(names).index(f"{PRODUCT} A")], 1 / 64)

    def test_memory_as_a_whole_has_no_channels_on_the_page(self):
        result, page = self.folder / "whole.h5", self.folder / "whole.html"
        c3sim("run", SOURCE / "configs/experiments/channel_camping.toml", "--set", "measure.memory_grain=whole", "-o",
              result)
        self.assertEqual(c3sim("report", result, "-o", page).returncode, 0)
        self.assertIsNone(Page(page).section("channels"))


class ReportErrors(ScratchTest):
    def result(self):
        path = self.folder / "run.h5"
        done = c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "--set", "measure.loss_split=false", "-q", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_a_file_without_a_loss_split_has_a_page_without_one(self):
        page = self.folder / "run.html"
        done = c3sim("report", self.result())
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", f"wrote {page}; open it in a browser\n"))
        self.assertIsNone(Page(page).section("losses"))

    def test_steps_of_unlike_batches_are_compared_by_token(self):
        tokens_per_second = []
        for batch in (1, 2):
            done = c3sim("run", SOURCE / "configs/experiments/training/llama3_8b_fsdp8.toml", "-q", "--json", "--set",
                         "measure.seeds=1", "--set", "training.sequence=512", "--set", f"training.micro_batch={batch}",
                         "-o", self.folder / f"{batch}.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
            tokens_per_second.append(json.loads(done.stdout)["strategies"][0]["step"]["tokens_per_second"])
        done = c3sim("report", "1.h5", "2.h5", "-o", "both.html", folder=self.folder)
        self.assertRegex(done.stderr, r"^work differs: training\.micro_batch 1 / 2 \(")
        page = Page(self.folder / "both.html")
        self.assertIn("ratios below are per token", page.root.find(".//header/p[@class='warning']").text)
        header = ["".join(cell.itertext()) for cell in page.section("glance").findall(".//thead/tr/th")]
        self.assertRegex(header[-1], r"^× .* per token$")
        (ratio,) = [cell.text for cell in page.section("glance").iter("td") if cell.get("data-label") == "× first" and cell.text]
        self.assertEqual(ratio, f"{tokens_per_second[0] / tokens_per_second[1]:.2f}")

    def test_what_cannot_be_read_is_one_line_and_no_page(self):
        text = self.folder / "notes.h5"
        text.write_text("not HDF5\n" * 1000)
        for path, reason in ((text, "file signature not found"), (self.folder / "missing.h5", "No such file"),
                             (self.folder, "Is a directory")):
            with self.subTest(path=path.name):
                self.assert_one_line(c3sim("report", path, "-o", self.folder / "x.html"), 74,
                                     rf"^c3sim: .*{path.name}: cannot .*: {reason}")
        self.assertEqual(self.files(), ["notes.h5"])

    def test_another_schema_version_is_refused_and_an_older_one_explained(self):
        path = self.result()
        with h5py.File(path, "a") as file:
            file.attrs["schema_version"] = "1.0.0"
            del file.attrs["system"]
        unseal(path)
        self.assert_one_line(c3sim("report", path), 74,
                             r"run\.h5: cannot read attribute 'system': a file of schema version 1\.0\.0 has none; "
                             "run the experiment again$")
        path.unlink()
        path = self.result()
        with h5py.File(path, "a") as file:
            file.attrs["schema_version"] = "2.0.0"
        unseal(path)
        self.assert_one_line(c3sim("report", path), 74, r"schema version 2\.0\.0, this c3sim reads 1\.")
        self.assertEqual(self.files(), ["run.h5"])

    def test_a_page_that_cannot_be_written_leaves_nothing(self):
        path = self.result()
        for output, reason in (("no/such/page.html", "cannot create: No such file or directory"),
                               (self.folder, "cannot write: Is a directory"), ("/dev/null", "not a regular file")):
            with self.subTest(output=output):
                self.assert_one_line(c3sim("report", path, "-o", output, folder=self.folder), 74, rf"^c3sim: .*{reason}$")
        older = '<meta name="generator" content="c3sim"/> older'
        (self.folder / "page.html").write_text(older)
        full = c3sim("report", path, "-o", "page.html", folder=self.folder,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
        self.assert_one_line(full, 74, r"^c3sim: page\.html: cannot write: File too large$")
        self.assertEqual(self.files(), ["page.html", "run.h5"])
        self.assertEqual((self.folder / "page.html").read_text(), older)

    def test_the_page_never_replaces_a_result(self):
        path = self.result()
        self.assert_one_line(c3sim("report", path, "-o", path), 2, r"^c3sim: .*run\.h5: this file is read by the command, which would replace it")
        self.assertEqual(c3sim("inspect", path).returncode, 0)

    def test_an_unknown_strategy_is_a_usage_error_with_a_suggestion(self):
        self.assert_one_line(c3sim("report", self.result(), "--strategies", "serial,dme"), 2,
                             r"^c3sim: unknown strategy 'dme'; did you mean 'dma'\? known: .*dma_partitioned$")


if __name__ == "__main__":
    unittest.main()
