#include <doctest/doctest.h>

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"

namespace c3::base_options_test { namespace {

/// "tool", with a command "draw" that takes every kind of option.
struct Tool {
  Tool() {
    line.set_version("1.2");
    line.program().add_flag("-q,--quiet", "No messages");
    line.program().require_command();
    draw.add_option("WHAT", what, "What to draw").required().one_of({"tree", "ring"});
    draw.add_option("-n,--number", number, "How many").in_range(1, 9).show_default();
    draw.add_option("--size", size, "How large").in_range(0.5, 2.0).type_name("SIZE");
    draw.add_option("--set", sets, "Settings").repeated();
    draw.add_option("--colours", colours, "Of each").comma_separated().one_word();
    draw.add_flag("--fill", fill, "Fill it");
    draw.add_flag("!--no-border", border, "Without a border");
    draw.add_flag(
        "--thick", [this] { ++thick; }, "Thicker");
    draw.set_footer("Examples:\n  tool draw ring");
    draw.when_parsed([this] { quiet = line.program().was_given("--quiet"); });
    line.program().add_command("erase", "Erase it");
  }

  std::optional<std::string> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "tool");
    return line.parse(static_cast<int>(words.size()), words.data());
  }

  CommandLine line{"tool", "A tool"};
  Command& draw = line.program().add_command("draw", "Draw it");
  std::string what;
  int number = 3;
  double size = 1.0;
  std::vector<std::string> sets, colours;
  bool fill = false, border = true, quiet = false;
  int thick = 0;
};

using Words = std::vector<std::string>;

TEST_CASE("options of a command line are read into their variables, and others keep what they hold") {
  Tool tool;
  CHECK(tool.parse({"draw", "ring", "--set", "a=1", "--set", "b=2", "--colours", "red,blue", "--fill",
                    "--no-border", "--thick", "-n4", "-q"}) == std::nullopt);
  CHECK(tool.what == "ring");
  CHECK(tool.number == 4);
  CHECK(tool.size == 1.0);
  CHECK(tool.sets == Words{"a=1", "b=2"});
  CHECK(tool.colours == Words{"red", "blue"});
  CHECK(tool.fill);
  CHECK_FALSE(tool.border);
  CHECK(tool.thick == 1);
  CHECK(tool.quiet);  // given after the command, it is the program's
  CHECK(tool.line.program().empty_option() == std::nullopt);
}

TEST_CASE("what does not fit the options is refused with the option and what is allowed") {
  const auto refusal = [](const std::vector<const char*>& words) -> std::string {
    try {
      Tool tool;
      tool.parse(words);
    } catch (const OptionError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({}) == "A subcommand is required");
  CHECK(refusal({"draw"}) == "WHAT is required");
  CHECK(refusal({"draw", "line"}) == "WHAT: line not in {tree,ring}");
  CHECK(refusal({"draw", "ring", "-n", "10"}) == "--number: Value 10 not in range 1 to 9");
  CHECK(refusal({"draw", "ring", "--size", "3"}) == "--size: Value 3 not in range 0.500000 to 2.000000");
  CHECK(refusal({"draw", "ring", "--colour", "red"}) != "");
  CHECK(refusal({"draw", "ring", "--colours", "red", "blue"}) != "");
}

TEST_CASE("--help and --version are texts that parsing returns") {
  CHECK(Tool().parse({"--version"}) == "1.2\n");
  const std::string help = Tool().parse({"draw", "--help"}).value();
  CHECK(help.starts_with("Draw it\nUsage: tool draw [OPTIONS] WHAT\n"));
  CHECK(help.find("WHAT TEXT:{tree,ring} REQUIRED") != std::string::npos);
  CHECK(help.find("-n,--number INT:INT in [1 - 9]=3") != std::string::npos);
  CHECK(help.ends_with("Examples:\n  tool draw ring\n"));
  CHECK(Tool().parse({"--help"}).value() == Tool().line.program().help());
}

TEST_CASE("the first option that was given an empty text is named, in the program or in its command") {
  Tool tool;
  tool.parse({"draw", "ring", "--set", "", "--fill"});
  CHECK(tool.line.program().empty_option() == "--set");
}

TEST_CASE("a command lists its commands, and of its options the names and values as they are typed") {
  Tool tool;
  Words commands;
  for (const Command& command : tool.line.program().commands())
    commands.push_back(command.name());
  CHECK(commands == Words{"draw", "erase"});

  std::vector<Words> names;
  for (const Option& option : tool.draw.options())
    names.push_back(option.names());
  CHECK(names == std::vector<Words>{{"--help", "-h"},
                                    {},
                                    {"--number", "-n"},
                                    {"--size"},
                                    {"--set"},
                                    {"--colours"},
                                    {"--fill"},
                                    {"--no-border"},
                                    {"--thick"}});
  const Option& what = *std::next(tool.draw.options().begin());
  CHECK(what.values() == Words{"tree", "ring"});
  CHECK(what.takes_value());
  CHECK(std::next(tool.draw.options().begin(), 3)->type_name() == "SIZE:FLOAT in [0.5 - 2]");
  CHECK_FALSE(tool.draw.options().front().takes_value());
}

}}  // namespace c3::base_options_test
