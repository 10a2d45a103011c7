#include "configs/toml/nesting.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "configs/presets/document.hpp"
#include "configs/toml/toml_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_nesting_test { namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i)
    out += text;
  return out;
}

/// A key of \p parts parts.
std::string key_of(std::size_t parts) { return "a" + repeated(".a", parts - 1); }

std::string refusal(const std::string& text) {
  return error_of([&] { parse_toml(text, "t.toml"); });
}

TEST_CASE("a key of 100,000 parts is refused where it grows too long, before any stack overflows") {
  const std::string message = ": syntax: a key has at most 16 parts";
  // The 16th dot of a.a.a.. is the 32nd character.
  CHECK(refusal(key_of(100'000) + " = 1") == "t.toml:1:32" + message);
  CHECK(refusal("b = 1\n[" + key_of(100'000) + "]\n") == "t.toml:2:33" + message);
  CHECK(refusal("x = { " + key_of(17) + " = 1 }") == "t.toml:1:38" + message);
  CHECK(refusal(key_of(16) + " = 1") == "no error");
  CHECK(refusal(key_of(16) + " = 1.5\nb = [" + repeated("1.5, ", 100) + "]") == "no error");
}

TEST_CASE("brackets nest at most 32 deep, wherever they stand") {
  CHECK(refusal("x = " + repeated("[", 33) + repeated("]", 33)) ==
        "t.toml:1:37: syntax: arrays and tables nest at most 32 deep");
  CHECK(refusal("x = " + repeated("{ a = ", 100'000)) == Part{"nest at most 32 deep"});
  CHECK(refusal("x = " + repeated("[", 32) + repeated("]", 32)) == "no error");
  CHECK(refusal(repeated("[[x]]\n", 100)) == "no error");
}

TEST_CASE("dots and brackets in comments and strings nest nothing, and what follows them still does") {
  const std::string noise = repeated(".[{", 50);
  for (const std::string& text :
       {"# " + noise, "x = \"" + noise + "\"", "x = '" + noise + "'", "x = \"\\\"" + noise + "\"",
        "x = \"\"\"\n" + noise + "\"\n\"\"\"", "x = '''\n" + noise + "'\n'''"}) {
    CAPTURE(text);
    CHECK(refusal(text) == "no error");
    CHECK(refusal(text + "\n" + key_of(17) + " = 1") == Part{"a key has at most 16 parts"});
  }
  CHECK(refusal("x = \"never closed\n" + key_of(17) + " = 1") == Part{"at most 16 parts"});
}

TEST_CASE("columns count characters, not bytes") {
  CHECK(refusal("\"\u00fc\" = { " + key_of(17) + " = 1 }") == Part{"t.toml:1:40: "});
}

TEST_CASE("a --set of 100,000 parts is refused like a key of a file, and so is a value that nests too deep") {
  const ScratchFolder folder;
  const std::string file = folder.write("a.toml", "a = 1");
  const auto set = [&](const std::string& text) {
    return error_of([&] { load_document(file, std::vector<std::string>{text}); });
  };
  CHECK(set("b" + repeated(".a", 100'000) + "=1") == "--set:1:1: syntax: a key has at most 16 parts");
  CHECK(set("b" + repeated(".a", 15) + "=1") == "no error");
  CHECK(set("b=" + repeated("[", 100'000)) == "no error");  // no TOML, so a text as it stands
}

}}  // namespace c3::config_nesting_test
