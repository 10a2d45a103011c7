#include "studies/kernels/measured_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "base/csv_text.hpp"
#include "base/nearest_name.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "files/input_files.hpp"

namespace c3 { inline namespace studies {
namespace {

/// NeuSight's names of models, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kModels = {
    {{"bert_large", "bert-large"},
     {"gpt2_large", "gpt2-large"},
     {"gpt3_27", "gpt3-2.7b"},
     {"gpt3_xl", "gpt3-xl-neusight"},
     {"opt_13", "opt-1.3b"},
     {"switchxl4", "switch-xl-4"}}};

/// A table cell by cell, by the names of its columns.
class Cells {
 public:
  Cells(const std::filesystem::path& file, std::string_view text)
      : file_(std::make_shared<const std::string>(file.string())), lines_(text) {
    std::vector<std::string_view> names;
    if (lines_.next()) cut_cells(lines_.line(), names);
    header_.assign(names.begin(), names.end());
  }

  bool next() {
    if (!lines_.next()) return false;
    if (!cut_cells(lines_.line(), cells_) || cells_.size() != header_.size())
      fail(lines_.line(), "row", fmt::format("has {} cells, the header {}", cells_.size(), header_.size()));
    return true;
  }

  std::string_view text(std::string_view column) const {
    const auto found = std::ranges::find(header_, column);
    if (found == header_.end()) throw ConfigError({file_, 1, 1}, column, "the column is missing");
    return cells_[static_cast<std::size_t>(found - header_.begin())];
  }

  template <class Number>
  Number number(std::string_view column) const {
    const std::string_view cell = text(column);
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size())
      fail(cell, column, fmt::format("'{}' is not a number", cell));
    return value;
  }

  [[noreturn]] void fail(std::string_view cell, std::string_view column, const std::string& reason) const {
    throw ConfigError({file_, lines_.number(), column_of(lines_.line(), cell)}, column, reason);
  }

 private:
  std::shared_ptr<const std::string> file_;
  CsvLines lines_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
};

/// The columns of \p who; absent when they are empty.
std::optional<StepTimes> times_of(const Cells& cells, const std::string& who) {
  if (cells.text(who + "_fw_ms").empty()) return std::nullopt;
  return StepTimes{.forward = cells.number<double>(who + "_fw_ms") * 1.0_ms,
                   .backward = cells.number<double>(who + "_bw_ms") * 1.0_ms};
}

std::string model_of(const Cells& cells) {
  const std::string_view name = cells.text("model");
  const auto* const found =
      std::ranges::find(kModels, name, &std::pair<std::string_view, std::string_view>::first);
  if (found != kModels.end()) return std::string(found->second);
  std::vector<std::string> known;
  known.reserve(kModels.size());
  for (const auto& model : kModels)
    known.emplace_back(model.first);
  cells.fail(name, "model", unknown_name("model", name, known));
}

std::string gpu_of(const Cells& cells) {
  const std::string_view device = cells.text("device");
  if (auto gpu = gpu_preset_of(device)) return *std::move(gpu);
  cells.fail(device, "device", unknown_name("GPU preset", device, preset_names(PresetKind::gpu)));
}

/// \p choices: the word for false and that for true.
bool is(const Cells& cells, std::string_view column, const std::array<std::string_view, 2>& choices) {
  const std::string_view word = cells.text(column);
  const auto* const found = std::ranges::find(choices, word);
  if (found == choices.end())
    cells.fail(word, column, fmt::format("must be '{}' or '{}', not '{}'", choices[0], choices[1], word));
  return found != choices.begin();
}

}  // namespace

std::vector<MeasuredModel> read_measured_models(const std::filesystem::path& file) {
  const std::vector<char> text = read_file(file);
  Cells cells(file, {text.data(), text.size()});
  std::vector<MeasuredModel> models;
  while (cells.next()) {
    const std::optional<StepTimes> measured = times_of(cells, "measured");
    if (!measured) cells.fail(cells.text("measured_fw_ms"), "measured_fw_ms", "is missing");
    models.push_back({.gpu = gpu_of(cells),
                      .model = model_of(cells),
                      .training = is(cells, "mode", {"inf", "train"}),
                      .fused = is(cells, "option", {"", "fusion"}),
                      .sequences = cells.number<std::int64_t>("batch"),
                      .length = cells.number<std::int64_t>("seq"),
                      .measured = *measured,
                      .neusight = times_of(cells, "neusight"),
                      .roofline = times_of(cells, "roofline")});
  }
  return models;
}

}}  // namespace c3::studies
