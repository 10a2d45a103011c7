// All-to-alls of four V100 (arXiv 2404.12674): a host's overhead, then the links.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/spec_readers.hpp"
#include "studies/dlrm/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr int kMembers = 4;  // of one quad of a DGX-1
constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

/// One of many that a host launches one after another: as long as the longer of both takes.
struct Exchange {
  Seconds device, host;
  Seconds time() const { return std::max(device, host); }
};

Exchange exchange_of(const ClusterSpec& cluster, const OperatorOverheads& host, Bytes bytes) {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v};
  for (int rank = 0; rank < kMembers; ++rank)
    call.ranks.push_back(rank);
  call.sends.assign(kMembers * kMembers, bytes / kMembers);
  return {.device = measure_collective(cluster, call, {}).time, .host = host.all_to_all + host.launch};
}

BytesPerSecond bus_rate(Bytes bytes, Seconds time) { return bytes * ((kMembers - 1.0) / kMembers) / time; }

}  // namespace

StudySection exchange_section(const PublishedFigures& published) {
  const ClusterSpec cluster = load_cluster("v100-sxm2-8");
  const Node preset = load_preset(PresetKind::host, "lin-2022", Origin{}, "host");
  Section host(preset, "host");
  const OperatorOverheads overheads = read_host_preset(host).overheads;
  StudySection section{
      .heading = "All-to-all-v of four V100",
      .lines = {},
      .notes = {"Overhead: what a host takes for one (T2 of an all-to-all and T4, measured in models' steps), "
                "where that is longer than the GPUs. Constants of the rise were not published."}};
  const auto add = [&](const std::string& id, const std::string& label, const Exchange& of, double simulated) {
    StudyLine line{.figure = {.of = published.find(id), .simulated = simulated}, .label = label, .rows = 1};
    line.beside = {{"GPUs [us]", of.device.value * kMicro}, {"host [us]", of.host.value * kMicro}};
    section.lines.push_back(std::move(line));
  };
  const Exchange smallest = exchange_of(cluster, overheads, Bytes{std::exp2(13)});
  add("exchange.overhead", "2^13 bytes", smallest, smallest.time().value * kMicro);
  for (const int power : {17, 20, 23}) {
    const Bytes bytes{std::exp2(power)};
    const Exchange of = exchange_of(cluster, overheads, bytes);
    add(fmt::format("exchange.rise.{}", power), fmt::format("2^{} bytes", power), of,
        bus_rate(bytes, of.time()).value / kGiga);
  }
  const Bytes large{std::exp2(29)};
  const Exchange last = exchange_of(cluster, overheads, large);
  add("exchange.rate", "2^29 bytes", last, bus_rate(large, last.time()).value / kGiga);
  return section;
}

}}  // namespace c3::studies
