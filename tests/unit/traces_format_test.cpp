/// Formats of traces are recognised by content.

#include <doctest/doctest.h>

#include "tests/support/chakra_text.hpp"
#include "tests/support/execution_text.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/traces/trace_error.hpp"
#include "workloads/traces/trace_format.hpp"

namespace c3::traces_format_test {

namespace {

TraceFormat format_of_text(const std::string& text) {
  PeekedSource source(source_of(text));
  return format_of("t", source);
}

/// All that is read after the format was found.
std::string read_after(const std::string& text) {
  PeekedSource source(source_of(text));
  format_of("t", source);
  std::string all;
  std::string part(11, ' ');
  for (std::size_t count = source.read(part); count > 0; count = source.read(part))
    all.append(part, 0, count);
  return all;
}

}  // namespace

TEST_CASE("each format is recognised, whatever comes before the key that decides") {
  CHECK(format_of_text(TraceText().text()) == TraceFormat::kineto);
  CHECK(format_of_text(" \n[{\"ph\":\"X\"}]") == TraceFormat::kineto);
  CHECK(format_of_text("\xEF\xBB\xBF{\"traceEvents\":[]}") == TraceFormat::kineto);
  CHECK(format_of_text(ExecutionText().text()) == TraceFormat::execution);
  CHECK(format_of_text(R"({"a":{"traceEvents":[]},"b":"nodes","workload_graph":[]})") ==
        TraceFormat::chakra_json);
  CHECK(format_of_text("{\"long\":\"" + std::string(100'000, 'x') + "\",\"nodes\":[]}") ==
        TraceFormat::execution);
  CHECK(format_of_text(chakra_text({{.id = 1}})) == TraceFormat::chakra);
  CHECK(format_of_text(message_text("") + ChakraNodeText{.id = 1}.text()) == TraceFormat::chakra);
  std::string archive(1024, '\0');
  archive.replace(257, 5, "ustar");
  CHECK(format_of_text(archive) == TraceFormat::tar);
}

TEST_CASE("a message whose length is the code of a bracket or a space is not JSON") {
  for (const std::size_t length : {std::size_t{'{'}, std::size_t{'['}, std::size_t{'\n'}, std::size_t{'\t'}}) {
    CAPTURE(length);
    const std::string metadata = field_text(1, std::string(length - 2, 'v'));
    REQUIRE(metadata.size() == length);
    CHECK(format_of_text(message_text(metadata) + ChakraNodeText{.id = 1}.text()) == TraceFormat::chakra);
  }
}

TEST_CASE("what was looked at is read again") {
  for (const std::string& text : {TraceText().call("c", 1, 1, 1).text(), ExecutionText().node(3, "x", 1).text(),
                                  chakra_text({{.id = 1}}), std::string("[{}]")})
    CHECK(read_after(text) == text);
}

TEST_CASE("what is no trace is refused by its first bytes or keys") {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      format_of_text(text);
    } catch (const UnknownFormatError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal("hello") == "t: it does not begin with { or [, nor as a Chakra trace does: it is not a trace");
  CHECK(refusal("[1, 2]") == "t: it does not begin with { or [, nor as a Chakra trace does: it is not a trace");
  CHECK(refusal(R"({"name":"x"})").starts_with("t: it has no \"traceEvents\" of a Kineto trace, no \"nodes\""));
  CHECK(refusal("\x1F\x8B\x08") == "t: it is packed by gzip inside an archive: unpack it first");
  CHECK_THROWS_WITH_AS(format_of_text(R"({"a": )"), "t: the file ends before its JSON does: it is truncated",
                       TraceError);
  CHECK_THROWS_WITH_AS(format_of_text(""), "t: the file ends before its JSON does: it is truncated",
                       TraceError);
}

}  // namespace c3::traces_format_test
