#include "studies/collectives/links_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/nearest_name.hpp"
#include "base/percent.hpp"
#include "base/small_letters.hpp"
#include "base/statistics.hpp"
#include "collectives/measure.hpp"
#include "studies/collectives/table_run.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr Bytes kCopied{64.0 * 1024.0 * 1024.0};  // TransferBench's default, a transfer
constexpr double kGiga = 1e9;
constexpr std::string_view kOneWay = "one_way";
constexpr std::string_view kAtOnce = "all_at_once";

/// "GPU3" is 3; nothing for "CPU0".
std::optional<int> gpu_in(std::string_view name) {
  const std::string lower = in_small_letters(name);
  constexpr std::string_view kGpu = "gpu";
  if (!lower.starts_with(kGpu)) return std::nullopt;
  int gpu = 0;
  const char* last = lower.data() + lower.size();
  const auto [end, error] = std::from_chars(lower.data() + kGpu.size(), last, gpu);
  if (error != std::errc() || end != last || gpu < 0) return std::nullopt;
  return gpu;
}

/// The system of \p entry with kernels that copy and nothing else: bytes go straight from one GPU's memory to
/// the other's, and nothing is paid to launch them, because TransferBench times the transfers.
std::shared_ptr<const ClusterSpec> copying(const MapEntry& entry) {
  ClusterSpec cluster = *load_system(entry);
  CollectiveLibrarySpec& library = cluster.library;
  library.link_payload = cluster.node.link.both_ways;
  library.staging_bytes = 0.0;
  library.simple.base_latency = Seconds{};
  library.simple.hop_latency = Seconds{};
  cluster.gpu.dispatch.dependent_gap = Seconds{};
  return std::make_shared<const ClusterSpec>(std::move(cluster));
}

SimulatedTime time_of(const ClusterSpec& cluster, const CollectiveCall& call) {
  return {.time = measure_collective(cluster, call, {.method = {.algorithm = Algorithm::direct}}).time};
}

CollectiveCall one_copy(int from, int to) {
  return {.kind = CollectiveKind::broadcast, .bytes = kCopied, .ranks = {from, to}, .root = from};
}

CollectiveCall all_copies(int gpus) {
  return {.kind = CollectiveKind::all_to_all, .bytes = kCopied * static_cast<double>(gpus)};
}

}  // namespace

bool is_link_matrix(const HeadedTable& file) { return file.find({"src"}) && file.find({"gpu0"}); }

void LinksPart::add(const HeadedTable& file, const MapEntry& entry) {
  if (entry.op != kOneWay && entry.op != kAtOnce) {
    const std::vector<std::string> known = {std::string(kOneWay), std::string(kAtOnce)};
    throw ConfigError(entry.op_at, "op", unknown_name("way of copying", entry.op, known));
  }
  Matrix matrix{.name = std::filesystem::path(file.file()).stem().string(),
                .at_once = entry.op == kAtOnce,
                .sets_parameters = !entry.sets.empty(),
                .cluster = copying(entry)};
  for (const std::string& row : file.broken())
    broken_.push_back(row);
  const std::size_t source = file.need({"src"}, "the GPU that is read");
  for (const HeadedTable::Row& row : file.rows()) {
    const auto from = gpu_in(row.cells[source]);
    for (std::size_t column = 0; from && column < file.columns().size(); ++column) {
      const auto to = gpu_in(file.columns()[column]);
      const std::string_view cell = row.cells[column];
      if (!to || *to == *from || cell.empty() || in_small_letters(cell) == "na" ||
          in_small_letters(cell) == "n/a")
        continue;
      if (std::max(*from, *to) >= matrix.cluster->node.gpus)
        throw ConfigError(entry.at, "system",
                          fmt::format("{} has {} GPUs, {} has GPU{}", entry.system, matrix.cluster->node.gpus,
                                      matrix.name, std::max(*from, *to)));
      if (const auto rate = number_in(cell); rate && *rate > 0.0)
        matrix.pairs.push_back({*from, *to, BytesPerSecond{*rate * kGiga}});
      else
        broken_.emplace_back(
            file.error(row, cell, file.columns()[column], fmt::format("'{}' is no bandwidth", cell)).what());
    }
  }
  if (matrix.pairs.empty()) throw file.header_error("src", "no bandwidth between two GPUs");
  matrices_.push_back(std::move(matrix));
}

void LinksPart::plan(SimulationJobs& jobs) {
  for (Matrix& matrix : matrices_) {
    if (matrix.at_once) {  // one run, in which all pairs end together
      jobs.push_back(
          {.run = [&matrix] { return time_of(*matrix.cluster, all_copies(matrix.cluster->node.gpus)); },
           .take =
               [&matrix](const SimulatedTime& simulated) {
                 for (Pair& pair : matrix.pairs)
                   pair.simulated = simulated;
               }});
      continue;
    }
    for (Pair& pair : matrix.pairs)
      jobs.push_back(
          {.run = [&matrix, &pair] { return time_of(*matrix.cluster, one_copy(pair.from, pair.to)); },
           .take = [&pair](const SimulatedTime& simulated) { pair.simulated = simulated; }});
  }
}

StudyReport LinksPart::sections(const PublishedFigures& published) const {
  StudySection section{.heading = "Bandwidth between GPUs: absolute error over pairs",
                       .lines = {},
                       .notes = {},
                       .value = "error"};
  for (const Matrix& matrix : matrices_) {
    std::vector<double> errors, measured, here;
    for (const Pair& pair : matrix.pairs) {
      if (!pair.simulated.time) continue;
      measured.push_back(pair.measured.value / kGiga);
      here.push_back((kCopied / *pair.simulated.time).value / kGiga);
      errors.push_back(kPercent * std::abs(here.back() / measured.back() - 1.0));
    }
    if (errors.empty()) continue;
    constexpr double kMedian = 0.5, kWorst = 1.0;
    const auto add = [&](std::string_view what, double share) {
      const std::string id = fmt::format("links.{}.{}", matrix.at_once ? kAtOnce : kOneWay, what);
      StudyLine line{.figure = {.reference = published.find(id),
                                .kind = matrix.sets_parameters ? FigureKind::fitted : FigureKind::predicted,
                                .simulated = quantile(errors, share)},
                     .label = fmt::format("{}, {} pair", matrix.name, what),
                     .rows = errors.size(),
                     .skipped = matrix.pairs.size() - errors.size()};
      line.beside = {{"measured median [GB/s]", quantile(measured, kMedian)},
                     {"here median [GB/s]", quantile(here, kMedian)}};
      line.figure.reference.id = fmt::format("{}.{}", id, matrix.name);
      section.lines.push_back(std::move(line));
    };
    add("median", kMedian);
    add("worst", kWorst);
  }
  if (section.lines.empty()) return {};
  section.notes = {
      "Kernel copies of 64 MiB without a library's protocol; all at once, every pair's bytes over the time of "
      "all."};
  return {section};
}

}}  // namespace c3::studies
