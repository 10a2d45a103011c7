#include "app/selection_output.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3::inline app {
namespace {

constexpr std::string_view kProbability =
    "probability: of being the best, or the library's choice, by trees trained on tables of GPUs of that "
    "family\n";

std::string shape_of(const Operator& op) { return op.of_class().shape_text(op); }

/// GPU, operator and shape.
Json json_of_shape(const std::string& gpu, const Operator& op) {
  Json json{{"gpu", gpu}, {"op", name_of(op)}};
  for (const auto& [key, value] : op.of_class().fields(op))
    if (key != ShapeKey::solver) std::visit([&](const auto& plain) { json[name_of(key)] = plain; }, value);
  return json;
}

Json json_of(const Selection& found) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < found.kernels.size(); ++i) {
    Json kernel{{"rank", i + 1}, {"probability", found.probabilities[i]}};
    for (std::size_t step = 0; step < found.steps.size(); ++step)
      kernel[found.steps[step]] = found.kernels[i][step];
    kernels.push_back(std::move(kernel));
  }
  Json json = json_of_shape(found.asked.gpu->name, found.asked.op);
  json["learned_on"] = found.learned_on;
  json["kernels"] = std::move(kernels);
  return json;
}

void add_use(Json& json, const UsedShape& use) {
  json["first"] = use.first;
  json["calls"] = use.calls;
}

/// Rows of one shape, behind \p before in each.
void add_rows(TextTable& table, const Selection& found, const std::vector<std::string>& before) {
  for (std::size_t i = 0; i < found.kernels.size(); ++i) {
    std::vector<std::string> cells = before;
    cells.push_back(std::to_string(i + 1));
    std::ranges::copy(found.kernels[i], std::back_inserter(cells));
    cells.insert(cells.end(), {fmt::format("{:.1f}%", 100.0 * found.probabilities[i]), found.learned_on});
    table.add(cells);
  }
}

TextTable table_of(std::vector<std::string> headings, const Selection& first) {
  headings.emplace_back("rank");
  std::ranges::copy(first.steps, std::back_inserter(headings));
  headings.insert(headings.end(), {"probability", "learned on"});
  return TextTable(headings);
}

std::string text_of_operator(const FileSelections& selections, std::string_view op) {
  std::vector<const FileSelections::Found*> found;
  for (const FileSelections::Found& each : selections.found)
    if (name_of(each.selection.asked.op) == op) found.push_back(&each);
  if (found.empty()) return {};
  TextTable table = table_of({"gpu", "first", "calls", "shape"}, found.front()->selection);
  for (const FileSelections::Found* each : found) {
    const KernelCase& asked = each->selection.asked;
    add_rows(table, each->selection,
             {asked.gpu->name, each->use.first, std::to_string(each->use.calls), shape_of(asked.op)});
  }
  return fmt::format("{}\n\n{}\n", op, table.text());
}

}  // namespace

std::string selection_text(const std::vector<Selection>& selections) {
  TextTable table = table_of({"gpu", "shape"}, selections.front());
  for (const Selection& found : selections)
    add_rows(table, found, {found.asked.gpu->name, shape_of(found.asked.op)});
  return fmt::format("{}\n\n{}{}", name_of(selections.front().asked.op), table.text(), kProbability);
}

std::string selection_json(const std::vector<Selection>& selections) {
  Json rows = Json::array();
  for (const Selection& found : selections)
    rows.push_back(json_of(found));
  return Json{{"schema_version", kJsonSchemaVersion}, {"rows", rows}}.dump(2) + "\n";
}

std::string selection_text(const FileSelections& selections) {
  std::string text;
  for (const std::string_view op : {"convolution", "gemm"})
    text += text_of_operator(selections, op);
  if (!selections.unknown.empty()) {
    TextTable table({"not learned", "first", "calls", "shape", "why"});
    for (const FileSelections::Unknown& each : selections.unknown)
      table.add({each.gpu, each.use.first, std::to_string(each.use.calls), shape_of(each.op), each.why});
    text += table.text() + "\n";
  }
  if (text.empty()) return fmt::format("{} has no convolutions and no products\n", selections.experiment);
  return text + "calls: by one rank of each kind; first: the operation that has the shape first\n" +
         std::string(kProbability);
}

std::string selection_json(const FileSelections& selections) {
  Json rows = Json::array(), unknown = Json::array();
  for (const FileSelections::Found& each : selections.found) {
    Json row = json_of(each.selection);
    add_use(row, each.use);
    rows.push_back(std::move(row));
  }
  for (const FileSelections::Unknown& each : selections.unknown) {
    Json row = json_of_shape(each.gpu, each.op);
    add_use(row, each.use);
    row["why"] = each.why;
    unknown.push_back(std::move(row));
  }
  return Json{{"schema_version", kJsonSchemaVersion},
              {"experiment", selections.experiment},
              {"rows", rows},
              {"not_learned", unknown}}
             .dump(2) +
         "\n";
}

}  // namespace c3::app
