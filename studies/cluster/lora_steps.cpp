#include "studies/cluster/lora_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kLoraTable = "training/mlperf_lora_8gpu_gpt3_512.csv";

constexpr std::int64_t kLargest = 100'000'000;
constexpr std::int64_t kGpus = 8;

struct System {
  std::string_view accelerator;  ///< in the table's name of it
  std::string_view in_names;     ///< of configurations
  std::string_view preset, host, frame;
};
constexpr std::string_view kNvidia = "llama2_70b_lora_h200.toml", kAmd = "llama2_70b_lora_mi325x.toml",
                           kRecomputing = "llama2_70b_lora_mi300x.toml";
// "GB200" before "B200", whose name it holds.
constexpr std::array kSystems = {System{"H100", "DGXH100", "h100-sxm-8", "xeon-8480c", kNvidia},
                                 System{"H200", "DGXH200", "h200-sxm-8", "xeon-8480c", kNvidia},
                                 System{"GB200", "GB200", "gb200-nvl8", "grace", kNvidia},
                                 System{"GB300", "GB300", "gb300-nvl8", "grace", kNvidia},
                                 System{"B200", "DGXB200", "b200-sxm-8", "xeon-8570", kNvidia},
                                 System{"MI300X", "MI300X", "mi300x-8", "epyc-9005", kRecomputing},
                                 System{"MI325X", "MI325X", "mi325x-8", "epyc-9005", kAmd},
                                 System{"MI350X", "MI350X", "mi350x-8", "epyc-9005", kAmd},
                                 System{"MI355X", "MI355X", "mi355x-8", "epyc-9005", kAmd}};

/// What a configuration's name says of ranks that share weights and sequences; micro-batches follow from the
/// batch.
struct Layout {
  std::int64_t tensor = 1, context = 1;
  bool is_fp4 = false;

  bool operator==(const Layout&) const = default;
};

/// The number behind \p name, such as 4 in "1x8x4xtp4pp1cp1" behind "tp"; 1 where there is none.
std::int64_t number_behind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 1;
  std::int64_t number = 1;
  std::from_chars(text.data() + at + name.size(), text.data() + text.size(), number);
  return number;
}

/// Of "config_DGXH100_1x8x4xtp4pp1cp1.sh".
std::optional<Layout> layout_of(std::string_view name) {
  const std::size_t sizes = name.find('_', name.find('_') + 1);
  if (sizes == std::string_view::npos || name.find('x', sizes) == std::string_view::npos) return std::nullopt;
  return Layout{.tensor = number_behind(name, "tp"),
                .context = number_behind(name, "cp"),
                .is_fp4 = name.find("fp4") != std::string_view::npos};
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

class LoraRow {
 public:
  explicit LoraRow(const CheckedRow& row) : row_(row), system_(system_of(row.text("accelerator"))) {}

  std::vector<MeasuredStep> steps() const {
    const std::string names = row_.text("config_candidates");
    std::vector<std::pair<Layout, bool>> layouts;  // each once, and whether it is named after this GPU
    for (const std::string_view name : words(names)) {
      const auto layout = layout_of(name);
      if (!layout) row_.fail("config_candidates", fmt::format("'{}' names no layout", name));
      const bool is_own = name.find(fmt::format("_{}_", system_.in_names)) != std::string_view::npos;
      const auto known = std::ranges::find(layouts, *layout, &std::pair<Layout, bool>::first);
      if (known == layouts.end())
        layouts.emplace_back(*layout, is_own);
      else
        known->second = known->second || is_own;
    }
    std::vector<MeasuredStep> steps;
    for (const auto& [layout, is_own] : layouts)
      if (layout.tensor * layout.context <= kGpus) steps.push_back(step(layout, is_own));
    return steps;
  }

 private:
  const System& system_of(const std::string& accelerator) const {
    const auto found = std::ranges::find_if(kSystems, [&](const System& system) {
      return accelerator.find(system.accelerator) != std::string::npos;
    });
    if (found == kSystems.end())
      row_.fail("accelerator",
                fmt::format("'{}' is none of H100, H200, B200, GB200, GB300, MI300X, MI325X, MI350X "
                            "and MI355X",
                            accelerator));
    return *found;
  }

  /// The median of the log where the log has steps, else the batch over the median throughput.
  Seconds measured() const {
    if (!row_.cell("median_step_s").empty()) return Seconds{row_.above_0("median_step_s")};
    return Seconds{row_.above_0("global_batch") / row_.above_0("median_throughput")};
  }

  MeasuredStep step(const Layout& layout, bool is_own) const {
    const bool is_amd = system_.frame != kNvidia;
    const std::string round = row_.text("round");
    MeasuredStep step{.set = !is_own  ? "lora_other"
                             : is_amd ? "lora_amd"
                                      : "lora_nvidia",
                      .row = fmt::format("{} {}", round.substr(1), system_.accelerator),
                      .measured = measured(),
                      .frame = std::string(system_.frame)};
    step.group = step.set;
    step.is_judged = is_own;
    if (!is_amd) step.row += fmt::format(" tp{} cp{}", layout.tensor, layout.context);
    step.sets = {fmt::format("system=\"{}\"", system_.preset),
                 fmt::format("training.host=\"{}\"", system_.host),
                 fmt::format("training.global_batch={}", row_.whole("global_batch", kLargest))};
    const std::vector<std::string> its = is_amd ? std::vector<std::string>{} : of_nvidia(layout, round);
    step.sets.insert(step.sets.end(), its.begin(), its.end());
    return step;
  }

  static std::vector<std::string> of_nvidia(const Layout& layout, std::string_view round) {
    const bool is_divided = layout.tensor > 1;
    std::vector<std::string> sets = {
        fmt::format("training.tensor_parallel={}", layout.tensor),
        fmt::format("training.sequence_parallel={}", is_divided),
        fmt::format("training.lora.all_to_all={}", is_divided),
        fmt::format("training.tensor_overlap=\"{}\"", is_divided ? "ring" : "none")};
    if (layout.context > 1) sets.push_back(fmt::format("+training.context_parallel={}", layout.context));
    // FP8 attention with ranks that share sequences, or beside FP4, is not simulated.
    if (layout.context > 1 || layout.is_fp4) sets.emplace_back("training.quantized_attention=false");
    if (layout.is_fp4)
      sets.insert(sets.end(), {"training.precision=\"nvfp4\"", "training.kept_transposes=true"});
    if (round == "v4.0" && layout.tensor == 4) sets.emplace_back("training.quantized_activations=false");
    return sets;
  }

  const CheckedRow& row_;
  const System& system_;
};

}  // namespace

std::vector<MeasuredStep> read_lora_steps(const std::filesystem::path& data, std::vector<std::string>& broken) {
  std::vector<MeasuredStep> steps;
  read_rows(data / kLoraTable, "of every step", broken, [&](const CheckedRow& row) {
    if (row.text("benchmark") != "llama2_70b_lora") return;
    std::ranges::move(LoraRow(row).steps(), std::back_inserter(steps));
  });
  return steps;
}

}}  // namespace c3::studies
