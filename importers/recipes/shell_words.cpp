#include "importers/recipes/shell_words.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace c3 { inline namespace importers {
namespace {

constexpr auto kNowhere = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || std::string_view("\n;|&()<>").find(c) != kNowhere; }

/// Behind the quote that ends at or behind \p begin, which is one itself.
std::size_t end_of_quotes(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1;
    if (quote == '\'') continue;
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '$') {
      const std::size_t end = end_of_expansion(text, i);
      if (end == kNowhere) return kNowhere;
      i = end - 1;
    }
  }
  return kNowhere;
}

bool begins_array(std::string_view word) {
  if (!word.ends_with('=')) return false;
  word.remove_suffix(word.ends_with("+=") ? 2 : 1);
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

class ShellLexer {
 public:
  explicit ShellLexer(const ForeignFile& file) : file_(file), text_(file.text) {}

  std::vector<ShellToken> tokens() {
    while (at_ < text_.size())
      step();
    if (in_array_) refuse(array_begin_, "an array does not end: ')' is missing");
    add(ShellTokenKind::end, text_.size());
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(std::size_t offset, std::string_view what) const {
    throw ConfigError(FilePlaces(file_).at(offset), "file", what);
  }

  void add(ShellTokenKind kind, std::size_t end) {
    tokens_.push_back({kind, at_, text_.substr(at_, end - at_)});
    at_ = end;
  }

  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      ++at_;
    } else if (text_.substr(at_).starts_with("\\\n") || text_.substr(at_).starts_with("\\\r\n")) {
      at_ = text_.find('\n', at_) + 1;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n' && in_array_) {
      ++at_;
    } else if (c == ')' && in_array_) {
      in_array_ = false;
      add(ShellTokenKind::array_end, at_ + 1);
    } else if (ends_word(c)) {
      step_operator();
    } else {
      step_word();
    }
  }

  void step_operator() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("((")) {  // arithmetic, a word that no test knows
      const std::size_t end = text_.find("))", at_);
      if (end == kNowhere) refuse(at_, "'((' does not end");
      add(ShellTokenKind::word, end + 2);
    } else if (rest.starts_with("&&") || rest.starts_with("||")) {
      add(ShellTokenKind::also, at_ + 2);
    } else if (rest[0] == '<' || rest[0] == '>' || rest.starts_with("&>")) {
      at_ += rest.starts_with(">&") ? 2 : 1;  // what a redirection goes to is a word like others
    } else {
      add(ShellTokenKind::end, at_ + 1);
    }
  }

  void step_word() {
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end])) {
      const std::size_t next = end_of_part(end);
      if (next == kNowhere) refuse(end, "a quote or a bracket does not end");
      end = next;
    }
    const bool is_array = end < text_.size() && text_[end] == '(' && begins_array(text_.substr(at_, end - at_));
    if (is_array && !in_array_) {
      in_array_ = true;
      array_begin_ = at_;
      add(ShellTokenKind::array, end);
      ++at_;
    } else {
      add(ShellTokenKind::word, end);
    }
  }

  std::size_t end_of_part(std::size_t begin) const {
    const char c = text_[begin];
    if (c == '\'' || c == '"') return end_of_quotes(text_, begin);
    if (c == '$' || c == '`') return end_of_expansion(text_, begin);
    if (c == '\\') return std::min(begin + 2, text_.size());
    return begin + 1;
  }

  const ForeignFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool in_array_ = false;
  std::size_t array_begin_ = 0;
  std::vector<ShellToken> tokens_;
};

}  // namespace

std::size_t end_of_expansion(std::string_view text, std::size_t begin) {
  if (text[begin] == '`') {
    const std::size_t end = text.find('`', begin + 1);
    return end == kNowhere ? end : end + 1;
  }
  const char opening = begin + 1 < text.size() ? text[begin + 1] : '\0';
  if (opening != '(' && opening != '{') return begin + 1;
  const char closing = opening == '(' ? ')' : '}';
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || (c == '\'' && opening == '(')) {
      quote = c;
    } else if (c == opening) {
      ++depth;
    } else if (c == closing && --depth == 0) {
      return i + 1;
    }
  }
  return kNowhere;
}

std::vector<ShellToken> shell_tokens(const ForeignFile& file) { return ShellLexer(file).tokens(); }

FilePlaces::FilePlaces(const ForeignFile& file)
    : name_(std::make_shared<const std::string>(file.name)), text_(file.text) {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') lines_.push_back(i + 1);
}

Origin FilePlaces::at(std::size_t offset) const {
  const auto line = std::ranges::upper_bound(lines_, offset) - 1;
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  const std::string_view before = text_.substr(*line, offset - *line);
  constexpr std::size_t kLongestCounted = 4096;  // many places of one long line would take the square of it
  const auto column = before.size() > kLongestCounted ? static_cast<std::ptrdiff_t>(before.size()) + 1
                                                      : std::ranges::count_if(before, is_first_byte) + 1;
  return {name_, static_cast<std::uint32_t>(line - lines_.begin() + 1), static_cast<std::uint32_t>(column)};
}

}}  // namespace c3::importers
