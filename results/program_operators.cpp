#include "results/program_operators.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "results/hdf5_column.hpp"

namespace c3::inline results {
namespace {

constexpr std::array kTextKeys{ShapeKey::op, ShapeKey::dtype, ShapeKey::pass, ShapeKey::traffic};
constexpr std::int64_t kNotGiven = -1;
constexpr const char* kInAnother = "in_another";
constexpr const char* kNote = "note";

bool is_text(ShapeKey key) { return std::ranges::find(kTextKeys, key) != kTextKeys.end(); }

/// An operator's words, by key.
struct Words {
  std::array<std::string, kShapeKeys.size()> texts;
  std::array<std::int64_t, kShapeKeys.size()> numbers;
};

Words words_of(const RecordedOperator& of) {
  Words words;
  words.numbers.fill(kNotGiven);
  if (!of.op) return words;
  words.texts[static_cast<std::size_t>(ShapeKey::op)] = name_of(*of.op);
  for (const auto& [key, value] : of.op->of_class().fields(*of.op)) {
    const auto place = static_cast<std::size_t>(key);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      words.texts[place] = *text;
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      words.numbers[place] = *flag ? 1 : 0;
    } else {
      words.numbers[place] = std::get<std::int64_t>(value);
    }
  }
  return words;
}

template <class T>
std::vector<T> column(const H5Id& group, const std::string& path, std::string_view name, std::size_t rows) {
  ColumnData data = read_column(group, std::string(name));
  auto* values = std::get_if<std::vector<T>>(&data.values);
  if (values == nullptr || values->size() != rows)
    throw IoError(
        path, "read",
        fmt::format("table '{}' has no fitting column '{}'; import the traces again", kOperators, name));
  return std::move(*values);
}

}  // namespace

void write_operators(const H5Id& file, const RecordedRun& run) {
  const H5Id group = h5_create_group(file, kOperators);
  std::vector<Words> rows;
  rows.reserve(run.operators.size());
  for (const RecordedOperator& of : run.operators)
    rows.push_back(words_of(of));
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
    const ColumnSpec spec{.name = std::string(kShapeKeys.at(key)),
                          .units = "1",
                          .long_name = "as a table of kernels has it; empty or -1: not given"};
    if (is_text(static_cast<ShapeKey>(key))) {
      std::vector<std::string> texts;
      for (const Words& words : rows)
        texts.push_back(words.texts.at(key));
      write_texts(group, spec, texts);
    } else {
      Column<std::int64_t> numbers(group, spec);
      for (const Words& words : rows)
        numbers.push(words.numbers.at(key));
      numbers.flush();
    }
  }
  Column<std::int64_t> in_another(
      group, {.name = kInAnother, .units = "1", .long_name = "1: in the time of another kernel's operator"});
  Column<NameIndex> note(group, {.name = kNote, .units = "1", .long_name = "the rule, or why there is none"});
  for (const RecordedOperator& of : run.operators) {
    in_another.push(of.in_another ? 1 : 0);
    note.push(static_cast<NameIndex>(of.note));
  }
  flush_all(in_another, note);
}

std::vector<RecordedOperator> read_operators(const H5Id& file, const std::string& path, std::size_t names) {
  if (!h5_has(file, kOperators)) return {};
  const H5Id group = h5_open_group(file, kOperators);
  const std::size_t rows = column_length(group, kInAnother);
  const auto in_another = column<std::int64_t>(group, path, kInAnother, rows);
  const auto note = column<std::int64_t>(group, path, kNote, rows);
  std::array<std::vector<std::string>, kShapeKeys.size()> texts;
  std::array<std::vector<std::int64_t>, kShapeKeys.size()> numbers;
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
    if (is_text(static_cast<ShapeKey>(key))) {
      texts.at(key) = column<std::string>(group, path, kShapeKeys.at(key), rows);
    } else {
      numbers.at(key) = column<std::int64_t>(group, path, kShapeKeys.at(key), rows);
    }
  }
  std::vector<RecordedOperator> operators(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto refuse = [&](std::string_view why) {
      throw IoError(path, "read",
                    fmt::format("row {} of table '{}' {}; import the traces again", row, kOperators, why));
    };
    if (note[row] < 0 || note[row] >= static_cast<std::int64_t>(names)) refuse("points to what is not there");
    operators[row].in_another = in_another[row] != 0;
    operators[row].note = static_cast<TextRow>(note[row]);
    ShapeWords words;
    for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
      const auto its = static_cast<ShapeKey>(key);
      if (is_text(its)) {
        words[its] = texts.at(key)[row];
      } else if (numbers.at(key)[row] != kNotGiven) {
        words.number(its) = numbers.at(key)[row];
      }
    }
    if (!words.has(ShapeKey::op)) continue;
    if (operators[row].in_another) refuse("has an operator, and none of its own");
    try {
      operators[row].op = operator_of(words);
    } catch (const ShapeError& error) {
      refuse(fmt::format("is no operator: {} {}", name_of(error.key()), error.what()));
    }
  }
  return operators;
}

}  // namespace c3::results
