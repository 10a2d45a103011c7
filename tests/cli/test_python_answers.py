"""What results/python reads of the JSON of c3sim explain and c3sim memory."""

import json
import sys
import unittest

from command import SOURCE, ScratchTest, c3sim

sys.path.insert(0, str(SOURCE / "results/python"))
import c3sim_results  # noqa: E402

STEP = SOURCE / "configs/experiments/training/llama3_8b_fsdp8.toml"
SMALL = ("--set", "model.layers=2")
PAIR = SOURCE / "configs/experiments/c3_llama70b_mi300x.toml"


class PythonAnswers(ScratchTest):
    def answer(self, *arguments):
        done = c3sim("-q", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        file = self.folder / f"{arguments[0]}.json"
        file.write_text(done.stdout)
        return file, json.loads(done.stdout)

    def test_explain(self):
        file, found = self.answer("explain", STEP, *SMALL, "--no-levers")
        why = c3sim_results.Explain(file)
        self.assertAlmostEqual(why.parts.time_us.sum() + found["at_peak_us"], found["time_us"], delta=1e-6 * found["time_us"])
        self.assertEqual(list(why.parts.index), [part["name"] for part in found["parts"]])
        self.assertEqual(why.communication.exposed_us.to_dict(), {its["name"]: its["exposed_us"] for its in found["communication"]})
        self.assertAlmostEqual(why.path_classes.on_path_us.sum(), found["critical_path"]["time_us"], delta=1e-6 * found["time_us"])
        self.assertEqual((why.words, len(why.levers)), (found["words"], 0))

    def test_memory_of_a_step(self):
        file, found = self.answer("memory", STEP, "--changes", *SMALL)
        memory = c3sim_results.Memory(file)
        fullest = found["classes"][memory.fullest]
        self.assertTrue(memory.fits)
        self.assertEqual(memory.classes.peak_bytes[memory.fullest], fullest["peak_bytes"])
        self.assertEqual(memory.classes["by_class.weights"][memory.fullest], fullest["by_class"]["weights"])
        moments = memory.moments(memory.fullest)
        self.assertEqual(moments.bytes.max(), fullest["peak_bytes"])
        kinds = moments[list(fullest["by_class"])].sum(axis=1)
        self.assertTrue(((kinds - moments.bytes).abs() < 1).all())
        self.assertEqual(memory.tensors(memory.fullest).bytes.max(), fullest["tenants"][0]["bytes"])
        self.assertEqual(memory.changes.change.tolist(), [its["change"] for its in found["changes"]])

    def test_memory_of_other_experiments_has_classes_alone(self):
        file, found = self.answer("memory", PAIR)
        memory = c3sim_results.Memory(file)
        self.assertEqual(memory.classes["bytes"].tolist(), [its["bytes"] for its in found["classes"]])
        self.assertTrue(memory.fullest is None and memory.changes.empty and memory.moments(0).empty and memory.tensors(0).empty)

    def test_other_files_are_refused(self):
        file = self.folder / "other.json"
        for text in ("{}", "[1]"):
            file.write_text(text)
            self.assertRaisesRegex(ValueError, "not an answer of c3sim explain", c3sim_results.Explain, file)
            self.assertRaisesRegex(ValueError, "not an answer of c3sim memory", c3sim_results.Memory, file)


if __name__ == "__main__":
    unittest.main()
