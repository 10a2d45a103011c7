// Kernels alone, on parts of the GPU, and in streams of seconds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "configs/preset_store.hpp"
#include "gpu/clock/governor.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3::inline studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a measured kernel";
constexpr const char* kGpu = "h100-sxm";
constexpr std::int64_t kMostSms = 1024;
constexpr double kPercent = 100.0;
// What collectives of eight H100 leave a kernel: NCCL takes at most 24 to 32 SMs.
constexpr int kFewestJudged = 96;

GpuSpec in_bursts() { return load_gpu(kGpu, {{R"(gpu.clock_state="burst")"}}); }

/// The device's own time, as kernels that follow one another have it.
Seconds time_on(const Operator& op, const GpuSpec& gpu, int sms = 0) {
  return time_of(op, gpu, {.cus = sms, .launch = LaunchCost::device}).time;
}

std::uint64_t block_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) names.push_back(name);
  return static_cast<std::uint64_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

Operator operator_in(const HeadedTable& table, const HeadedTable::Row& row) {
  ShapeWords words;
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key) {
    if (const auto column = table.find({kShapeKeys[key]})) words[static_cast<ShapeKey>(key)] = row.cells[*column];
  }
  try {
    return operator_of(words);
  } catch (const ShapeError& error) {
    throw table.error(row, row.text, name_of(error.key()), error.what());
  }
}

KernelsAlonePart::KernelsAlonePart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("group"), operator_in(table, each), row.above_0("ms") * 1.0_ms});
  }
}

StudySection KernelsAlonePart::section(const PublishedFigures& published) const {
  const GpuSpec gpu = in_bursts();
  std::vector<std::string> groups;
  std::map<std::string, Comparison> by_group;
  std::map<std::string, double> signed_errors;
  for (const Row& row : rows_) {
    const auto block = block_of(groups, row.group);
    const Seconds here = time_on(row.op, gpu);
    by_group[row.group].add({.measured = row.measured, .here = here, .block = block}, {});
    signed_errors[row.group] += kPercent * (here / row.measured - 1.0);
  }
  StudySection section{.heading = "Kernels alone: mean error of the time [%]", .lines = {}, .notes = {}, .value = "error"};
  for (const std::string& group : groups) {
    StudyLine line = by_group[group].line(published.find("alone.error"), FigureKind::predicted, group);
    line.beside.emplace_back("signed [%]", signed_errors[group] / static_cast<double>(line.rows));
    section.lines.push_back(std::move(line));
  }
  section.notes = {"From graphs, operands cold in L2. cudnn_rate was set from the forward passes of cuDNN's attention; nothing else from these rows."};
  return section;
}

GpuPartsPart::GpuPartsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({fmt::format("{} {}", row.text("kernel"), row.text("how")), operator_in(table, each),
                     static_cast<int>(row.whole("sms", kMostSms)), row.above_0("ms") * 1.0_ms});
  }
}

StudySection GpuPartsPart::section(const PublishedFigures& published) const {
  const GpuSpec gpu = in_bursts();
  const int all = gpu.compute.cus();
  std::map<std::string, Seconds> whole;  // measured with all SMs, by kernel without how
  const auto without_how = [](const std::string& kernel) { return kernel.substr(0, kernel.rfind(' ')); };
  for (const Row& row : rows_) {
    if (row.sms == all) whole[without_how(row.kernel)] = row.measured;
  }
  std::vector<std::string> kernels;
  std::map<std::string, Comparison> many, few;
  Comparison products;
  for (const Row& row : rows_) {
    if (row.sms == all) continue;
    const std::string name = without_how(row.kernel);
    const double here = time_on(row.op, gpu, row.sms) / time_on(row.op, gpu);
    const Comparison::Row both{.measured = Seconds{row.measured / whole.at(name)},
                               .here = Seconds{here},
                               .block = block_of(kernels, row.kernel)};
    (row.sms >= kFewestJudged ? many : few)[row.kernel].add(both, {});
    if (row.sms >= kFewestJudged && row.op.of_class().has_product && name.starts_with("gemm")) products.add(both, {});
  }
  StudySection section{.heading = fmt::format("Kernels on parts of the GPU: mean error of the time over that on {} SMs [%]", all),
                       .lines = {},
                       .notes = {},
                       .value = "error"};
  for (const std::string& kernel : kernels) {
    StudyLine line = many[kernel].line(published.find("parts.error"), FigureKind::fitted, kernel);
    if (const StudyLine on_few = few[kernel].line(published.find("parts.error"), FigureKind::fitted, kernel);
        on_few.figure.simulated)
      line.beside.emplace_back(fmt::format("below {} SMs [%]", kFewestJudged), *on_few.figure.simulated);
    section.lines.push_back(std::move(line));
  }
  section.lines.push_back(products.line(published.find("parts.products"), FigureKind::fitted,
                                        fmt::format("all products, {} SMs and more", kFewestJudged)));
  section.notes = {fmt::format("Errors are of {} SMs and more. parted: in a green context of so many SMs. held: blocks that "
                               "do nothing held the others. That library kernels are persistent was found in these rows.",
                               kFewestJudged)};
  return section;
}

LevelsPart::LevelsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("kernel"), operator_in(table, each), row.above_0("burst_ms") * 1.0_ms,
                     row.above_0("sustained_ms") * 1.0_ms, Watts{row.above_0("power_w")}});
  }
}

StudySection LevelsPart::section(const PublishedFigures& published) const {
  const GpuSpec gpu = load_gpu(kGpu);
  StudySection section{.heading = "A stream of one kernel for 2.5 s: sustained over burst time",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 3};
  double errors = 0.0;
  for (const Row& row : rows_) {
    const std::array<Operator, 1> stream = {row.op};
    const StreamTimes times = stream_times(stream, gpu, {.launch = LaunchCost::device});
    const double measured = row.sustained / row.burst;
    const double here = times.sustained / times.burst;
    errors += std::abs(kPercent * (here / measured - 1.0));
    const Watts drawn = power_when_slowed(gpu, times.power, std::max(1.0, sustained_slowdown(gpu, times.power)));
    section.lines.push_back({.figure = {.of = published.find("levels.ratio"), .simulated = here},
                             .label = row.kernel,
                             .rows = 1,
                             .beside = {{"measured", measured}, {"power [W]", drawn.value}, {"measured power [W]", row.power.value}}});
  }
  section.lines.push_back({.figure = {.of = published.find("levels.error"), .simulated = errors / static_cast<double>(rows_.size())},
                           .label = "mean error [%]",
                           .rows = rows_.size()});
  return section;
}

}  // namespace c3::studies
