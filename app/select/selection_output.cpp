#include "app/select/selection_output.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/json.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "results/cells.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::string_view kFootnotes =
    "probability: of being the best, or the library's choice, by trees trained on tables of GPUs of that "
    "family\n"
    "time: by the cost model, as c3sim kernel; rank 'model': what the cost model would choose\n";

/// A step of a product's tokens that is a number, as the weights name it.
struct TileStep {
  std::string_view name;
  std::int64_t LibraryGemm::*size;
};
constexpr auto kTileSteps = std::to_array<TileStep>({{"tile_m", &LibraryGemm::tile_m},
                                                     {"tile_n", &LibraryGemm::tile_n},
                                                     {"depth_k", &LibraryGemm::depth_k},
                                                     {"split_k", &LibraryGemm::split}});

std::string shape_of(const Operator& op) { return op.of_class().shape_text(op); }

/// GPU, operator and shape.
Json json_of_shape(const std::string& gpu, const Operator& op) {
  Json json{{"gpu", gpu}, {"op", name_of(op)}};
  for (const auto& [key, value] : op.of_class().fields(op))
    if (key != ShapeKey::solver) std::visit([&](const auto& plain) { json[name_of(key)] = plain; }, value);
  return json;
}

constexpr double kMicrosecondsInSecond = 1e6;

Json json_of(const std::optional<Seconds>& time) {
  return time ? Json(time->value * kMicrosecondsInSecond) : Json();
}

/// The solver, or tile, depth and split.
Json json_of(const ModelledKernel& modelled) {
  if (const auto* solver = std::get_if<ConvolutionSolver>(&modelled.kernel))
    return {{"solver", name_of(*solver)}, {"time_us", json_of(modelled.time)}};
  Json json;
  for (const auto& [step, size] : kTileSteps)
    json[step] = std::get<LibraryGemm>(modelled.kernel).*size;
  json["time_us"] = json_of(modelled.time);
  return json;
}

/// A convolution has the library's solver and the model's; a product has its tile as numbers.
Json json_of(const SelectedKernel& kernel, const std::vector<std::string>& steps) {
  Json json = Json::object();
  for (std::size_t step = 0; step < steps.size(); ++step)
    json[steps[step]] = kernel.tokens[step];
  if (kernel.modelled && std::holds_alternative<LibraryGemm>(kernel.modelled->kernel)) {
    json.update(json_of(*kernel.modelled));
    return json;
  }
  json["modelled_as"] = kernel.modelled ? json_of(*kernel.modelled)["solver"] : Json();
  json["time_us"] = kernel.modelled ? json_of(kernel.modelled->time) : Json();
  return json;
}

Json json_of(const Selection& found) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < found.kernels.size(); ++i) {
    Json kernel{{"rank", i + 1}, {"probability", found.kernels[i].probability}};
    kernel.update(json_of(found.kernels[i], found.steps));
    kernels.push_back(std::move(kernel));
  }
  Json json = json_of_shape(found.asked.gpu->name, found.asked.op);
  json["learned_on"] = found.learned_on;
  json["kernels"] = std::move(kernels);
  json["cost_model"] = found.model ? json_of(*found.model) : Json();
  return json;
}

void add_use(Json& json, const UsedShape& use) {
  json["first"] = use.first;
  json["calls"] = use.calls;
}

bool is_convolution(const Selection& found) { return found.asked.op.as<ConvolutionShape>() != nullptr; }

std::string time_cell(const std::optional<ModelledKernel>& modelled) {
  return modelled && modelled->time ? fmt::format("{:.2f}", modelled->time->value * kMicrosecondsInSecond)
                                    : kAbsentCell;
}

std::string solver_cell(const std::optional<ModelledKernel>& modelled) {
  return modelled ? std::string(name_of(std::get<ConvolutionSolver>(modelled->kernel))) : kAbsentCell;
}

/// What the cost model would choose, below \p steps.
std::vector<std::string> step_cells(const ModelledKernel& model, const std::vector<std::string>& steps) {
  if (const auto* solver = std::get_if<ConvolutionSolver>(&model.kernel))
    return {std::string(name_of(*solver))};
  std::vector<std::string> cells;
  for (const std::string& step : steps) {
    const auto* const known = std::ranges::find(kTileSteps, step, &TileStep::name);
    cells.push_back(known == kTileSteps.end()
                        ? kAbsentCell
                        : std::to_string(std::get<LibraryGemm>(model.kernel).*known->size));
  }
  return cells;
}

/// Rows of one shape, behind \p before in each; the last is the cost model's own choice.
void add_rows(TextTable& table, const Selection& found, const std::vector<std::string>& before) {
  const auto add = [&](std::string rank, const std::vector<std::string>& kernel,
                       std::vector<std::string> rest) {
    std::vector<std::string> cells = before;
    cells.push_back(std::move(rank));
    std::ranges::copy(kernel, std::back_inserter(cells));
    std::ranges::move(rest, std::back_inserter(cells));
    table.add(std::move(cells));
  };
  for (std::size_t i = 0; i < found.kernels.size(); ++i) {
    const SelectedKernel& kernel = found.kernels[i];
    std::vector<std::string> rest = {fmt::format("{:.1f}%", 100.0 * kernel.probability), found.learned_on};
    if (is_convolution(found)) rest.push_back(solver_cell(kernel.modelled));
    rest.push_back(time_cell(kernel.modelled));
    add(std::to_string(i + 1), kernel.tokens, std::move(rest));
  }
  if (!found.model) return;
  std::vector<std::string> rest = {kAbsentCell, kAbsentCell};
  if (is_convolution(found)) rest.push_back(solver_cell(found.model));
  rest.push_back(time_cell(found.model));
  add("model", step_cells(*found.model, found.steps), std::move(rest));
}

TextTable table_of(std::vector<std::string> headings, const Selection& first) {
  headings.emplace_back("rank");
  std::ranges::copy(first.steps, std::back_inserter(headings));
  headings.insert(headings.end(), {"probability", "learned on"});
  if (is_convolution(first)) headings.emplace_back("modelled as");
  headings.emplace_back("time [us]");
  return TextTable(headings);
}

std::string text_of_operator(const FileSelections& selections, std::string_view op) {
  std::vector<const FileSelections::Found*> found;
  for (const FileSelections::Found& selected : selections.found)
    if (name_of(selected.selection.asked.op) == op) found.push_back(&selected);
  if (found.empty()) return {};
  TextTable table = table_of({"gpu", "first", "calls", "shape"}, found.front()->selection);
  for (const FileSelections::Found* selected : found) {
    const KernelCase& asked = selected->selection.asked;
    add_rows(table, selected->selection,
             {asked.gpu->name, selected->use.first, std::to_string(selected->use.calls), shape_of(asked.op)});
  }
  return fmt::format("{}\n\n{}\n", op, table.text());
}

}  // namespace

std::string selection_text(const std::vector<Selection>& selections) {
  TextTable table = table_of({"gpu", "shape"}, selections.front());
  for (const Selection& found : selections)
    add_rows(table, found, {found.asked.gpu->name, shape_of(found.asked.op)});
  return fmt::format("{}\n\n{}{}", name_of(selections.front().asked.op), table.text(), kFootnotes);
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
    for (const FileSelections::Unknown& missing : selections.unknown)
      table.add({missing.gpu, missing.use.first, std::to_string(missing.use.calls), shape_of(missing.op),
                 missing.why});
    text += table.text() + "\n";
  }
  if (text.empty()) return fmt::format("{} has no convolutions and no products\n", selections.experiment);
  return text + "calls: by one rank of each kind; first: the operation that has the shape first\n" +
         std::string(kFootnotes);
}

std::string selection_json(const FileSelections& selections) {
  Json rows = Json::array(), unknown = Json::array();
  for (const FileSelections::Found& selected : selections.found) {
    Json row = json_of(selected.selection);
    add_use(row, selected.use);
    rows.push_back(std::move(row));
  }
  for (const FileSelections::Unknown& missing : selections.unknown) {
    Json row = json_of_shape(missing.gpu, missing.op);
    add_use(row, missing.use);
    row["why"] = missing.why;
    unknown.push_back(std::move(row));
  }
  return Json{{"schema_version", kJsonSchemaVersion},
              {"experiment", selections.experiment},
              {"rows", rows},
              {"not_learned", unknown}}
             .dump(2) +
         "\n";
}

}}  // namespace c3::app
