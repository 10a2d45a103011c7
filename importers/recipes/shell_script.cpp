#include "importers/recipes/shell_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "importers/recipes/shell_test.hpp"
#include "importers/recipes/shell_values.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kDeepestBranch = 64;

bool is_option(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && length_of_name(word.substr(2, 1)) == 1;
}

/// Words that are a program or belong to one, behind an option without a value.
bool begins_program(std::string_view word) {
  static constexpr std::array kPrograms = {"python", "python3", "torchrun", "bash",
                                           "sh",     "srun",    "mpirun",   "deepspeed"};
  const bool is_short_option = word.size() > 1 && word[0] == '-' && length_of_name(word.substr(1, 1)) == 1;
  return word.ends_with(".py") || is_short_option || std::ranges::find(kPrograms, word) != kPrograms.end();
}

std::string name_of_option(std::string_view word) {
  std::string name(word.substr(2, std::min(word.find('='), word.size()) - 2));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// What a script sets and which commands it has, statement by statement.
class ShellRun {
 public:
  explicit ShellRun(const ForeignFile& file) : file_(file), values_(file) {}

  void run() {
    const std::vector<ShellToken> tokens = shell_tokens(file_);
    std::vector<ShellToken> statement;
    for (const ShellToken& token : tokens) {
      const bool ends = token.kind == ShellTokenKind::end || token.kind == ShellTokenKind::also;
      if (!ends) {
        statement.push_back(token);
        continue;
      }
      run_statement(statement);
      guard_ = token.kind == ShellTokenKind::also ? guard_behind(token.text) : Decision::yes;
      const bool is_or = token.text == "||" && !branches_.empty() && branches_.back().is_tested;
      if (is_or) branches_.back().has_or = true;
      statement.clear();
    }
  }

  const ShellValues& values() const { return values_; }
  const std::vector<std::vector<ShellWord>>& commands() const { return commands_; }
  const std::vector<ShellWord>& left() const { return left_; }  ///< set where it has no effect

 private:
  /// The state between an `if` or a loop and its end.
  struct Branch {
    Decision taken = Decision::unknown;
    Decision test = Decision::unknown;  ///< the last one
    bool is_tested = false;             ///< a test is being read
    bool has_or = false;                ///< the test has `||`
    Decision is_left = Decision::yes;   ///< whether no branch before was taken
  };

  Decision guard_behind(std::string_view sign) const {
    if (!last_test_) return sign == "&&" ? guard_ : Decision::unknown;  // cd folder && torchrun ..
    return both_of(guard_, sign == "&&" ? *last_test_ : opposite_of(*last_test_));
  }

  Decision decision() const {
    Decision all = guard_;
    for (const Branch& branch : branches_)
      all = both_of(all, branch.taken);
    return all;
  }

  void push(Branch branch, const ShellToken& at) {
    if (branches_.size() >= kDeepestBranch)
      throw ConfigError(FilePlaces(file_).at(at.begin), "file", "its branches are nested too deeply");
    branches_.push_back(branch);
  }

  void run_statement(std::span<const ShellToken> tokens) {
    last_test_.reset();
    while (!tokens.empty() && tokens.front().kind == ShellTokenKind::word && take_keyword(tokens))
      tokens = tokens.subspan(1);
    if (tokens.empty() || is_over_) {
      is_over_ = false;
      return;
    }
    if (!branches_.empty() && branches_.back().is_tested) {
      Branch& branch = branches_.back();
      branch.test = both_of(branch.test, test_of(tokens));
      return;
    }
    run_simple(tokens);
  }

  /// Whether the first word is a keyword behind which the statement goes on; is_over_ where it does not.
  bool take_keyword(std::span<const ShellToken> tokens) {
    const std::string_view word = tokens.front().text;
    if (word == "if") {
      push({.taken = Decision::yes, .test = Decision::yes, .is_tested = true}, tokens.front());
      return true;
    }
    if (word == "for" || word == "while" || word == "until" || word == "case" || word == "select") {
      push({}, tokens.front());
      is_over_ = true;
    } else if (word == "{") {
      push({.taken = Decision::yes}, tokens.front());
      return true;
    } else if (word == "then" || word == "elif" || word == "else") {
      if (!branches_.empty()) take_part(branches_.back(), word);
      return true;
    } else if (word == "fi" || word == "done" || word == "esac" || word == "}") {
      if (!branches_.empty()) branches_.pop_back();
      is_over_ = true;
    } else if (word == "do" || word == "time" || word == "exec") {
      return true;
    }
    return false;
  }

  static void take_part(Branch& branch, std::string_view word) {
    if (word == "then") {
      if (branch.has_or) branch.test = Decision::unknown;
      branch.taken = both_of(branch.is_left, branch.test);
      branch.is_left = both_of(branch.is_left, opposite_of(branch.test));
      branch.is_tested = false;
    } else {
      branch.taken = word == "else" ? branch.is_left : Decision::yes;
      branch.test = Decision::yes;
      branch.is_tested = word == "elif";
      branch.has_or = false;
    }
  }

  Decision test_of(std::span<const ShellToken> tokens) {
    std::vector<ShellWord> words;
    for (const ShellToken& token : tokens)
      std::ranges::move(values_.expanded(token.text, token.begin, false), std::back_inserter(words));
    return decided(words);
  }

  void run_simple(std::span<const ShellToken> tokens) {
    static constexpr std::array kDeclares = {"export", "local", "declare", "readonly", "typeset"};
    const bool declares = std::ranges::find(kDeclares, tokens.front().text) != kDeclares.end();
    if (declares) tokens = tokens.subspan(1);
    while (declares && !tokens.empty() && tokens.front().text.starts_with('-'))
      tokens = tokens.subspan(1);
    while (!tokens.empty() && take_assignment(tokens)) {
    }
    if (tokens.empty() || declares) return;
    if (is_test(tokens.front().text)) {
      last_test_ = test_of(tokens);
      return;
    }
    std::vector<ShellWord> words;
    for (const ShellToken& token : tokens)
      if (token.kind == ShellTokenKind::word) add_words(words, token);
    // How a program is started may depend on the run; its arguments do not.
    if (decision() == Decision::no)
      leave(words);
    else
      commands_.push_back(std::move(words));
  }

  void add_words(std::vector<ShellWord>& words, const ShellToken& token) {
    std::ranges::move(values_.expanded(token.text, token.begin, true), std::back_inserter(words));
  }

  void leave(std::vector<ShellWord>& words) { std::ranges::move(words, std::back_inserter(left_)); }

  bool take_assignment(std::span<const ShellToken>& tokens) {
    const std::string_view text = tokens.front().text;
    const std::size_t name = length_of_name(text);
    const bool is_added = text.substr(name).starts_with("+=");
    if (name == 0 || (!is_added && !text.substr(name).starts_with('='))) return false;
    const std::size_t value = name + (is_added ? 2 : 1);
    ShellVariable set{.words = {}, .is_array = tokens.front().kind == ShellTokenKind::array};
    std::size_t used = 1;
    if (set.is_array) {
      while (used < tokens.size() && tokens[used].kind == ShellTokenKind::word)
        add_words(set.words, tokens[used++]);
      used = std::min(used + 1, tokens.size());
    } else {
      set.words = values_.expanded(text.substr(value), tokens.front().begin + value, false);
    }
    assign(std::string(text.substr(0, name)), std::move(set), is_added);
    tokens = tokens.subspan(used);
    return true;
  }

  void assign(const std::string& name, ShellVariable variable, bool is_added) {
    const Decision taken = decision();
    if (taken == Decision::no) return leave(variable.words);
    for (ShellWord& word : variable.words)
      if (taken == Decision::unknown && word.doubt.empty()) word.doubt = "in a branch that depends on the run";
    values_.set(name, std::move(variable), is_added);
  }

  const ForeignFile& file_;
  ShellValues values_;
  std::vector<Branch> branches_;
  std::vector<std::vector<ShellWord>> commands_;
  std::vector<ShellWord> left_;
  Decision guard_ = Decision::yes;
  std::optional<Decision> last_test_;
  bool is_over_ = false;
};

/// Options among words, with their values.
class OptionReader {
 public:
  explicit OptionReader(const ForeignFile& file) : places_(file) {}

  /// \param doubt that all of them have; empty: their own
  void read(const std::vector<ShellWord>& words, const std::string& doubt) {
    const std::vector<ShellWord> parts = split(words);
    for (std::size_t i = 0; i < parts.size();)
      i = is_option(parts[i].text) ? read_option(parts, i, doubt) : read_other(parts[i], i, doubt);
  }

  /// A variable as a key.
  void add(const std::string& name, const ShellVariable& variable) {
    const ShellWord word = variable.words.empty() ? ShellWord{} : variable.words.front();
    const Origin origin = places_.at(word.begin());
    keys_.push_back({name, name, Node{word.text, origin}, origin, word.doubt});
  }

  std::vector<RecipeKey> keys() && { return std::move(keys_); }

 private:
  static std::vector<ShellWord> split(const std::vector<ShellWord>& words) {
    std::vector<ShellWord> parts;
    for (const ShellWord& word : words) {
      if (word.text.find("--") == std::string::npos)
        parts.push_back(word);
      else
        std::ranges::move(parts_of(word), std::back_inserter(parts));
    }
    return parts;
  }

  static std::string without_quotes(const std::string& text) {
    const bool is_quoted = text.size() > 1 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
    return is_quoted ? text.substr(1, text.size() - 2) : text;
  }

  std::size_t read_option(const std::vector<ShellWord>& words, std::size_t i, const std::string& doubt) {
    const ShellWord& option = words[i];
    const std::size_t sign = option.text.find('=');
    const Origin origin = places_.at(option.begin());
    RecipeKey key{.name = name_of_option(option.text),
                  .from = option.text.substr(0, sign),
                  .value = {},
                  .origin = origin,
                  .doubt = doubt.empty() ? option.doubt : doubt};
    Array values;
    if (sign != std::string::npos) values.push_back({without_quotes(option.text.substr(sign + 1)), origin});
    for (++i; i < words.size() && sign == std::string::npos; ++i) {
      if (is_option(words[i].text) || begins_program(words[i].text)) break;
      values.push_back({without_quotes(words[i].text), places_.at(words[i].begin())});
      if (key.doubt.empty()) key.doubt = words[i].doubt;
    }
    if (values.empty()) key.value = Node{true, origin};
    if (values.size() == 1) key.value = values.front();
    if (values.size() > 1) key.value = Node{std::move(values), origin};
    keys_.push_back(std::move(key));
    return i;
  }

  std::size_t read_other(const ShellWord& word, std::size_t i, const std::string& doubt) {
    if (word.text.starts_with('$') && !word.doubt.empty() && doubt.empty())
      keys_.push_back({word.text, word.text, std::nullopt, places_.at(word.begin()), word.doubt});
    return i + 1;
  }

  FilePlaces places_;
  std::vector<RecipeKey> keys_;
};

std::size_t known_options(const std::vector<ShellWord>& command,
                          const std::function<bool(std::string_view)>& is_known) {
  std::set<std::string> names;
  for (const ShellWord& word : command) {
    if (word.text.find("--") == std::string::npos) continue;
    for (const ShellWord& part : parts_of(word))
      if (is_option(part.text) && is_known(name_of_option(part.text))) names.insert(name_of_option(part.text));
  }
  return names.size();
}

/// What Slurm is asked for, in comments.
std::string slurm_lines(const std::string& script) {
  std::string lines;
  constexpr std::string_view kMark = "#SBATCH";
  for (std::size_t at = 0; (at = script.find(kMark, at)) != std::string::npos; at += kMark.size()) {
    if (at > 0 && script[at - 1] != '\n') continue;
    // Padded to the length of what is before it, so that places are the script's.
    lines.append(at + kMark.size() - lines.size(), ' ');
    lines += script.substr(lines.size(), script.find('\n', at) - lines.size());
  }
  return lines;
}

void read_slurm(OptionReader& reader, const ForeignFile& file) {
  const std::string lines = slurm_lines(file.text);
  ShellWord all{.text = lines};
  for (std::uint32_t i = 0; i < lines.size(); ++i)
    all.at.push_back(i);
  std::vector<ShellWord> words;
  for (ShellWord& word : parts_of(all)) {
    if (is_option(word.text)) word.text.insert(2, "sbatch-");
    word.at.resize(word.text.size(), word.begin());
    words.push_back(std::move(word));
  }
  reader.read(words, "");
}

/// Variables that no command uses, and those that change how kernels and collectives run.
void read_variables(OptionReader& reader, const ShellValues& values, bool has_command) {
  for (const std::string& name : values.names()) {
    const ShellVariable& variable = values.variable(name);
    if (name == "CUDA_DEVICE_MAX_CONNECTIONS" || name.starts_with("NCCL_")) reader.add(name, variable);
    const bool has_options = std::ranges::any_of(
        variable.words, [](const ShellWord& word) { return word.text.find("--") != std::string::npos; });
    if (variable.is_used || !has_options) continue;
    reader.read(variable.words, has_command ? fmt::format("in {}, which the command does not use", name) : "");
  }
}

}  // namespace

std::vector<RecipeKey> options_of_script(const ForeignFile& file,
                                         const std::function<bool(std::string_view)>& is_known) {
  ShellRun script(file);
  script.run();
  OptionReader reader(file);
  read_slurm(reader, file);
  const std::vector<ShellWord>* chosen = nullptr;
  std::size_t most = 1;
  for (const std::vector<ShellWord>& command : script.commands()) {
    const std::size_t known = known_options(command, is_known);
    if (known >= most) chosen = &command;
    most = std::max(most, known);
  }
  for (const std::vector<ShellWord>& command : script.commands())
    if (&command != chosen) reader.read(command, "of another command than the one with most options");
  read_variables(reader, script.values(), chosen != nullptr);
  reader.read(script.left(), "in a branch that is not taken");
  if (chosen != nullptr) reader.read(*chosen, "");
  return std::move(reader).keys();
}

}}  // namespace c3::importers
