"""config schema is a schema: it accepts every configuration that is shipped, and refuses the mistakes that a reader
would refuse. config show --origins says where each value comes from."""

import concurrent.futures
import copy
import json
import os
import pathlib
import re
import tomllib
import unittest
import unittest.mock

import jsonschema
from command import MAIN_JOB, SOURCE, ScratchTest, c3sim

FOLDERS = {"gpu": "gpus", "node": "nodes", "library": "libraries", "model": "models", "fabric": "fabrics",
           "framework": "frameworks", "host": "hosts", "experiment": "experiments"}

EXPERIMENT = """\
schema = 1
system = "mi300x-8"
[model]
use = "llama-70b"
tokens = 2048
dtype = "bf16"
[[stream]]
name = "a"
run = ["next.mlp.down", { gemm = { m = 8, n = 8, k = 8, dtype = "fp8" } }, { all_gather = "1 GiB" }, { record = "e" },
  { broadcast = { size = "1 MiB", root = 3, ranks = [1, 3] } }, { all_reduce = { size = "4 MiB", groups = { size = 2, stride = 2 } } },
  { all_to_all_v = { ranks = [0, 1], sends = [["0 B", "1 MB"], ["2 MB", "0 B"]] } }, { barrier = { on = [0, 1] } }, { reduce = "mlp.down.weight" }]
[[stream]]
name = "b"
run = [{ wait = "e" }, { all_to_all = "mlp.down.weight" }]
[strategy.s]
order = ["b", "a"]
a.cus = "best 8..16"
b = { cus = 8, priority = -7, backend = "dma", algorithm = "ring", reserve_cus = 0 }
[measure]
seeds = 2
kernel_grain = "fluid"
loss_split = false
fold = "exact"
"""

# What the experiment above becomes with one mistake in it.
MISTAKES = {
    "unknown key": ("tokens = ", "tokns = 1\ntokens = "),
    "unknown table": ("[measure]", "[masure]\n[measure]"),
    "no schema": ("schema = 1\n", ""),
    "newer schema": ("schema = 1", "schema = 2"),
    "no system": ('system = "mi300x-8"\n', ""),
    "no tokens": ("tokens = 2048\n", ""),
    "a count that is a text": ("tokens = 2048", 'tokens = "2048"'),
    "unknown dtype": ('dtype = "bf16"', 'dtype = "bf15"'),
    "a stream without a name": ('name = "b"\n', ""),
    "an empty run": ('[{ wait = "e" }, { all_to_all = "mlp.down.weight" }]', "[]"),
    "unknown operation": ("next.mlp.down", "next.mlp.dwn"),
    "two keys in one operation": ('{ wait = "e" }', '{ wait = "e", record = "f" }'),
    "unknown collective": ("all_to_all", "scatter"),
    "a collective without a size": ('size = "1 MiB", ', ""),
    "a root where there is none": ("{ barrier = { on", "{ barrier = { root = 0, on"),
    "a rank that is a text": ("ranks = [1, 3]", 'ranks = [1, "3"]'),
    "a rank below 0": ("on = [0, 1]", "on = [0, -1]"),
    "a group of one": ("{ size = 2,", "{ size = 1,"),
    "groups without a size": ("{ size = 2, stride = 2 }", "{ stride = 2 }"),
    "groups without a distance": ("stride = 2", "stride = 0"),
    "no ranks": ("ranks = [1, 3]", "ranks = []"),
    "a size that is a rate": ('"2 MB"', '"2 MB/s"'),
    "a barrier of a size": ("{ on = [0, 1] }", '"1 MiB"'),
    "a GEMM without k": ("k = 8, ", ""),
    "a size without a unit": ('"1 GiB"', '"1"'),
    "a size in bandwidth": ('"1 GiB"', '"1 GiB/s"'),
    "no size": ('"1 GiB"', '"0 GiB"'),
    "a negative size": ('"1 GiB"', '"-1 GiB"'),
    "unknown weight": ("mlp.down.weight", "mlp.up.weight"),
    "a range of CUs without an end": ('"best 8..16"', '"best 8.."'),
    "no CU": ("cus = 8,", "cus = 0,"),
    "priority out of range": ("priority = -7", "priority = -8"),
    "unknown backend": ('"dma"', '"sdma"'),
    "a flag that is a text": ("loss_split = false", 'loss_split = "no"'),
    "a word that is a flag": ('fold = "exact"', "fold = false"),
    "too many seeds": ("seeds = 2", "seeds = 1001"),
    "a range without an end": ("[measure]", '[gpu]\nhbm_read = { low = "1 TB/s", nominal = "2 TB/s" }\n[measure]'),
    "an assumed single value": ("[measure]", '[gpu]\nxcds = { value = 1, kind = "assumed" }\n[measure]'),
}


def schema(kind):
    done = c3sim("config", "schema", kind)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft4Validator.check_schema(document)
    return jsonschema.Draft4Validator(document)


# Presets that extend no other, and whose keys are all required or optional by themselves: which keys go with which
# topology, a schema cannot say.
TYPICAL = {"gpu": "mi300x", "node": "mi300x-8", "library": "rccl-mi300x", "model": "llama-70b",
           "framework": "pytorch-eager", "host": "xeon-8480c"}


def typical(kind):
    return SOURCE / "configs" / FOLDERS[kind] / f"{TYPICAL[kind]}.toml"


def alone(file):
    """The text of a preset with what it extends written out: a file that extends another may lack any key."""
    text = file.read_text()
    found = re.search(r"(?m)^extends *= *(.*)\n", text)
    if not found:
        return text
    extended = tomllib.loads(found.group(0))["extends"]
    below = [alone(file.parent / name) for name in ([extended] if isinstance(extended, str) else extended)]
    lines = text.replace(found.group(0), "").splitlines(keepends=True)
    tables = [part[part.index("\n[") + 1:] if "\n[" in part else "" for part in below]
    tops = [part[:part.index("\n[") + 1] if "\n[" in part else part for part in below]
    return "".join(tops) + "".join(lines) + "\n" + "\n".join(tables)


def shipped(kind):
    return sorted((SOURCE / "configs" / FOLDERS[kind]).rglob("*.toml"))


class Schema(ScratchTest):
    def assert_valid(self, validator, text, name):
        errors = [f"{list(error.path)}: {error.message[:200]}" for error in
                  jsonschema.Draft4Validator(validator.schema).iter_errors(tomllib.loads(text))]
        self.assertEqual(errors, [], name)

    def test_every_shipped_file_validates_against_the_schema_of_its_kind(self):
        for kind in FOLDERS:
            validator = schema(kind)
            files = shipped(kind)
            self.assertGreater(len(files), 0)
            for file in files:
                with self.subTest(file=file.name):
                    self.assert_valid(validator, file.read_text(), file.name)

    def test_a_preset_that_lacks_any_one_of_its_keys_validates_just_when_it_can_be_read(self):
        refused = 0
        for kind in TYPICAL:
            validator = schema(kind)
            file = typical(kind)
            text = alone(file)
            copy_of_file = self.folder / FOLDERS[kind] / file.name
            copy_of_file.parent.mkdir()
            for key, value in tomllib.loads(text).items():
                if isinstance(value, dict) and "source" not in value:
                    continue  # a table, not a line
                lacking = re.sub(rf"(?m)^{key} *=.*\n", "", text)
                copy_of_file.write_text(lacking)
                is_read = c3sim("config", "check", copy_of_file).returncode == 0
                with self.subTest(kind=kind, lacks=key):
                    self.assertNotIn(key, tomllib.loads(lacking))
                    self.assertEqual(validator.is_valid(tomllib.loads(lacking)), is_read)
                refused += not is_read
        self.assertGreater(refused, 60)

    def test_a_preset_in_which_a_number_lacks_its_value_kind_or_source_is_refused(self):
        tried = 0
        for kind in TYPICAL:
            validator = schema(kind)
            preset = tomllib.loads(typical(kind).read_text())
            for key, part in [(key, part) for key, value in preset.items() if isinstance(value, dict) for part in value]:
                broken = copy.deepcopy(preset)
                del broken[key][part]
                with self.subTest(kind=kind, key=key, lacks=part):
                    self.assertFalse(validator.is_valid(broken))
                tried += 1
        self.assertGreater(tried, 150)

    def test_the_schema_and_the_reader_refuse_the_same_mistakes_in_wires(self):
        good = (SOURCE / "configs/nodes/a100-pcie-4.toml").read_text()
        mistakes = {
            "no count": ('"gpu0 - cpu0"', '"gpu0 - cpu0 x"'),
            "count 0": ('"gpu0 - cpu0"', '"gpu0 - cpu0 x0"'),
            "one end": ('"gpu0 - cpu0"', '"gpu0 -"'),
            "three ends": ('"gpu0 - cpu0"', '"gpu0 - cpu0 - cpu1"'),
            "a name with a dot": ('"gpu0 - cpu0"', '"gpu0 - cpu.0"'),
            "a number": ('"gpu0 - cpu0"', "3"),
            "no wire": ('value = [\n  "gpu0', 'value = [], x = [\n "gpu0'),
            "a link that lacks a rate": ("one_way   = {", "one_wya = {"),
            "a rate without a source": ('{ value = "108 GB/s"', '{ value = "108 GB/s" } #'),
            "no topology of this name": ('"wired"', '"wierd"'),
        }
        validator = schema("node")
        self.assert_valid(validator, good, "the preset in which the mistakes are made")
        file = self.folder / "nodes/a100-pcie-4.toml"
        file.parent.mkdir()
        file.write_text(good)
        self.assertEqual(c3sim("config", "check", file).returncode, 0)
        for name, (part, instead) in mistakes.items():
            with self.subTest(mistake=name):
                text = good.replace(part, instead, 1)
                self.assertNotEqual(text, good)
                file.write_text(text)
                done = c3sim("config", "check", file)
                self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
                self.assertRegex(done.stderr, r"a100-pcie-4.toml:\d+:\d+: ")
                self.assertFalse(validator.is_valid(tomllib.loads(text)))

    def test_a_gpu_without_a_data_type_validates(self):
        preset = tomllib.loads((SOURCE / "configs/gpus/mi300x.toml").read_text())
        less = {key: value for key, value in preset.items() if not key.startswith("fp8_")}
        self.assertLess(len(less), len(preset))
        self.assertTrue(schema("gpu").is_valid(less))

    def test_a_preset_that_extends_another_may_leave_out_what_that_gives(self):
        self.assertTrue(schema("gpu").is_valid({"extends": "mi300x.toml", "name": "mi308x"}))
        self.assertFalse(schema("gpu").is_valid({"name": "mi308x"}))
        self.assertFalse(schema("gpu").is_valid({"extends": "mi300x.toml", "nmae": "mi308x"}))

    def test_the_schema_and_the_reader_refuse_the_same_mistakes(self):
        validator = schema("experiment")
        self.assert_valid(validator, EXPERIMENT, "the experiment in which the mistakes are made")
        (self.folder / "good.toml").write_text(EXPERIMENT)
        done = c3sim("config", "check", "good.toml", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, (good, bad) in MISTAKES.items():
            with self.subTest(mistake=name):
                text = EXPERIMENT.replace(good, bad, 1)
                self.assertNotEqual(text, EXPERIMENT)
                (self.folder / "bad.toml").write_text(text)
                self.assertEqual(c3sim("config", "check", "bad.toml", folder=self.folder).returncode, 3)
                self.assertFalse(validator.is_valid(tomllib.loads(text)))

    def test_a_resolved_experiment_validates_with_its_presets_in_place(self):
        for origins in ([], ["--origins"]):
            text = c3sim("config", "show", MAIN_JOB, "--resolved", *origins).stdout
            self.assertIn("[gpu]", text)
            self.assert_valid(schema("experiment"), text, origins)

    def test_what_many_keys_share_is_defined_once_so_that_editors_can_load_it(self):
        for kind in FOLDERS:
            text = c3sim("config", "schema", kind).stdout
            with self.subTest(kind=kind):
                self.assertLess(len(text), 120_000)
                definitions = json.loads(text)["$defs"]
                referred = set(re.findall(r'"#/\$defs/([^"]*)"', text))
                self.assertEqual(referred, set(definitions))
        self.assertIn("int 1..64?", json.loads(c3sim("config", "schema").stdout)["$defs"])

    def test_a_slip_in_the_kind_is_a_usage_error(self):
        self.assert_one_line(c3sim("config", "schema", "gpus"), 2, "^c3sim: .*gpus")


# A file of each table that has choices of its own, and refusals of single choices that the schema cannot state, because
# they depend on another key: those that are documented beside the choice (docs/keys.md) or by the error itself.
HOLDERS = {"image_network": "images/resnet50_mi250x.toml", "recurrent": "recurrent/gnmt_v100.toml", "recommendation": "dlrm/mlperf_v100.toml",
           "training": "training/llama3_8b_fsdp8.toml", "measure": "c3_llama70b_mi300x.toml"}
BY_ANOTHER_KEY = re.compile(r"requires? |needs |cannot be combined|is (?:only )?for |without |must be .* (?:of|where) |has no |not .* with |does not|is not |cannot ")
CHOICES_ALONE = re.compile(r"unknown name|: must be (?:one of )?[\w.-]+(?:, [\w.-]+)*(?: or [\w.-]+)?$")


def choices_of(table, definitions):
    """Keys of a table's schema that are one of some names, and the names."""
    for key, rule in table.get("properties", {}).items():
        while "$ref" in rule:
            rule = definitions[rule["$ref"].removeprefix("#/$defs/")]
        for form in (rule, *rule.get("anyOf", []), *rule.get("oneOf", [])):
            if "enum" in form:
                yield key, [name for name in form["enum"] if isinstance(name, str)]


class Choices(ScratchTest):
    def test_the_reader_takes_every_choice_that_the_schema_offers_unless_another_key_forbids_it(self):
        document = schema("experiment").schema
        changes = []
        for name, file in HOLDERS.items():
            table = document["properties"][name]
            while "$ref" in table:
                table = document["$defs"][table["$ref"].removeprefix("#/$defs/")]
            changes += [(file, f'{name}.{key}="{choice}"') for key, names in choices_of(table, document["$defs"]) for choice in names]
        self.assertGreater(len(changes), 60)

        def checked(change):
            return c3sim("config", "check", SOURCE / "configs/experiments" / change[0], "--set", change[1], "-q")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = list(pool.map(checked, changes))
        for (_, change), done in zip(changes, outcomes):
            with self.subTest(change=change):
                self.assertIn(done.returncode, (0, 3), done.stderr)
                self.assertNotRegex(done.stderr.strip(), CHOICES_ALONE)
                if done.returncode == 3:
                    self.assertRegex(done.stderr, BY_ANOTHER_KEY)


class Wires(ScratchTest):
    """An experiment on a wired node, shown whole, is the same experiment."""

    def setUp(self):
        super().setUp()
        node = (SOURCE / "configs/nodes/a100-pcie-4.toml").read_text()
        node = re.sub(r'(?m)^gpu +=.*', 'gpu = "mi300x"', re.sub(r'(?m)^library +=.*', 'library = "rccl-mi300x"', node))
        (self.folder / "nodes").mkdir()
        (self.folder / "nodes/a100-pcie-4.toml").write_text(node)
        search_path = unittest.mock.patch.dict(os.environ, C3SIM_CONFIGS=str(self.folder))
        search_path.start()
        self.addCleanup(search_path.stop)
        experiment = EXPERIMENT.replace('"mi300x-8"', '"a100-pcie-4"') + '[node.links.socket]\none_way = "18 GB/s"\n'
        (self.folder / "mine.toml").write_text(experiment)

    def show(self, file, *options):
        done = c3sim("config", "show", file, "--resolved", *options, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_what_is_shown_resolves_to_itself(self):
        text = self.show("mine.toml")
        node = tomllib.loads(text)["node"]
        self.assertEqual(node["wires"]["value"][4], "cpu0 - cpu1 socket")
        self.assertEqual(node["links"]["socket"]["one_way"], "18 GB/s")
        (self.folder / "again.toml").write_text(text)
        self.assertEqual(self.show("again.toml"), text)
        origins = self.show("mine.toml", "--origins")
        self.assertEqual(tomllib.loads(origins), tomllib.loads(text))
        self.assertRegex(origins, r"\nwires = .*  # \S.*nodes/a100-pcie-4.toml:\d+:9\n")
        self.assertRegex(origins, r'\none_way = "18 GB/s"  # \S*mine.toml:\d+:11\n')

    def test_both_the_experiment_and_what_is_shown_validate(self):
        validator = schema("experiment")
        for text in ((self.folder / "mine.toml").read_text(), self.show("mine.toml")):
            self.assertEqual(list(validator.iter_errors(tomllib.loads(text))), [])

    def test_list_names_wires_and_every_kind_of_link(self):
        text = c3sim("list", "systems", "a100-pcie-4", "--sources").stdout
        self.assertRegex(text, r"(?m)^a100-pcie-4 wires = gpu0 - cpu0, gpu1 - cpu0, ")
        self.assertRegex(text, r"(?m)^a100-pcie-4 links\.socket\.one_way = .*\n    payload one way, the other idle\n")
        listed = json.loads(c3sim("list", "systems", "a100-pcie-4", "--sources", "--json").stdout)["systems"]
        self.assertEqual([row["value"][0] for row in listed if row["key"] == "wires"], ["gpu0 - cpu0"])


class Origins(ScratchTest):
    def show(self, *options):
        done = c3sim("config", "show", MAIN_JOB, "--origins", *options, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_value_says_where_it_was_written_and_the_place_is_right(self):
        text = self.show("--resolved", "--set", "gpu.xcds=4", "--set", "stream.0.run.0=mlp.down")
        plain = c3sim("config", "show", MAIN_JOB, "--resolved", "--set", "gpu.xcds=4", "--set",
                      "stream.0.run.0=mlp.down").stdout
        self.assertEqual(tomllib.loads(text), tomllib.loads(plain))
        seen = set()
        for line in text.splitlines():
            if not line or line.startswith("["):
                continue
            key, comment = re.fullmatch(r"(\S+) = .*  # (.+)", line).groups()
            place = re.fullmatch(r"(/.+\.toml):(\d+):(\d+)", comment.split("; ")[0])
            if place is None:
                continue
            file, row, column = place.groups()
            written = pathlib.Path(file).read_text().splitlines()[int(row) - 1]
            self.assertRegex(written[:int(column) - 1], rf"(^|\.){key} *= *$", line)
            seen.add(pathlib.Path(file).parent.name)
        self.assertEqual(seen, {"experiments", "gpus", "kernels", "nodes", "libraries", "models"})
        self.assertIn("\nxcds = 4  # --set:1:1\n", text)
        self.assertRegex(text, r'\nrun = \["mlp.down"\]  # \S+:\d+:\d+; \[0\] --set:2:1\n')
        self.assertIn("\ndraws = 0  # default\n", text)
        self.assertRegex(text, r"\nseeds = 8  # \S+c3_llama70b_mi300x.toml:\d+:9\n")

    def test_without_resolved_it_shows_the_file_alone(self):
        text = self.show("--set", "measure.seeds=3")
        self.assertIn('system = "mi300x-8"  # ', text)
        self.assertIn("\nseeds = 3  # --set:1:1\n", text)
        self.assertNotIn("default", text)


class Sources(ScratchTest):
    def test_list_prints_every_number_of_a_preset_with_kind_and_source(self):
        def sourced(table, path=""):
            for key, value in table.items():
                if isinstance(value, dict) and "source" in value:
                    yield path + key, value
                elif isinstance(value, dict):
                    yield from sourced(value, f"{path}{key}.")

        numbers = dict(sourced(tomllib.loads(alone(SOURCE / "configs/gpus/mi300x.toml"))))
        listed = json.loads(c3sim("list", "gpus", "mi300x", "--sources", "--json").stdout)
        self.assertEqual(listed["schema_version"], 3)
        for number in listed["gpus"]:
            self.assertEqual(number.pop("name"), "mi300x")
            self.assertNotEqual(number.pop("meaning"), "", number["key"])
        self.assertEqual({number.pop("key"): number for number in listed["gpus"]}, numbers)

        text = c3sim("list", "gpus", "mi300x", "--sources").stdout
        self.assertEqual(sorted(re.findall(r"(?m)^mi300x (\S+) = ", text)), sorted(numbers))
        self.assertRegex(text, r"(?m)^mi300x dma_outstanding = 31 kB \.\. 60 kB \.\. 93 kB \(assumed\)\n"
                               r"    bytes in flight of one copy engine: its bandwidth times the latency\n"
                               r"    source: 46\.6 GB/s x 0\.66 us")
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_every_kind_of_preset_has_sources_and_one_can_be_named(self):
        for what in ("gpus", "systems", "libraries", "models", "fabrics", "frameworks", "hosts"):
            with self.subTest(what=what):
                self.assertGreater(c3sim("list", what, "--sources").stdout.count("published"), 0)
        models = c3sim("list", "models", "llama-405b").stdout
        self.assertIn("llama-405b", models)
        self.assertNotIn("llama-70b", models)

    def test_what_cannot_be_listed_is_a_usage_error(self):
        self.assert_one_line(c3sim("list", "models", "llama-70B"), 2, "did you mean 'llama-70b'")
        self.assert_one_line(c3sim("list", "experiments", "--sources"), 2, "config show")
        self.assert_one_line(c3sim("list", "studies", "--sources"), 2, "reproduce NAME")

    def test_studies_are_listed_with_what_they_take(self):
        studies = {row["name"]: row for row in json.loads(c3sim("list", "studies", "--json").stdout)["studies"]}
        self.assertEqual(sorted(studies), ["bert", "camping", "cluster", "collectives", "conccl", "convolutions", "dlrm", "goldyloc", "hybrid_sharding", "interference", "jitq", "kernels", "one_gpu", "sampling", "scaling_laws",
                                           "selection", "t3", "traces", "training", "tune"])
        self.assertEqual(studies["conccl"]["options"], "--rows --page --draws --jobs --calibrated --tornado")
        self.assertEqual(studies["t3"]["measured_tables"], "none")
        self.assertIn("--systems", studies["collectives"]["options"])


if __name__ == "__main__":
    unittest.main()
