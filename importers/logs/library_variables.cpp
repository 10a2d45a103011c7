#include "importers/logs/library_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <variant>

#include "base/trimmed.hpp"
#include "configs/presets/library_environment.hpp"
#include "configs/toml/overrides.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/logs/log_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

bool is_name(std::string_view text) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_of_name);
}

/// A line that sets a variable.
struct Assignment {
  std::string name;
  std::string_view value;  ///< spelled as written
};

std::optional<Assignment> assignment_in(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view word : {"export ", "declare -x "})
    if (line.starts_with(word)) line = trimmed(line.substr(word.size()));
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || !is_name(line.substr(0, equals))) return std::nullopt;
  return Assignment{std::string(line.substr(0, equals)), line.substr(equals + 1)};
}

bool says_nothing(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line.starts_with('#');
}

/// What a shell makes of \p written. Absent where a quotation does not end, or more than one word is there.
std::optional<std::string> value_of(std::string_view written) {
  const bool is_quoted = written.starts_with('"') || written.starts_with('\'');
  std::size_t end = written.find_first_of(" \t\r;");
  std::string value(written.substr(0, end));
  if (is_quoted) {
    const std::size_t quote = written.find(written.front(), 1);
    if (quote == std::string_view::npos) return std::nullopt;
    value = written.substr(1, quote - 1);
    end = quote + 1;
  } else if (value.find_first_of("\"'") != std::string::npos) {
    return std::nullopt;
  }
  std::string_view rest = end >= written.size() ? std::string_view() : trimmed(written.substr(end));
  if (rest.starts_with(';')) rest = trimmed(rest.substr(1));
  return rest.empty() || rest.starts_with('#') ? std::optional(value) : std::nullopt;
}

/// \p value as TOML has it: a number where it is one.
std::string as_toml(const std::string& value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  return is_number ? write_value(Node{number, {}}) : write_value(Node{value, {}});
}

/// One file on its way into keys.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(const ForeignFile& file)
      : file_(std::make_shared<const std::string>(file.name)),
        reading_{.file = file.name, .what = std::string(kLibraryEnvironment)} {}

  FileReading read(std::string_view text) {
    for_each_line(text, [this](std::uint32_t number, std::string_view line) {
      if (!says_nothing(line)) read_line({file_, number, 1}, line);
    });
    for (const auto& [name, set] : last_)
      sort(name, set);
    if (!errors_.empty()) throw ConfigError(errors_);
    return std::move(reading_);
  }

 private:
  struct Set {
    std::string value;
    Origin at;
  };

  void read_line(const Origin& at, std::string_view line) {
    const auto assignment = assignment_in(line);
    if (!assignment) {
      errors_.emplace_back(at, "line", "must be NAME=value, export NAME=value, a comment or empty");
      return;
    }
    const auto value = value_of(assignment->value);
    if (!value) {
      errors_.emplace_back(at, assignment->name,
                           fmt::format("'{}' must be one word or one quotation", assignment->value));
      return;
    }
    const auto [found, is_first] = last_.try_emplace(assignment->name, Set{*value, at});
    if (is_first) return;
    reading_.ignored.push_back({.from = fmt::format("{} (line {})", assignment->name, found->second.at.line),
                                .why = fmt::format("is set again on line {}", at.line)});
    found->second = {*value, at};
  }

  void sort(const std::string& name, const Set& set) {
    if (!is_library_variable(name)) {
      reading_.ignored.push_back({.from = name, .why = "it is no variable of NCCL or RCCL"});
      return;
    }
    try {
      if (const auto why = sorter_.why_ignored(name, set.value, set.at)) {
        reading_.ignored.push_back({.from = name, .why = *why});
      } else if (set.value.find('$') != std::string::npos) {
        errors_.emplace_back(set.at, name,
                             fmt::format("'{}' refers to another variable; write its value", set.value));
      } else {
        reading_.taken.push_back({.from = name, .key = "library.env." + name, .value = as_toml(set.value)});
      }
    } catch (const ConfigError& error) {
      errors_.push_back(error);
    }
  }

  std::shared_ptr<const std::string> file_;
  FileReading reading_;
  std::map<std::string, Set> last_;
  std::vector<ConfigError> errors_;
  VariableSorter sorter_;
};

}  // namespace

VariableSorter::VariableSorter() : document_{Table(), {}} {
  document_.table()->put("nodes", {}, Node{std::int64_t{2}, {}});  // so that keys of a fabric count
}

std::optional<std::string> VariableSorter::why_ignored(const std::string& name, const std::string& value,
                                                       const Origin& at) {
  const auto variables = library_variables();
  const auto known = std::ranges::find(variables, name, &LibraryVariable::name);
  if (known == variables.end()) return "c3sim has no variable of this name";
  if (const auto* none = std::get_if<HasNoKey>(&known->effect)) return std::string(none->why);
  if (value.empty()) return "it is empty, as if it were not set";
  Node document = document_;
  override_value(document, "library.env." + name, Node{value, at});
  place_library_environment(document);
  document_ = std::move(document);
  return std::nullopt;
}

SortedVariables sorted(const std::map<std::string, LoggedVariable>& variables, const std::string& file) {
  const auto name_of_file = std::make_shared<const std::string>(file);
  SortedVariables result;
  VariableSorter sorter;
  for (const auto& [name, variable] : variables) {
    try {
      if (const auto why = sorter.why_ignored(name, variable.value, {name_of_file, variable.line, 1})) {
        result.ignored.push_back({.from = name, .why = *why});
      } else {
        result.used.emplace_back(name, variable.value);
      }
    } catch (const ConfigError& error) {
      result.ignored.push_back({.from = name, .why = error.what()});
    }
  }
  return result;
}

bool is_library_environment(std::string_view text) {
  bool has_other_lines = false, has_variable = false;
  for_each_line(text, [&](std::uint32_t, std::string_view line) {
    if (says_nothing(line)) return;
    const auto assignment = assignment_in(line);
    has_other_lines = has_other_lines || !assignment;
    has_variable = has_variable || (assignment && is_library_variable(assignment->name));
  });
  return has_variable && !has_other_lines;
}

FileReading read_library_environment(const ForeignFile& file) {
  return EnvironmentReader(file).read(file.text);
}

}}  // namespace c3::importers
