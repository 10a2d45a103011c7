"""Real config.json files of Hugging Face: each is read, its parameters are those of its name, and docs/your_files.md says the same."""

import json
import os
import re
import subprocess
import unittest

from measured_data import DATA, SOURCE, skip_without

NAMED = re.compile(r"(?<![\d.A])(\d+(?:\.\d+)?)[bB](?![a-z])")  # "235B" of Qwen3-235B-A22B
# What is in the number of a name, or not, besides rounding to it: (name, why).
OTHER_NUMBERS = {
    "Llama-4-Maverick-17B-128E-Instruct": "17B are the active ones",
    "Llama-4-Scout-17B-16E-Instruct": "17B are the active ones",
    "Mixtral-8x7B-v0.1": "eight experts of a 7B model, which share their attention",
    "gpt-oss-120b": "rounded up from 116.8 (arXiv 2508.10925, table 1)",
    "gpt-oss-20b": "rounded down from 20.9 (the same table)",
    "MiMo-7B-Base": "rounded down from 7.6",
    "Qwen3-0.6B": "0.596, rounded",
    "gemma-4-26B-A4B": "with the encoder of images",
    "Qwen3-VL-8B-Instruct": "with the encoder of images",
    "Qwen3-8B": "8.19, rounded",
    "Qwen3-VL-32B-Instruct": "32.76, rounded down",
}


def lists_of(file):
    done = subprocess.run([os.environ["C3SIM"], "new", "--model", file, "--system", "h100-sxm-8", "--nodes", "64", "--leave-out", "1",
                           "--explain-file"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["files"][0]


def size_of(lists):
    """The sentence about its parameters."""
    return next(fact for fact in lists["facts"] if " G parameters" in fact)


class ModelFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lists = {file.stem.split("--")[1]: (file, lists_of(file)) for file in sorted((DATA / "models").glob("*.json"))}

    def test_there_are_32_and_no_key_of_one_is_dropped_or_unknown(self):
        self.assertEqual(len(self.lists), 32)
        for name, (file, lists) in self.lists.items():
            with self.subTest(name=name):
                named = {key["from"] for key in lists["taken"]} | {key["from"] for key in lists["ignored"]}
                whole = json.loads(file.read_text())
                keys = {key for key in whole if key != "text_config"} | {f"text_config.{key}" for key in whole.get("text_config", {})}
                self.assertEqual(keys - named, set())
                self.assertTrue(all(lists[part] for part in ("taken", "assumed", "ignored")))
                self.assertEqual([key["from"] for key in lists["ignored"] if key["why"].startswith("unknown")], [])

    def test_parameters_are_those_that_the_name_states(self):
        for name, (_, lists) in self.lists.items():
            stated = NAMED.search(name)
            if not stated or name in OTHER_NUMBERS:
                continue
            with self.subTest(name=name):
                counted = float(size_of(lists).split()[0])
                self.assertAlmostEqual(counted / float(stated[1]), 1.0, delta=0.02)

    def test_the_page_says_the_same_of_each(self):
        rows = dict(re.findall(r"^\| ([\w.-]+) \| (.* \| .*) \|$", (SOURCE / "docs/your_files.md").read_text(), re.M))
        for name, (_, lists) in self.lists.items():
            with self.subTest(name=name):
                words = size_of(lists).split()
                cells = [cell.strip() for cell in rows[name].split("|")]
                self.assertEqual(cells[0], words[0])
                self.assertEqual(cells[1], words[3] if len(words) > 3 else "")
                kept = next((fact for fact in lists["facts"] if fact.startswith("decoding keeps")), "")
                self.assertEqual(cells[2:4], re.findall(r"([\d.]+)(?: GB of a sequence of 8192| of 131072)", kept) or ["", ""])
                shares = [max(part["parameters"], part["flops"]) for part in lists["not_modelled"]]
                self.assertEqual([f"{100 * share:.1f}" for share in shares], re.findall(r"([\d.]+) %", cells[4]))
                self.assertEqual(cells[5], "yes" if max(shares, default=0) <= 0.02 else "no")


if __name__ == "__main__":
    skip_without("models")
    unittest.main()
