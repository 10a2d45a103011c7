// Kernels beside copies between the GPU and its host.

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/parts.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a kernel measured beside copies";
/// Copies within the GPU take its engines for peers, and are no way to the host.
constexpr std::array<std::string_view, 4> kWays = {"to_host", "from_host", "both", "within"};
constexpr std::size_t kWithin = 3;
constexpr int kKernels = 8;  // one after another
// Of the kernels' time alone: a copy that ends before they do, even at half of its rate, and one that does not.
constexpr double kShort = 0.4, kLong = 3.0;

std::vector<HostWay> ways_of(std::size_t number) {
  if (number == 0) return {HostWay::to_host};
  if (number == 1) return {HostWay::from_host};
  return {HostWay::to_host, HostWay::from_host};
}

/// One GPU of a preset's node, by itself.
ClusterSpec alone(const std::string& gpu) {
  ClusterSpec cluster = load_cluster(gpu + "-8");
  cluster.node.gpus = 1;
  cluster.node.host.memory = {};  // one GPU's copies are far below it
  return cluster;
}

class BesideCopies {
 public:
  BesideCopies(ClusterSpec cluster, const Operator& op) : op_(op) {
    experiment_.name = "copies";
    experiment_.cluster = std::move(cluster);
    experiment_.measure.loss_split = false;
  }

  /// Of all kernels, and of the longest copy of \p each bytes.
  struct Times {
    Seconds kernels, copy;
  };
  Times run(const std::vector<HostWay>& ways, Bytes each) {
    ProgramBuilder builder;
    const auto compute = builder.stream("compute");
    for (int i = 0; i < kKernels; ++i)
      builder.kernel(compute, "kernel", op_);
    for (const HostWay way : ways)
      builder.host_copy(builder.stream(way == HostWay::to_host ? "out" : "in"), "copy", {each, way});
    experiment_.program = builder.take();
    const Strategy strategy{.name = "at once", .order = {}, .streams = {}};
    const RunResult ran = run_once(experiment_, strategy, {});
    return {.kernels = ran.kernels.end - ran.kernels.release,
            .copy = ran.collectives.end - ran.collectives.release};
  }
  BytesPerSecond link(bool both) const {
    const LinkSpec& pcie = experiment_.cluster.node.pcie;
    return both ? pcie.both_ways : pcie.one_way;
  }

 private:
  Operator op_;
  Experiment experiment_;
};

}  // namespace

CopiesPart::CopiesPart(const std::filesystem::path& file, const NamedKernels& kernels) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    const std::size_t way = row.one_of("way", kWays);
    if (way == kWithin) continue;
    rows_.push_back({row.text("gpu"), row.text("kernel"), way, kernels.of(row, "kernel"),
                     row.above_0("together_ms") / row.above_0("alone_ms"),
                     row.above_0("copy_together_gb_s") * 1.0_GBps});
  }
}

StudySection CopiesPart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison kernels, copies;
  };
  std::map<std::pair<std::string, std::size_t>, Group> groups;
  StudySection section{
      .heading =
          "Beside copies to and from the host: mean error of the kernel's time over that "
          "alone, and of the copy's rate",
      .lines = {},
      .notes = {"That copies from the host are posted, and wait for nothing at HBM, was found in "
                "the rows of the H100."},
      .value = "error"};
  for (const Row& row : rows_) {
    BesideCopies beside(alone(row.gpu), row.op);
    const std::vector<HostWay> ways = ways_of(row.way);
    const BytesPerSecond link = beside.link(ways.size() > 1);
    const Seconds without = beside.run({}, {}).kernels;
    const Seconds with = beside.run(ways, link * without * kLong).kernels;
    const Bytes some = link * without * kShort;
    const double directions = static_cast<double>(ways.size());
    const BytesPerSecond rate = some * directions / beside.run(ways, some).copy;
    Group& group = groups[{row.gpu, row.way}];
    group.kernels.add({.measured = Seconds{row.slower}, .here = with / without * 1.0_s}, {});
    group.copies.add({.measured = row.copied / 1.0_GBps * 1.0_s, .here = rate / 1.0_GBps * 1.0_s}, {});
  }
  for (const auto& [key, group] : groups) {
    // To the host, nothing was found in any rows.
    const FigureKind kind = key.second > 0 ? kind_of(key.first) : FigureKind::predicted;
    const std::string label = fmt::format("{}: {}", key.first, kWays.at(key.second));
    section.lines.push_back(group.kernels.line(published.find("copies.kernels"), kind, label + ", kernels"));
    section.lines.push_back(group.copies.line(published.find("copies.rate"), kind, label + ", copies"));
  }
  return section;
}

}}  // namespace c3::studies
