#include "studies/kernels/measured_models.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_name.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

/// NeuSight's names of models.
constexpr std::array<std::string_view, 6> kMeasuredModels = {"bert_large", "gpt2_large", "gpt3_27",
                                                             "gpt3_xl",    "opt_13",     "switchxl4"};
/// Ours.
constexpr std::array<std::string_view, 6> kModelPresets = {"bert-large",       "gpt2-large", "gpt3-2.7b",
                                                           "gpt3-xl-neusight", "opt-1.3b",   "switch-xl-4"};

Seconds milliseconds(const CheckedRow& row, const std::string& column) {
  const std::optional<double> number = number_in(row.cell(column));
  if (!number) row.fail(column, fmt::format("'{}' is not a number", row.cell(column)));
  return *number * 1.0_ms;
}

/// The columns of \p who; absent when they are empty.
std::optional<StepTimes> times_of(const CheckedRow& row, const std::string& who) {
  if (row.cell(who + "_fw_ms").empty()) return std::nullopt;
  return StepTimes{.forward = milliseconds(row, who + "_fw_ms"), .backward = milliseconds(row, who + "_bw_ms")};
}

std::string gpu_of(const CheckedRow& row) {
  const std::string_view device = row.cell("device");
  if (auto gpu = gpu_preset_of(device)) return *std::move(gpu);
  row.fail("device", unknown_name("GPU preset", device, preset_names(PresetKind::gpu)));
}

/// \p choices: the word for false and that for true.
bool is(const CheckedRow& row, std::string_view column, const std::array<std::string_view, 2>& choices) {
  const auto* const found = std::ranges::find(choices, row.cell(column));
  if (found == choices.end())
    row.fail(column, fmt::format("must be '{}' or '{}', not '{}'", choices[0], choices[1], row.cell(column)));
  return found != choices.begin();
}

}  // namespace

std::vector<MeasuredModel> read_measured_models(const std::filesystem::path& file) {
  constexpr std::int64_t kMost = 1'000'000;
  const HeadedTable table(file);
  if (!table.broken().empty()) throw table.header_error("rows", table.broken().front());
  std::vector<MeasuredModel> models;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "of a measured model");
    row.text("measured_fw_ms");
    models.push_back({.gpu = gpu_of(row),
                      .model = std::string(kModelPresets.at(row.one_of("model", kMeasuredModels))),
                      .training = is(row, "mode", {"inf", "train"}),
                      .fused = is(row, "option", {"", "fusion"}),
                      .sequences = row.whole("batch", kMost),
                      .length = row.whole("seq", kMost),
                      .measured = *times_of(row, "measured"),
                      .neusight = times_of(row, "neusight"),
                      .roofline = times_of(row, "roofline")});
  }
  return models;
}

}}  // namespace c3::studies
