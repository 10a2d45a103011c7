#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace c3::base_json_test { namespace {

TEST_CASE("JSON is written in the order of its keys, on one line or indented") {
  Json json{{"z", 1}, {"a", Json::array({1.5, "two", nullptr, true})}, {"empty", Json::object()}};
  json["last"]["list"].push_back(100.0);
  CHECK(json.dump() == R"({"z":1,"a":[1.5,"two",null,true],"empty":{},"last":{"list":[100.0]}})");
  CHECK(Json{{"a", std::vector{1, 2}}, {"none", Json::array()}}.dump(2) ==
        "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"none\": []\n}");
}

TEST_CASE("JSON has no number for infinity, and every character of a text is written as JSON has it") {
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK(Json("a \"b\"\n\xff").dump() == "\"a \\\"b\\\"\\n\xEF\xBF\xBD\"");
  CHECK(json_quoted("\\") == R"("\\")");
}

TEST_CASE("what JSON writes it reads again, large integers and all digits of a number included") {
  const Json json{{"seed", std::numeric_limits<std::uint64_t>::max()},
                  {"low", std::numeric_limits<std::int64_t>::min()},
                  {"third", 1.0 / 3},
                  {"list", Json::array({Json{{"k", false}}})}};
  CHECK(Json::parse(json.dump()) == json);
  CHECK(Json::parse(json.dump(2)) == json);
}

TEST_CASE("a key that is set again keeps its place") {
  Json json{{"a", 1}, {"b", 2}};
  json.update({{"a", 3}, {"c", 4}});
  CHECK(json.dump() == R"({"a":3,"b":2,"c":4})");
}

TEST_CASE("a reader of JSON hears what is wrong") {
  CHECK_THROWS_WITH_AS(Json::parse("{"), "it is not JSON", JsonError);
  try {
    Json::parse("{\n \"a\": 1,\n  b}");
    FAIL("it is no JSON");
  } catch (const JsonSyntaxError& error) {
    CHECK(error.line == 3);
    CHECK(error.column == 3);
  }
  CHECK(Json::parse(R"({"a": [1, {"b": 2}], "a": [3]})") == Json{{"a", Json::array({3})}});
  CHECK_THROWS_WITH_AS(Json::parse(std::string(100'000, '[') + std::string(100'000, ']')),
                       "its values are nested too deeply", JsonError);
  const Json json = Json::parse(R"({"a": "text"})");
  CHECK_THROWS_WITH_AS(json["b"], "the key 'b' is missing", JsonError);
  CHECK_THROWS_WITH_AS(json["a"].number(), "a value is not a number", JsonError);
  CHECK_THROWS_WITH_AS(json["a"].elements(), "a value is not an array", JsonError);
}

}}  // namespace c3::base_json_test

TEST_CASE("reading an object takes time in proportion to its keys") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i)
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  CHECK(c3::Json::parse(text + "}").size() == 200000);  // seconds times a thousand where each key is looked for
}
