#include "importers/recipes/shell_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostExpanded = std::size_t{8} << 20U;
constexpr int kDeepestDefault = 64;  // ${A:-${B:-..}}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The length of a number such as that in "1:-default", an argument of the script, which nobody gives.
std::size_t length_of_number(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

void add_doubt(ShellWord& word, const std::string& doubt) {
  if (word.doubt.empty()) word.doubt = doubt;
}

}  // namespace

/// One token on its way to words.
class ShellExpansion {
 public:
  ShellExpansion(ShellValues& values, bool is_split) : values_(values), is_split_(is_split) {}

  std::vector<ShellWord> words() && {
    end_word();
    return std::move(words_);
  }

  void run(std::string_view raw, std::size_t at, bool is_quoted, int depth) {
    for (std::size_t i = 0; i < raw.size();) {
      const char c = raw[i];
      if (c == '"') {
        is_quoted = !is_quoted;
        has_word_ = true;
        ++i;
      } else if (c == '\'' && !is_quoted) {
        i = add_literal(raw, i, at);
      } else if (c == '\\' && i + 1 < raw.size()) {
        i = add_escaped(raw, i, at, is_quoted);
      } else if (c == '$' || c == '`') {
        i = add_expansion(raw, i, at, is_quoted, depth);
      } else {
        add(c, at + i);
        ++i;
      }
    }
  }

 private:
  void add(char c, std::size_t at) {
    values_.count(1, at);
    word_.text += c;
    word_.at.push_back(static_cast<std::uint32_t>(at));
    has_word_ = true;
  }

  void end_word() {
    if (has_word_) words_.push_back(std::move(word_));
    word_ = {};
    has_word_ = false;
  }

  std::size_t add_literal(std::string_view raw, std::size_t i, std::size_t at) {
    const std::size_t end = std::min(raw.find('\'', i + 1), raw.size());
    has_word_ = true;
    for (std::size_t j = i + 1; j < end; ++j)
      add(raw[j], at + j);
    return std::min(end + 1, raw.size());
  }

  std::size_t add_escaped(std::string_view raw, std::size_t i, std::size_t at, bool is_quoted) {
    const char next = raw[i + 1];
    const bool stays = is_quoted && std::string_view("$`\"\\\n").find(next) == std::string_view::npos;
    if (stays) add('\\', at + i);
    if (next != '\n') add(next, at + i + 1);
    return i + 2;
  }

  std::size_t add_expansion(std::string_view raw, std::size_t i, std::size_t at, bool is_quoted, int depth) {
    const std::size_t name = raw[i] == '$' ? length_of_name(raw.substr(i + 1)) : 0;
    if (name > 0) {
      add_variable(raw.substr(i, name + 1), raw.substr(i + 1, name), "", "", at + i, is_quoted, depth);
      return i + 1 + name;
    }
    std::size_t end = end_of_expansion(raw, i);
    if (end == std::string_view::npos) end = raw.size();
    const std::string_view whole = raw.substr(i, end - i);
    if (whole == "$" && i + 1 < raw.size()) end = i + 2;  // $1, $@
    if (whole.starts_with("${") && whole.size() > 3)
      add_braces(whole, at + i, is_quoted, depth);
    else
      add_unknown(raw.substr(i, end - i), at + i);
    return end;
  }

  void add_braces(std::string_view whole, std::size_t at, bool is_quoted, int depth) {
    const std::string_view inner = whole.substr(2, whole.size() - 3);
    const std::string_view name = inner.substr(0, std::max(length_of_name(inner), length_of_number(inner)));
    std::string_view rest = inner.substr(name.size());
    const bool is_all = rest == "[@]" || rest == "[*]";
    const std::size_t sign = rest.starts_with(':') ? 1 : 0;
    const bool has_default = rest.size() > sign && (rest[sign] == '-' || rest[sign] == '=');
    if (name.empty() || (!rest.empty() && !is_all && !has_default)) return add_unknown(whole, at);
    add_variable(whole, name, is_all ? "@" : "", has_default ? rest.substr(sign + 1) : std::string_view(), at,
                 is_quoted, depth, has_default);
  }

  void add_variable(std::string_view whole, std::string_view name, std::string_view index,
                    std::string_view fallback, std::size_t at, bool is_quoted, int depth,
                    bool has_fallback = false) {
    const auto found = values_.variables_.find(name);
    if (found == values_.variables_.end()) {
      if (!has_fallback) return add_unknown(whole, at);
      if (depth >= kDeepestDefault)
        throw ConfigError(FilePlaces(values_.file_).at(at), "file",
                          "defaults of variables are nested too deeply");
      const auto begin = at + static_cast<std::size_t>(fallback.data() - whole.data());
      return run(fallback, begin, is_quoted, depth + 1);
    }
    ShellVariable& variable = found->second;
    variable.is_used = true;
    const bool is_first = variable.is_array && index.empty();
    const std::size_t count = std::min(is_first ? 1 : variable.words.size(), variable.words.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && variable.is_array && is_split_) end_word();
      add_word(variable.words[i], is_quoted || !is_split_);
    }
  }

  void add_word(const ShellWord& word, bool stays_whole) {
    if (stays_whole) {
      has_word_ = true;
      for (std::size_t i = 0; i < word.text.size(); ++i)
        add(word.text[i], word.at[i]);
      return add_doubt(word_, word.doubt);
    }
    for (std::size_t i = 0; i < word.text.size(); ++i) {
      if (is_space(word.text[i])) {
        end_word();
      } else {
        add(word.text[i], word.at[i]);
        add_doubt(word_, word.doubt);
      }
    }
  }

  void add_unknown(std::string_view whole, std::size_t at) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      add(whole[i], at + i);
    add_doubt(word_, fmt::format("not expanded: {}", whole));
  }

  ShellValues& values_;
  bool is_split_;
  std::vector<ShellWord> words_;
  ShellWord word_;
  bool has_word_ = false;
};

std::size_t length_of_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !is_letter(text[0])) return 0;
  const auto* const end =
      std::ranges::find_if_not(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  return static_cast<std::size_t>(end - text.begin());
}

std::vector<ShellWord> parts_of(const ShellWord& word) {
  std::vector<ShellWord> parts;
  for (std::size_t begin = 0; begin < word.text.size();) {
    std::size_t end = begin;
    while (end < word.text.size() && !is_space(word.text[end]))
      ++end;
    if (end > begin) {
      const auto first = word.at.begin() + static_cast<std::ptrdiff_t>(begin);
      parts.push_back({word.text.substr(begin, end - begin),
                       {first, first + static_cast<std::ptrdiff_t>(end - begin)},
                       word.doubt});
    }
    begin = end + 1;
  }
  return parts;
}

std::vector<ShellWord> ShellValues::expanded(std::string_view token, std::size_t begin, bool is_split) {
  ShellExpansion expansion(*this, is_split);
  expansion.run(token, begin, false, 0);
  return std::move(expansion).words();
}

void ShellValues::set(const std::string& name, ShellVariable variable, bool is_added) {
  const auto [place, is_new] = variables_.try_emplace(name);
  if (is_new) names_.push_back(name);
  ShellVariable& kept = place->second;
  if (!is_added) kept.words.clear();
  kept.is_array = variable.is_array;
  std::ranges::move(variable.words, std::back_inserter(kept.words));
}

void ShellValues::count(std::size_t bytes, std::size_t at) {
  bytes_ += bytes;
  if (bytes_ > kMostExpanded)
    throw ConfigError(FilePlaces(file_).at(at), "file", "its variables expand to more than 8 MiB");
}

}}  // namespace c3::importers
