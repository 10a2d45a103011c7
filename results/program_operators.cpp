#include "results/program_operators.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "files/io_error.hpp"
#include "results/hdf5_column.hpp"
#include "workloads/traces/replay/operator_words.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kInAnother = "in_another";
constexpr const char* kNote = "note";

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
  std::vector<OperatorWords> rows;
  rows.reserve(run.operators.size());
  for (const RecordedOperator& recorded : run.operators)
    rows.push_back(recorded.op ? words_of(*recorded.op) : OperatorWords());
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
    const ColumnSpec spec{.name = std::string(kShapeKeys.at(key)),
                          .units = "1",
                          .long_name = "as a table of kernels has it; empty or -1: not given"};
    if (is_text(static_cast<ShapeKey>(key))) {
      std::vector<std::string> texts;
      for (const OperatorWords& words : rows)
        texts.push_back(words.texts.at(key));
      write_texts(group, spec, texts);
    } else {
      Column<std::int64_t> numbers(group, spec);
      for (const OperatorWords& words : rows)
        numbers.push(words.numbers.at(key));
      numbers.flush();
    }
  }
  Column<std::int64_t> in_another(
      group, {.name = kInAnother,
              .units = "1",
              .long_name = "1: the operator is another kernel's, whose time includes this one's"});
  Column<NameIndex> note(group, {.name = kNote, .units = "1", .long_name = "the rule, or why there is none"});
  for (const RecordedOperator& recorded : run.operators) {
    in_another.push(recorded.in_another ? 1 : 0);
    note.push(static_cast<NameIndex>(recorded.note));
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
    OperatorWords words;
    for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
      if (is_text(static_cast<ShapeKey>(key))) {
        words.texts.at(key) = texts.at(key)[row];
      } else {
        words.numbers.at(key) = numbers.at(key)[row];
      }
    }
    if (words.texts[static_cast<std::size_t>(ShapeKey::op)].empty()) {
      if (operators[row].in_another) refuse("lacks the operator in whose time it is");
      continue;
    }
    try {
      operators[row].op = operator_of(words);
    } catch (const InfeasibleError& error) {
      refuse(fmt::format("is no operator: {}", error.what()));
    }
  }
  return operators;
}

}}  // namespace c3::results
