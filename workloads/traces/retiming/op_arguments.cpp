#include "workloads/traces/retiming/op_arguments.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace c3 { inline namespace traces {
namespace {

/// Reads the few forms of JSON that the arrays of arguments have. Anything else ends the reading.
class ArrayReader {
 public:
  explicit ArrayReader(std::string_view text) : text_(text) {}

  bool take(char letter) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  char next() {
    skip_spaces();
    return at_ == text_.size() ? '\0' : text_[at_];
  }

  std::optional<std::int64_t> number() {
    skip_spaces();
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::optional<std::string> word() {
    if (!take('"')) return std::nullopt;
    std::string word;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return word;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_];
    }
    return std::nullopt;
  }

  /// Calls \p element for each element of an array, until it returns false. \returns whether all went well.
  template <class Element>
  bool array(Element element) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!element()) return false;
    } while (take(','));
    return take(']');
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_dims(ArrayReader& reader, Dims& dims) {
  return reader.array([&] {
    const std::optional<std::int64_t> number = reader.number();
    if (number) dims.push_back(*number);
    return number.has_value();
  });
}

/// "[2, 3]" is a tensor, "[[2, 3], [4]]" a list of them, "[]" a scalar or nothing.
bool read_tensors(ArrayReader& reader, std::vector<Dims>& tensors) {
  if (!reader.take('[')) return false;
  if (reader.take(']')) {
    tensors.emplace_back();
    return true;
  }
  const bool is_list = reader.next() == '[';
  if (!is_list) tensors.emplace_back();
  do {
    if (is_list) {
      if (!read_dims(reader, tensors.emplace_back())) return false;
    } else if (const std::optional<std::int64_t> number = reader.number()) {
      tensors.back().push_back(*number);
    } else {
      return false;
    }
  } while (reader.take(','));
  return reader.take(']');
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  ArrayReader reader(text);
  const bool whole = reader.array([&] {
    std::optional<std::string> word = reader.word();
    if (word) words.push_back(std::move(*word));
    return word.has_value();
  });
  return whole ? words : std::vector<std::string>{};
}

std::vector<std::vector<Dims>> shapes_of(std::string_view text) {
  std::vector<std::vector<Dims>> shapes;
  ArrayReader reader(text);
  const bool whole = reader.array([&] { return read_tensors(reader, shapes.emplace_back()); });
  return whole ? shapes : std::vector<std::vector<Dims>>{};
}

}  // namespace

std::int64_t elements(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) {
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(extent, 0), &count))
      return std::numeric_limits<std::int64_t>::max();
  }
  return count;
}

std::int64_t OpArgument::elements() const {
  std::int64_t sum = 0;
  for (const Dims& dims : tensors) {
    if (dims.empty()) continue;
    if (__builtin_add_overflow(sum, traces::elements(dims), &sum))
      return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

OpArguments::OpArguments(std::string_view dims, std::string_view types, std::string_view concrete) {
  std::vector<std::vector<Dims>> shapes = shapes_of(dims);
  std::vector<std::string> type_words = words_of(types);
  std::vector<std::string> values = words_of(concrete);
  has_values_ = !values.empty();
  arguments_.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    arguments_[i].tensors = std::move(shapes[i]);
    if (i < type_words.size()) arguments_[i].type = std::move(type_words[i]);
    if (i < values.size()) arguments_[i].value = std::move(values[i]);
  }
}

const OpArgument& OpArguments::operator[](std::size_t index) const {
  static const OpArgument kNone;
  return index < arguments_.size() ? arguments_[index] : kNone;
}

std::vector<std::int64_t> whole_numbers(std::string_view value) {
  std::vector<std::int64_t> numbers;
  ArrayReader reader(value);
  if (reader.next() != '[') {
    if (const std::optional<std::int64_t> number = reader.number()) numbers.push_back(*number);
    return reader.next() == '\0' ? numbers : std::vector<std::int64_t>{};
  }
  return read_dims(reader, numbers) ? numbers : std::vector<std::int64_t>{};
}

OpArguments arguments_of(const Trace& trace, const TraceEvent& op) {
  if (op.details == kNoIndex) return {};
  const OpDetails& details = trace.op_details[op.details];
  return {trace.texts.text(details.dims), trace.texts.text(details.types), trace.texts.text(details.concrete)};
}

}}  // namespace c3::traces
