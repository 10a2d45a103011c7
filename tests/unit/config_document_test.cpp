#include "configs/presets/document.hpp"
#include "configs/toml/overrides.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>
#include <vector>

#include "configs/toml/toml_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_document_test { namespace {

using namespace std::string_view_literals;

/// The document that \p sets make of \p text, as TOML.
std::string after_sets(std::string_view text, const std::vector<std::string>& sets) {
  const ScratchFolder folder;
  return write_toml(*load_document(folder.write("a.toml", text), sets).table());
}

std::string set_error(std::string_view text, const std::vector<std::string>& sets) {
  return error_of([&] { after_sets(text, sets); });
}

TEST_CASE("a path that is no readable TOML file is refused in one line that begins with the path") {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& file) { return error_of([&] { load_document(file); }); };

  CHECK(refusal(folder / "none.toml") == (folder / "none.toml") + ":1:1: file: does not exist");
  CHECK(refusal(folder.path().string()) == folder.path().string() + ":1:1: file: is a folder, not a TOML file");
  const std::string empty = folder.write("empty.toml", " \n\t\n");
  CHECK(refusal(empty) == empty + ":1:1: file: is empty");
  const std::string binary = folder.write("binary.toml", "\x89HDF\r\n\x1a\n\0\0a = 1"sv);
  CHECK(refusal(binary) == binary + ":1:1: file: is a binary file, not TOML");
  const std::string syntax = folder.write("syntax.toml", "a = 1\nb = = 2\n");
  CHECK(refusal(syntax) == Part{syntax + ":2:5: syntax: "});
  const std::string invalid = folder.write("latin1.toml", "a = \"\xe9t\xe9\"\n");
  CHECK(refusal(invalid) == Part{invalid + ":1:"});
  const std::string pipe = folder / "pipe.toml";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal(pipe) == pipe + ":1:1: file: is not a regular file");
}

TEST_CASE("numbers that are not finite, dates and texts with a zero are refused where they stand") {
  const ScratchFolder folder;
  const std::string file = folder.write("a.toml", "a = 1\nb = nan\n");
  CHECK(error_of([&] { load_document(file); }) == file + ":2:5: b: numbers must be finite");
  folder.write("a.toml", "[x]\nwhen = 2026-11-20\n");
  CHECK(error_of([&] { load_document(file); }) == Part{file + ":2:8: when: dates and times have no meaning"});
  folder.write("a.toml", "a = [\"b\", \"16 MiB\\u0000\"]\n");
  CHECK(error_of([&] { load_document(file); }) == Part{file + ":1:11: a: texts must not contain U+0000"});
}

TEST_CASE("tables merge key by key, the later base wins, the file wins over all, and order is kept") {
  const ScratchFolder folder;
  folder.write("bases/one.toml", "a = 1\nb = 1\n[t]\nx = 1\ny = 1\nlist = [1, 2]\n");
  folder.write("bases/two.toml", "b = 2\n[t]\ny = 2\nz = 2\n");
  const std::string file = folder.write(
      "top.toml", "extends = [\"bases/one.toml\", \"bases/two.toml\"]\nc = 3\n[t]\nz = 3\nlist = [3]\n");
  CHECK(write_toml(*load_document(file).table()) ==
        "a = 1\nb = 2\nc = 3\n\n[t]\nx = 1\ny = 2\nlist = [3]\nz = 3\n");
}

TEST_CASE("a sourced number is replaced whole, so that a source never outlives its number") {
  const ScratchFolder folder;
  folder.write("base.toml", "rate = { value = 1, kind = \"measured\", source = \"a bench\" }\n");
  const std::string file =
      folder.write("top.toml", "extends = \"base.toml\"\nrate = { low = 1, nominal = 2, high = 3 }\n");
  CHECK(write_toml(*load_document(file).table()) == "rate = { low = 1, nominal = 2, high = 3 }\n");
  folder.write("top.toml", "extends = \"base.toml\"\nrate = { source = \"hearsay\" }\n");
  CHECK(write_toml(*load_document(file).table()) == "\n[rate]\nsource = \"hearsay\"\n");
}

TEST_CASE("positions survive a merge") {
  const ScratchFolder folder;
  const std::string base = folder.write("base.toml", "[t]\n  x = 1\n");
  const std::string top = folder.write("top.toml", "extends = \"base.toml\"\n[t]\ny = 2\n");
  const Node document = load_document(top);
  const Table& t = *document.table()->find("t")->table();
  CHECK(*t.find("x")->origin.file == base);
  CHECK(t.find("x")->origin.line == 2);
  CHECK(t.find("x")->origin.column == 7);
  CHECK(*t.find("y")->origin.file == top);
  CHECK(t.find("y")->origin.line == 3);
  CHECK(*document.table()->members().front().origin.file ==
        base);  // tables merge: the key is where it was first
  folder.write("top.toml", "extends = \"base.toml\"\n[t]\n\nx = 2\n");
  const Node replaced = load_document(top);
  const Member& x = replaced.table()->find("t")->table()->members().front();
  CHECK(*x.origin.file == top);
  CHECK(x.origin.line == 4);
}

TEST_CASE("a cycle of extends is refused with its chain, at the extends that closes it") {
  const ScratchFolder folder;
  const std::string a = folder.write("a.toml", "extends = \"b.toml\"\n");
  const std::string b = folder.write("b.toml", "\nextends = [\"c.toml\"]\n");
  const std::string c = folder.write("c.toml", "x = 1\nextends = \"sub/../b.toml\"\n");
  std::filesystem::create_directories(folder / "sub");
  CHECK(error_of([&] { load_document(a); }) ==
        fmt::format("{}:2:11: extends: cycle: {} -> {} -> {}", c, b, c, b));
  folder.write("a.toml", "extends = \"a.toml\"\n");
  CHECK(error_of([&] { load_document(a); }) == fmt::format("{}:1:11: extends: cycle: {} -> {}", a, a, a));
}

TEST_CASE("two files may extend the same base: that is no cycle") {
  const ScratchFolder folder;
  folder.write("root.toml", "x = 1\n");
  folder.write("base.toml", "extends = \"root.toml\"\n");
  folder.write("a.toml", "extends = \"base.toml\"\na = 1\n");
  folder.write("b.toml", "extends = \"base.toml\"\nb = 1\n");
  const std::string top = folder.write("top.toml", "extends = [\"a.toml\", \"b.toml\"]\n");
  CHECK(write_toml(*load_document(top).table()) == "x = 1\na = 1\nb = 1\n");
}

TEST_CASE("a file that is extended and missing is reported where it is named") {
  const ScratchFolder folder;
  const std::string top = folder.write("top.toml", "x = 1\nextends = \"none.toml\"\n");
  CHECK(error_of([&] { load_document(top); }) ==
        fmt::format("{}:2:11: extends: '{}' does not exist", top, folder / "none.toml"));
}

TEST_CASE("a --set is read as TOML, else as a string, and makes the tables on its way") {
  CHECK(after_sets("a = 1", {"a=2"}) == "a = 2\n");
  CHECK(after_sets("a = 1", {"a=2.5"}) == "a = 2.5\n");
  CHECK(after_sets("a = 1", {"a=true"}) == "a = true\n");
  CHECK(after_sets("a = 1", {"a=[1, \"x\"]"}) == "a = [1, \"x\"]\n");
  CHECK(after_sets("a = 1", {"a=4.2 TB/s"}) == "a = \"4.2 TB/s\"\n");
  CHECK(after_sets("a = 1", {"a=\"quoted\""}) == "a = \"quoted\"\n");
  CHECK(after_sets("a = 1", {"a=x=y"}) == "a = \"x=y\"\n");
  CHECK(after_sets("a = 1", {"a=1\nb = 2"}) == "a = \"1\\u000ab = 2\"\n");
  CHECK(after_sets("a = 1", {"t.u.v=2"}) == "a = 1\n\n[t.u]\nv = 2\n");
  CHECK(after_sets("[[s]]\nn = 1\n[[s]]\nn = 2\n", {"s.1.n=5"}) == "\n[[s]]\nn = 1\n\n[[s]]\nn = 5\n");
}

TEST_CASE("+key adds only what is not there, ~key deletes only what is, and sets apply in turn") {
  CHECK(after_sets("a = 1", {"+b=2"}) == "a = 1\nb = 2\n");
  CHECK(after_sets("a = 1\nb = 2", {"~a"}) == "b = 2\n");
  CHECK(after_sets("a = 1", {"+b=2", "~a", "b=3"}) == "b = 3\n");
  CHECK(set_error("a = 1", {"+a=2"}) == Part{"--set:1:1: a: the key exists already"});
  CHECK(set_error("a = 1", {"a=2", "~b"}) == "--set:2:1: b: there is no such key to delete");
  CHECK(set_error("a = 1", {"~b.c"}) == "--set:1:1: b.c: there is no such key to delete");
}

TEST_CASE("a --set that does not apply is reported as --set:number:1") {
  for (const std::string set : {"a", "=1", "a.=1", "~a=1", "", "+", "a..b=1"}) {
    CAPTURE(set);
    CHECK(set_error("a = 1", {set}) == Part{"--set:1:1: " + set + ": expected key=value"});
  }
  CHECK(set_error("a = 1", {"a.b=2"}) == "--set:1:1: a.b: 'b' is inside an integer");
  CHECK(set_error("a = [1]", {"a.1=2"}) == "--set:1:1: a.1: '1' is not an index of a list of 1");
}

TEST_CASE("keys of a fabric can be set where the file has its name only") {
  Node document = parse_toml("fabric = \"ib-ndr\"", "mine.toml");
  apply_override(document, "fabric.scale=1.5", 1);
  const Table& fabric = *document.table()->find("fabric")->table();
  CHECK(*fabric.find("use")->text() == "ib-ndr");
  CHECK(fabric.find("scale") != nullptr);
  apply_override(document, "fabric=ib-hdr", 2);
  CHECK(*document.table()->find("fabric")->text() == "ib-hdr");
  CHECK(set_error("fabric = \"ib-ndr\"", {"~fabric.scale"}) ==
        "--set:1:1: fabric.scale: there is no such key to delete");
}

TEST_CASE("what write_toml writes, parse_toml reads back") {
  const std::string text =
      "title = \"quote \\\" backslash \\\\ tab \\u0009\"\nint = -3\nfloat = 0.1\nwhole = 5.0\nlarge = 1e+30\n"
      "flags = [true, false]\nmixed = [\"a\", { b = 1 }, []]\n\n[table]\n\"odd key\" = { value = 1 }\n\n"
      "[table.inner]\n\n[[list]]\nname = \"x\"\nrun = [{ gemm = { m = 1 } }]\n";
  CHECK(write_toml(*parse_toml(text, "text").table()) == text);
}

}}  // namespace c3::config_document_test
