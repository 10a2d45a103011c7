"""The node that configs/README.md adds, as files and without code, is one that c3sim can use."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

COMMAND = os.environ["C3SIM"]
CONFIGS = pathlib.Path(os.environ["C3SIM_SOURCE"]) / "configs"
NODE = "a100-sxm-40gb-4"


def files_of(markdown):
    """The TOML blocks whose first line names a preset file, by that name."""
    blocks = re.findall(r"^```toml\n(# (?:nodes|libraries|gpus|fabrics)/\S+\.toml)\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)
    return {first.removeprefix("# "): text for first, text in blocks}


class AddingANode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.configs = pathlib.Path(folder.name) / "configs"
        shutil.copytree(CONFIGS, self.configs)
        self.files = files_of((CONFIGS / "README.md").read_text())
        for name, text in self.files.items():
            self.assertFalse((self.configs / name).exists(), f"{name} is there already: the example adds nothing")
            (self.configs / name).write_text(text)

    def run_command(self, *arguments):
        environment = os.environ | {"C3SIM_CONFIGS": str(self.configs)}
        return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env=environment)

    def test_every_file_is_a_valid_preset(self):
        self.assertEqual(set(self.files), {f"nodes/{NODE}.toml", "libraries/nccl-a100-mesh.toml", "fabrics/lab-200g.toml"})
        for name in self.files:
            result = self.run_command("config", "check", str(self.configs / name))
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_node_can_be_used_by_name(self):
        result = self.run_command("collective", "all_gather", "--system", NODE, "--min", "1 GiB", "--max", "1 GiB", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = json.loads(result.stdout)["rows"][0]
        raw = 3 * 100.0  # GB/s of a GPU's three links
        # NCCL takes rings, which leave the links between opposite GPUs idle: two of three links, 80 GB/s each.
        self.assertGreater(row["busbw_gbps"], 0.45 * raw)
        self.assertLess(row["busbw_gbps"], raw)

    def test_the_fabric_joins_nodes_by_name(self):
        result = self.run_command("collective", "all_to_all", "--system", "h100-sxm-8", "--nodes", "2", "--fabric", "lab-200g",
                                  "--min", "1 GiB", "--max", "1 GiB", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual((found["nodes"], found["fabric"], found["ranks"]), (2, "lab-200g", 16))
        # Eight ranks send half of S out of their node, over two NICs of 24 GB/s: S/t is at most 2 x 48 / 8 GB/s.
        self.assertLess(found["rows"][0]["algbw_gbps"], 12.1)
        self.assertGreater(found["rows"][0]["algbw_gbps"], 11.0)
        self.assertEqual(found["rows"][0]["bottleneck"].split(".")[0], "nic0")


if __name__ == "__main__":
    unittest.main()
