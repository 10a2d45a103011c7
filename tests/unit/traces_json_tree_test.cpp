/// JSON as a flat list, read leniently.

#include <doctest/doctest.h>

#include "workloads/traces/json_tree.hpp"

namespace c3::traces_json_tree_test {

TEST_CASE("values are found by key, with their kind and text") {
  JsonTree tree(3);
  const JsonView root =
      tree.parse(R"({"a": 1.5e3, "b": "x\ty", "c": [1, [2, 3]], "d": {"e": true}, "f": null})");
  CHECK(root.is(JsonKind::object));
  CHECK(root.size() == 5);
  CHECK(root["a"].text() == "1.5e3");
  CHECK_FALSE(root["a"].integer().has_value());
  CHECK(root["b"].text() == "x\ty");
  CHECK(root["c"].size() == 2);
  CHECK((*root["c"].begin()).integer() == 1);
  CHECK(root["d"]["e"].is(JsonKind::flag));
  CHECK(root["f"].is(JsonKind::null));
  CHECK(root["nothing"]["at"]["all"].is(JsonKind::null));
  CHECK(root["nothing"].empty());
}

TEST_CASE("what is deeper than asked for stays JSON") {
  JsonTree tree(1);
  const JsonView root = tree.parse(R"({"a": [1, [2]], "b": {"c": 3}})");
  CHECK(root["a"].is(JsonKind::array));
  CHECK(root["a"].text() == "[1, [2]]");
  CHECK(root["a"].empty());
  CHECK(root["b"].text() == R"({"c": 3})");
}

TEST_CASE("inf and NaN, control characters and bytes that are not UTF-8 are read") {
  JsonTree tree(3);
  const JsonView root = tree.parse("{\"values\": [inf, -inf, NaN, nan, 7], \"name\": \"a\x01\xFF\"}");
  CHECK(root["values"].size() == 5);
  auto value = root["values"].begin();
  CHECK((*value).text() == "inf");
  CHECK((*++value).text() == "-inf");
  CHECK((*++value).text() == "NaN");
  ++value;
  CHECK((*++value).integer() == 7);
  CHECK(root["name"].text() == "a ?");
}

TEST_CASE("what is no JSON is an error") {
  JsonTree tree(3);
  for (const char* const text : {"{\"a\": }", "{\"a\" 1}", "[1, 2", "{", "{\"a\": \"b}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(tree.parse(text), JsonSyntaxError);
  }
  CHECK(tree.parse("[1]").size() == 1);
}

}  // namespace c3::traces_json_tree_test
