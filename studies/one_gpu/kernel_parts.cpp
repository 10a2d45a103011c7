// Kernels alone, on parts of the GPU, and in streams of seconds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a measured kernel";
constexpr std::int64_t kMostSms = 1024;
constexpr double kPercent = 100.0;
// What collectives of eight H100 leave a kernel: NCCL takes at most 24 to 32 SMs.
constexpr int kFewestJudged = 96;
/// From these, or the same kernels of instructions.csv, something was set: cudnn_rate, issue_share, that AdamW
/// loads and computes by turns.
constexpr std::array<std::string_view, 4> kSetFrom = {"h100-sxm: attention cudnn forward", "h200-sxm: gelu",
                                                      "h100-sxm: adam", "h200-sxm: adam"};

/// Groups of layers of images that something was set from, or chosen with in view, on either GPU.
constexpr std::array<std::string_view, 4> kSeenLayers = {"convolution fp16", "max_pool", "average_pool",
                                                         "batch_norm"};

FigureKind kind_of_layers(std::string_view label) {
  const bool was_seen = std::ranges::any_of(
      kSeenLayers, [&](std::string_view group) { return label.find(group) != std::string_view::npos; });
  return was_seen ? FigureKind::fitted : kind_of(label);
}

/// The GPUs of a table, by the names of their presets.
class Gpus {
 public:
  explicit Gpus(std::vector<std::string> sets = {}) : sets_(std::move(sets)) {}

  const GpuSpec& operator[](const std::string& name) {
    const auto found = loaded_.find(name);
    return found != loaded_.end() ? found->second : loaded_.emplace(name, load_gpu(name, sets_)).first->second;
  }

 private:
  std::vector<std::string> sets_;
  std::map<std::string, GpuSpec> loaded_;
};

Gpus in_bursts() { return Gpus({R"(gpu.clock_state="burst")"}); }

/// The device's own time, as kernels that follow one another have it.
Seconds time_on(const Operator& op, const GpuSpec& gpu, int sms = 0) {
  return time_of(op, gpu, {.cus = sms, .launch = LaunchCost::device}).time;
}

/// The place of \p name in \p names, which it joins if it is new.
std::uint64_t number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::uint64_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

Operator operator_in(const HeadedTable& table, const HeadedTable::Row& row) {
  ShapeWords words;
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
    if (const auto column = table.find({kShapeKeys.at(key)}))
      words[static_cast<ShapeKey>(key)] = row.cells[*column];
  }
  try {
    return operator_of(words);
  } catch (const ShapeError& error) {
    throw table.error(row, row.text, name_of(error.key()), error.what());
  }
}

NamedKernels::NamedKernels(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows())
    kernels_.try_emplace(CheckedRow(table, each, kWhat).text("kernel"), operator_in(table, each));
}

std::optional<Operator> NamedKernels::find(const std::string& name) const {
  std::istringstream words(name);
  std::string op;
  GemmShape product;
  if (words >> op >> product.m >> product.n >> product.k && op == "gemm") return product;
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? std::nullopt : std::optional(found->second);
}

Operator NamedKernels::of(const CheckedRow& row, std::string_view column) const {
  if (const std::optional<Operator> kernel = find(row.text(column))) return *kernel;
  std::vector<std::string_view> names;
  for (const auto& [name, op] : kernels_)
    names.push_back(name);
  return kernels_.at(std::string(names.at(row.one_of(column, names))));  // which says what is allowed
}

AloneTable transformers_alone() {
  return {.file = study_file("one_gpu", "kernels.csv"),
          .figure = "alone.error",
          .heading = "Kernels alone: mean error of the time",
          .note =
              "From graphs, operands cold in L2. cudnn_rate was set from the forward passes of "
              "cuDNN's attention on the H100; issue_share and how AdamW overlaps from times of "
              "instructions.csv, and what vector kernels issue from its counters.",
          .kind = [](std::string_view label) {
            const bool was_set = std::ranges::find(kSetFrom, label) != kSetFrom.end();
            return was_set ? FigureKind::fitted : FigureKind::predicted;
          }};
}

AloneTable images_alone() {
  return {.file = study_file("one_gpu", "layers.csv"),
          .figure = "layers.error",
          .heading = "Layers of networks of images, alone: mean error of the time",
          .note =
              "cuDNN's fastest kernels. That loads of NHWC are wide and several steps ahead was found "
              "in the H100's rows; kernel_us went back to its prior with errors of fp16 on both GPUs in "
              "view. What waves of pools wait for, and that norms in NHWC load first, was set from "
              "profiles of an H200.",
          .kind = &kind_of_layers};
}

KernelsAlonePart::KernelsAlonePart(AloneTable table) : table_(std::move(table)) {
  const HeadedTable rows(table_.file);
  for (const HeadedTable::Row& each : rows.rows()) {
    const CheckedRow row(rows, each, kWhat);
    rows_.push_back({row.text("gpu"), row.text("group"), operator_in(rows, each), row.above_0("ms") * 1.0_ms});
  }
}

StudySection KernelsAlonePart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison errors;
    double signed_sum = 0.0;
  };
  Gpus gpus = in_bursts();
  std::vector<std::string> names;
  std::map<std::uint64_t, Group> groups;
  for (const Row& row : rows_) {
    const std::uint64_t number = number_of(names, fmt::format("{}: {}", row.gpu, row.group));
    const Seconds here = time_on(row.op, gpus[row.gpu]);
    groups[number].errors.add({.measured = row.measured, .here = here, .block = number}, {});
    groups[number].signed_sum += kPercent * (here / row.measured - 1.0);
  }
  StudySection section{.heading = std::string(table_.heading),
                       .lines = {},
                       .notes = {std::string(table_.note)},
                       .value = "error"};
  for (const auto& [number, group] : groups) {
    StudyLine line =
        group.errors.line(published.find(table_.figure), table_.kind(names.at(number)), names.at(number));
    line.beside.emplace_back("signed [%]", group.signed_sum / static_cast<double>(line.rows));
    section.lines.push_back(std::move(line));
  }
  return section;
}

GpuPartsPart::GpuPartsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("gpu"), row.text("kernel"), row.text("how"), operator_in(table, each),
                     static_cast<int>(row.whole("sms", kMostSms)), row.above_0("ms") * 1.0_ms});
  }
}

// What was measured with all SMs is the unit of a kernel's other rows.
StudySection GpuPartsPart::section(const PublishedFigures& published) const {
  struct Kernel {
    Comparison on_many, on_few;
  };
  Gpus gpus = in_bursts();
  std::map<std::pair<std::string, std::string>, Seconds> whole;
  for (const Row& row : rows_) {
    if (row.sms == gpus[row.gpu].compute.cus()) whole[{row.gpu, row.kernel}] = row.measured;
  }
  std::vector<std::string> names;
  std::map<std::uint64_t, Kernel> kernels;
  std::map<std::string, Comparison> products;
  for (const Row& row : rows_) {
    const GpuSpec& gpu = gpus[row.gpu];
    if (row.sms == gpu.compute.cus()) continue;
    const std::uint64_t number = number_of(names, fmt::format("{}: {}, {}", row.gpu, row.kernel, row.how));
    const bool is_many = row.sms >= kFewestJudged;
    const Comparison::Row both{.measured = Seconds{row.measured / whole.at({row.gpu, row.kernel})},
                               .here = Seconds{time_on(row.op, gpu, row.sms) / time_on(row.op, gpu)},
                               .block = number};
    (is_many ? kernels[number].on_many : kernels[number].on_few).add(both, {});
    if (is_many && row.kernel.starts_with("gemm")) products[row.gpu].add(both, {});
  }
  StudySection section{
      .heading = "Kernels on parts of the GPU: mean error of the time over that on the whole GPU",
      .lines = {},
      .notes = {fmt::format("Errors are of {} SMs and more. parted: in a green context of so many "
                            "SMs; held: blocks that do nothing held the others. That library "
                            "kernels are persistent was found in the rows of the H100.",
                            kFewestJudged)},
      .value = "error"};
  for (const auto& [number, kernel] : kernels) {
    const FigureKind kind = kind_of(names.at(number));
    StudyLine line = kernel.on_many.line(published.find("parts.error"), kind, names.at(number));
    const StudyLine on_few = kernel.on_few.line(published.find("parts.error"), kind, {});
    if (on_few.figure.simulated)
      line.beside.emplace_back(fmt::format("below {} SMs [%]", kFewestJudged), *on_few.figure.simulated);
    section.lines.push_back(std::move(line));
  }
  for (const auto& [gpu, errors] : products)
    section.lines.push_back(
        errors.line(published.find("parts.products"), kind_of(gpu), fmt::format("{}: all products", gpu)));
  return section;
}

LevelsPart::LevelsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("gpu"), row.text("kernel"), operator_in(table, each),
                     row.above_0("burst_ms") * 1.0_ms, row.above_0("sustained_ms") * 1.0_ms,
                     Watts{row.above_0("power_w")}});
  }
}

StudySection LevelsPart::section(const PublishedFigures& published) const {
  StudySection section{.heading = "A stream of one kernel for 2.5 s: sustained over burst time",
                       .lines = {},
                       .notes = {"power_settled was set from the large products in bf16."},
                       .value = "here",
                       .decimals = 3};
  Gpus gpus;
  std::map<std::string, std::pair<double, std::size_t>> errors;  // sum and number
  for (const Row& row : rows_) {
    const GpuSpec& gpu = gpus[row.gpu];
    const std::array<Operator, 1> stream = {row.op};
    const GovernedTimes times = stream_times(stream, gpu, {.launch = LaunchCost::device});
    const double measured = row.sustained / row.burst;
    const double here = times.sustained / times.burst;
    auto& [sum, rows] = errors[row.gpu];
    sum += std::abs(kPercent * (here / measured - 1.0));
    ++rows;
    const bool was_set_from = row.kernel.starts_with("gemm bf16");
    section.lines.push_back({.figure = {.of = published.find("levels.ratio"),
                                        .kind = was_set_from ? FigureKind::fitted : FigureKind::predicted,
                                        .simulated = here},
                             .label = fmt::format("{}: {}", row.gpu, row.kernel),
                             .rows = 1,
                             .beside = {{"measured", measured}, {"measured power [W]", row.power.value}}});
  }
  for (const auto& [gpu, of] : errors) {
    section.lines.push_back({.figure = {.of = published.find("levels.error"),
                                        .simulated = of.first / static_cast<double>(of.second)},
                             .label = fmt::format("{}: mean error", gpu),
                             .rows = of.second});
  }
  return section;
}

}}  // namespace c3::studies
