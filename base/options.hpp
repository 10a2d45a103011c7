#pragma once
/// \file
/// Options of a command line. The library behind them is included in options.cpp only: it takes seconds to
/// parse.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace c3 { inline namespace base {

/// A command line does not fit its options. The text says why, for the user.
class OptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What an option can be read into. --help shows TEXT, INT, UINT or FLOAT beside an option without a type name.
template <class T>
concept OptionValue = std::same_as<T, std::string> || std::same_as<T, std::filesystem::path> ||
                      std::same_as<T, std::vector<std::string>> || std::same_as<T, int> ||
                      std::same_as<T, std::uint64_t> || std::same_as<T, double> ||
                      std::same_as<T, std::optional<int>> || std::same_as<T, std::optional<std::int64_t>>;

/// An option, a flag, or an argument without a name. Functions that change it return it, to be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  Option& required();
  /// \param name of the values, as --help shows it: "FILE"
  Option& type_name(const std::string& name);
  Option& one_of(std::vector<std::string> values);
  /// Shells offer \p values; others are taken too, such as other spellings, and are the command's to check.
  Option& offer(std::vector<std::string> values);
  template <class Map>
  Option& one_key_of(const Map& map) {
    const auto keys = std::views::keys(map);
    return one_of({keys.begin(), keys.end()});
  }
  Option& in_range(int low, int high);
  Option& in_range(double low, double high);
  Option& not_negative();
  /// --help shows the value that the variable has now.
  Option& show_default();
  /// Under a heading of its own in --help.
  Option& group(const std::string& heading);
  Option& needs(const Option& other);
  Option& excludes(const Option& other);

  // The next four functions are for options that are read into several texts. Such options may be given several
  // times and take all words up to the next option, except a last word that an argument needs.
  Option& comma_separated();  ///< a word may hold several texts
  Option& repeated();         ///< --help shows them as if they took one word
  Option& one_word();         ///< they take one word each time
  Option& one_word_once();

  /// The names as a user types them: "-o", "--output". Empty for an argument.
  std::vector<std::string> names() const;
  /// The type as --help shows it: "FILE".
  std::string type_name() const;
  /// The values given to one_of() or offer(); empty without them.
  const std::vector<std::string>& values() const { return values_; }
  bool takes_value() const;
  bool has_empty_value() const;

 private:
  friend class Command;

  CLI::Option* option_;
  std::vector<std::string> values_;
};

/// A command, such as git, or a command of it, such as git commit. References that its functions return stay
/// valid as long as its command line. Variables of options must live until that is parsed.
class Command {
 public:
  explicit Command(CLI::App* app);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command& add_command(const std::string& name, const std::string& description);
  /// One of its commands must follow.
  void require_command();

  /// \param names separated by commas: "-o,--output". A name without a dash makes an argument, read by its
  /// place. \param value keeps what it holds when the option is not given
  template <OptionValue T>
  Option& add_option(const std::string& names, T& value, const std::string& description);
  /// A flag that sets \p value; to false if \p names begin with "!".
  Option& add_flag(const std::string& names, bool& value, const std::string& description);
  /// A flag that calls \p given.
  Option& add_flag(const std::string& names, std::function<void()> given, const std::string& description);
  /// A flag that was_given() tells of.
  Option& add_flag(const std::string& names, const std::string& description);

  /// What --help prints at its end.
  void set_footer(const std::string& text);
  /// The same, made when it is asked for: where making it takes time or may fail.
  void set_footer(std::function<std::string()> text);
  /// Called while the command line is parsed, if it has this command, after all options are read.
  void when_parsed(std::function<void()> act);

  const std::string& name() const;
  const std::list<Option>& options() const { return options_; }     ///< with --help, without those above
  const std::list<Command>& commands() const { return commands_; }  ///< listed in the order of adding
  std::string help() const;

  /// After parsing. \param name of an option of this command: "--quiet"
  bool was_given(const std::string& name) const;
  /// After parsing: the name of an option that was given an empty text, here or in the commands that were
  /// given.
  std::optional<std::string> empty_option() const;

 private:
  friend class CommandLine;

  Option& keep(CLI::Option* option) { return options_.emplace_back(option); }

  CLI::App* app_;
  std::list<Option> options_;
  std::list<Command> commands_;
};

/// The whole command line of a program.
class CommandLine {
 public:
  /// Options of the program may stand after its commands as well.
  CommandLine(const std::string& program, const std::string& description);
  ~CommandLine();

  Command& program() { return program_; }
  /// Adds --version.
  void set_version(const std::string& version);

  /// Reads options into their variables. \returns the text that --help or --version asks for, if one is given:
  /// then the other options are not read. \throws OptionError
  std::optional<std::string> parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Command program_;
};

}}  // namespace c3::base
