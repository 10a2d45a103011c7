"""Which source files are compiled as one: files that share a name of their own are parted, coroutines are alone."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["C3SIM_SOURCE"]) / "cmake" / "unity_groups.py"
OWN = "namespace {{\nint helper() {{\n  return 1;\n}}\n}}  // namespace\n{}"


def groups(size=8, **files):
    """The group of each file that has one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name.replace("__", "/").replace("_hpp", ".hpp")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        sources = [name.replace("__", "/") for name in files if not name.endswith("_hpp")]
        done = subprocess.run([sys.executable, "-B", SCRIPT, folder, str(size), *sources], cwd=folder,
                              capture_output=True, text=True, check=True)
    return {path: int(group) for group, path in map(str.split, done.stdout.splitlines())}


class UnityGroups(unittest.TestCase):
    def test_files_with_names_of_their_own_are_together(self):
        self.assertEqual(groups(a=OWN.format(""), b="int other() { return 2; }\n"), {"a": 0, "b": 0})

    def test_files_that_share_a_name_are_parted(self):
        self.assertEqual(groups(a=OWN.format(""), b=OWN.format(""), c="int c;\n"), {"a": 0, "b": 1, "c": 0})

    def test_names_in_a_namespace_of_the_files_name_are_not_shared(self):
        inside = "namespace c3::{} {{\n" + OWN.format("").replace("{", "{{").replace("}", "}}") + "}}\n"
        self.assertEqual(groups(a=inside.format("a"), b=inside.format("b")), {"a": 0, "b": 0})
        self.assertEqual(groups(a=inside.format("a"), b=inside.format("a")), {"a": 0, "b": 1})
        before = OWN.format(inside.format("a").replace("helper", "other"))
        self.assertEqual(groups(a=before, b=before.replace("::a", "::b")), {"a": 0, "b": 1})

    def test_each_of_several_constants_of_a_line_is_a_name(self):
        files = {"a": OWN.format("").replace("int helper", "constexpr int kOne = 1, kTwo = 2;\nint helper")}
        self.assertEqual(groups(**files, b="int b() { return kTwo; }\n"), {"a": 0, "b": 1})
        self.assertEqual(groups(**files, b="int b() { return kThree; }\n"), {"a": 0, "b": 0})

    def test_a_file_that_mentions_anothers_name_is_parted_from_it(self):
        mention = "int b() { return helper(); }\n"
        self.assertEqual(groups(a=OWN.format(""), b=mention), {"a": 0, "b": 1})
        self.assertEqual(groups(a=mention, b=OWN.format("")), {"a": 0, "b": 1})

    def test_members_comments_and_texts_are_no_mentions(self):
        text = 'int b() { return x.helper() + y->helper() + z::helper(); }  // helper\nauto t = "helper";\n'
        self.assertEqual(groups(a=OWN.format(""), b=text), {"a": 0, "b": 0})

    def test_a_name_in_an_included_header_counts(self):
        files = {"a": OWN.format(""), "b": '#include "h.hpp"\n', "h_hpp": "int helper();\n"}
        self.assertEqual(groups(**files), {"a": 0, "b": 1})
        files["h_hpp"] = '#include "g.hpp"\n'
        self.assertEqual(groups(**files, g_hpp="struct helper {\n};\n"), {"a": 0, "b": 1})
        self.assertEqual(groups(**files, g_hpp="struct X {\n  int helper;\n};\n"), {"a": 0, "b": 0})

    def test_a_type_is_named_before_its_bases(self):
        derived = "namespace {\nclass Part final : public Base<int> {\n};\nenum class Kind : int {\n};\n}  // namespace\n"
        for mention in ("Part", "Kind"):
            self.assertEqual(groups(a=derived, b=f"void b({mention}) {{}}\n"), {"a": 0, "b": 1})
        self.assertEqual(groups(a=derived, b="void b(Base<int>) {}\n"), {"a": 0, "b": 0})

    def test_a_constant_that_headers_define_twice_parts_who_names_it(self):
        files = {"g_hpp": "inline constexpr int kMost = 1;\n", "h_hpp": "inline constexpr long kMost = 2;\n",
                 "a": '#include "g.hpp"\nint a() { return kMost; }\n', "b": '#include "h.hpp"\n'}
        self.assertEqual(groups(**files), {"a": 0, "b": 1})
        self.assertEqual(groups(**files | {"b": '#include "g.hpp"\nint b() { return kMost; }\n'}), {"a": 0, "b": 0})

    def test_a_group_has_so_many_files_of_any_folder(self):
        files = {name: f"int {name};\n" for name in ("a", "b", "c")}
        self.assertEqual(groups(size=2, **files), {"a": 0, "b": 0, "c": 1})
        self.assertEqual(groups(a="int a;\n", x__b="int b;\n"), {"a": 0, "x/b": 0})

    def test_coroutines_are_alone(self):
        self.assertEqual(groups(a="int a;\n", b="Task b() { co_return; }\n"), {"a": 0})


if __name__ == "__main__":
    unittest.main()
