#include "studies/cluster/bridge_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kBridgeTable = "training/nemo_megatron_bridge_llama_qwen30b.csv";

constexpr std::int64_t kLargest = 100'000'000;

struct System {
  std::string_view published, of_eight, of_rack, host;
  /// Layers of LLaMA 3 70B whose activations FSDP's recipes in FP8 offload (NVIDIA-NeMo/Megatron-Bridge
  /// @067f987d, cpu_offloading_num_layers).
  int offloaded;
};
constexpr std::array kSystems = {System{"DGX-B200", "b200-sxm-8", "", "xeon-8570", 5},
                                 System{"DGX-GB200", "gb200-nvl8", "gb200-nvl72", "grace", 40},
                                 System{"DGX-GB300", "gb300-nvl8", "gb300-nvl72", "grace", 20},
                                 System{"DGX-B300", "b300-sxm-8", "", "xeon-8570", 0}};

struct BridgeModel {
  std::string_view published, set, frame;
  bool is_of_rack = false;
};
constexpr std::array kModels = {BridgeModel{"LLAMA3_8B", "bridge8b", "llama3_8b_bridge.toml"},
                                BridgeModel{"LLAMA3_70B", "bridge70b", "llama3_70b_bridge.toml", true},
                                BridgeModel{"Qwen3_30B_a3B", "qwen30b", "qwen3_30b_bridge.toml"}};

struct Precision {
  std::string_view published, recipe;
};
constexpr std::array kPrecisions = {Precision{"FP8", "fp8_tensorwise"}, Precision{"FP8-CS", "fp8_tensorwise"},
                                    Precision{"FP8-MX", "mxfp8"}, Precision{"MXFP8", "mxfp8"},
                                    Precision{"NVFP4", "nvfp4"}};

/// "a (b)" in two, or "a" alone.
std::vector<std::string> listed(const std::string& text) {
  const std::size_t open = text.find(" (");
  if (open == std::string::npos) return {text};
  return {text.substr(0, open), text.substr(open + 2, text.size() - open - 3)};
}

/// A whole number where the cell has one, else \p other.
std::int64_t whole_or(const CheckedRow& row, std::string_view column, std::int64_t other) {
  const std::string_view cell = row.cell(column);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc{} && end == cell.data() + cell.size() ? value : other;
}

class BridgeRow {
 public:
  explicit BridgeRow(const CheckedRow& row)
      : row_(row),
        system_(kSystems.at(row.one_of("system", names(kSystems)))),
        model_(kModels.at(row.one_of("model", names(kModels)))),
        gpus_(row.whole("gpus", kLargest)),
        share_(row.whole("tp", kLargest)),
        is_fsdp_(whole_or(row, "fsdp", 0) > 0) {}

  std::vector<MeasuredStep> steps() const {
    const std::vector<std::string> precisions = listed(row_.text("precision"));
    const std::vector<std::string> rates = listed(row_.text("tokens_s_gpu"));
    if (precisions.size() != rates.size())
      row_.fail("tokens_s_gpu",
                fmt::format("has {} numbers for {} precisions", rates.size(), precisions.size()));
    std::vector<MeasuredStep> steps;
    for (std::size_t i = 0; i < precisions.size(); ++i)
      steps.push_back(step(precisions[i], rate(rates[i])));
    return steps;
  }

 private:
  template <std::size_t N, class Each>
  static constexpr std::array<std::string_view, N> names(const std::array<Each, N>& all) {
    std::array<std::string_view, N> found;
    for (std::size_t i = 0; i < N; ++i)
      found[i] = all[i].published;
    return found;
  }

  double rate(const std::string& text) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value <= 0.0)
      row_.fail("tokens_s_gpu", fmt::format("'{}' must be a number above 0", text));
    return value;
  }

  std::string_view recipe_of(const std::string& precision) const {
    for (const Precision& each : kPrecisions)
      if (each.published == precision) return each.recipe;
    row_.fail("precision", fmt::format("'{}' is none of FP8, FP8-CS, FP8-MX, MXFP8 and NVFP4", precision));
  }

  MeasuredStep step(const std::string& precision, double tokens_per_second) const {
    const std::string_view recipe = recipe_of(precision);
    const std::string container = row_.text("container").substr(0, 5);
    const std::int64_t sequence = row_.whole("seq", kLargest), batch = row_.whole("gbs", kLargest);
    const auto tokens = static_cast<double>(sequence * batch) / static_cast<double>(gpus_);
    MeasuredStep step{.set = std::string(model_.set),
                      .row = fmt::format("{} {} {}", container, system_.published.substr(4), recipe),
                      .measured = Seconds{tokens / tokens_per_second},
                      .frame = std::string(model_.frame)};
    step.group = step.set;
    step.sets = {fmt::format("system=\"{}\"", model_.is_of_rack ? system_.of_rack : system_.of_eight),
                 fmt::format("training.host=\"{}\"", system_.host),
                 fmt::format("training.sequence={}", sequence),
                 fmt::format("training.micro_batch={}", row_.whole("mbs", kLargest)),
                 fmt::format("training.global_batch={}", batch),
                 fmt::format("training.precision=\"{}\"", recipe)};
    const std::vector<std::string> layout = model_.is_of_rack ? layout_of(recipe) : std::vector<std::string>{};
    step.sets.insert(step.sets.end(), layout.begin(), layout.end());
    if (model_.set == "qwen30b") step.sets.push_back(fmt::format("training.dispatch=\"{}\"", dispatch()));
    return step;
  }

  /// Recipes for B200 with one sequence a micro-batch are of the time before HybridEP, which the others name
  /// (NVIDIA-NeMo/Megatron-Bridge, scripts/performance/configs/qwen/qwen3_workload_base_configs.py).
  std::string_view dispatch() const { return row_.whole("mbs", kLargest) == 1 ? "alltoall" : "hybridep"; }

  /// Megatron-FSDP has parameters as views of the buffers into which it gathers them, and adds gradients
  /// itself. Of tensor parallelism, MXFP8 overlaps its products with collectives by user buffers and NVFP4
  /// launches whole layers as graphs.
  std::vector<std::string> layout_of(std::string_view recipe) const {
    if (is_fsdp_)
      return {"training.pipeline=1",
              "training.virtual_stages=1",
              "training.sharding=\"fsdp\"",
              fmt::format("+training.offload_layers={}", system_.offloaded),
              "training.parameter_gather=\"after_optimizer\"",
              "+framework.flat_parameters=true",
              "+framework.fused_accumulation=false"};
    std::vector<std::string> sets = {fmt::format("training.tensor_parallel={}", share_),
                                     fmt::format("training.sequence_parallel={}", share_ > 1),
                                     fmt::format("training.pipeline={}", row_.whole("pp", kLargest)),
                                     fmt::format("training.virtual_stages={}", row_.whole("vp", kLargest))};
    if (share_ > 1 && recipe == "mxfp8") sets.emplace_back("+training.tensor_overlap=\"ring\"");
    if (share_ > 1 && recipe == "nvfp4") sets.emplace_back("+training.graphs=\"layers\"");
    return sets;
  }

  const CheckedRow& row_;
  const System& system_;
  const BridgeModel& model_;
  std::int64_t gpus_, share_;
  bool is_fsdp_;
};

}  // namespace

std::vector<MeasuredStep> read_bridge_steps(const std::filesystem::path& data,
                                            std::vector<std::string>& broken) {
  std::vector<MeasuredStep> steps;
  read_rows(data / kBridgeTable, "of every step", broken, [&](const CheckedRow& row) {
    std::ranges::move(BridgeRow(row).steps(), std::back_inserter(steps));
  });
  return steps;
}

}}  // namespace c3::studies
