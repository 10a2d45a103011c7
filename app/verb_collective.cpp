/// c3sim collective: one collective at many sizes, as nccl-tests prints it.

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/collective_request.hpp"
#include "app/exit_code.hpp"
#include "app/progress_line.hpp"
#include "app/verb.hpp"
#include "collectives/measure.hpp"
#include "engine/interrupt.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

struct Row {
  CollectiveCall call;
  Backend backend;
  Algorithm algorithm;
  CollectiveMeasurement measured;
};

std::vector<Row> measure(const CollectiveRequest& request, bool quiet) {
  std::vector<Row> rows;
  ProgressLine progress(quiet);
  const std::size_t total = request.sizes.size() * request.backends.size() * request.algorithms.size();
  for (const Backend backend : request.backends) {
    for (const std::optional<Algorithm>& asked : request.algorithms) {
      for (const Bytes size : request.sizes) {
        CollectiveCall call = request.call;
        call.bytes = size;
        const Algorithm algorithm = asked.value_or(default_algorithm(call, backend, request.cluster));
        const auto measured = measure_collective(request.cluster, call, backend, algorithm, request.grain);
        rows.push_back({std::move(call), backend, algorithm, measured});
        progress(rows.size(), total);
      }
    }
  }
  return rows;
}

/// Channels run the simple protocol at every size; copy engines have none.
std::string protocol_of(const Row& row) { return row.backend == Backend::cu ? "simple" : "none"; }

double gbps(BytesPerSecond rate) { return rate.value / 1e9; }

void print_json(const CollectiveRequest& request, const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"backend", name_of(row.backend)},
                    {"bytes", counted_bytes(row.call, request.members).value},
                    {"count", request.count(row.call)},
                    {"dtype", name_of(*row.call.dtype)},
                    {"algorithm", name_of(row.algorithm)},
                    {"protocol", protocol_of(row)},
                    {"channels", row.measured.channels},
                    {"time_us", row.measured.time.value * 1e6},
                    {"algbw_gbps", gbps(algorithm_bandwidth(row.call, request.members, row.measured.time))},
                    {"busbw_gbps", gbps(bus_bandwidth(row.call, request.members, row.measured.time))},
                    {"bottleneck", row.measured.limit}});
  }
  const nlohmann::ordered_json document{{"schema_version", kJsonSchemaVersion},
                                        {"system", request.cluster.name},
                                        {"op", name_of(request.call.kind)},
                                        {"ranks", request.members},
                                        {"rows", list}};
  fmt::print("{}\n", document.dump(2));
}

void print_table(const CollectiveRequest& request, const std::vector<Row>& rows) {
  const CollectiveKind kind = request.call.kind;
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  TextTable table({"backend", "size [B]", "count", "type", "redop", "root", "algo", "proto", "channels",
                   "time [us]", "algbw [GB/s]", "busbw [GB/s]", "limit"});
  double sum = 0.0;
  for (const Row& row : rows) {
    const double busbw = gbps(bus_bandwidth(row.call, request.members, row.measured.time));
    sum += busbw;
    table.add({std::string(name_of(row.backend)),
               fmt::format("{:.0f}", counted_bytes(row.call, request.members).value),
               fmt::format("{:.0f}", request.count(row.call)), std::string(name_of(*row.call.dtype)),
               reduces(kind) ? "sum" : "none", rooted ? std::to_string(row.call.root) : "-1",
               std::string(name_of(row.algorithm)), protocol_of(row), std::to_string(row.measured.channels),
               fmt::format("{:.2f}", row.measured.time.value * 1e6),
               fmt::format("{:.2f}", gbps(algorithm_bandwidth(row.call, request.members, row.measured.time))),
               fmt::format("{:.2f}", busbw), row.measured.limit});
  }
  fmt::print("{} on {}, {} ranks\n\n{}", name_of(kind), request.cluster.name, request.members, table.text());
  fmt::print("average busbw: {:.2f} GB/s\n", sum / static_cast<double>(rows.size()));
  fmt::print(
      "1 GB/s = 1e9 B/s; busbw as nccl-tests defines it. limit: the resource that is full while bytes move;\n"
      "latency where they move for less than half of the time. proto: simple at every size, so that small\n"
      "sizes take longer than with LL.\n");
}

int run_collective(const CollectiveOptions& options) {
  install_interrupt_handler();
  const CollectiveRequest request(options);
  const std::vector<Row> rows = measure(request, options.quiet);
  options.json ? print_json(request, rows) : print_table(request, rows);
  return kExitOk;
}

void add_options(CLI::App& verb, CollectiveOptions& options) {
  verb.add_option("OP", options.op, "What to time")->required()->check(CLI::IsMember(offered_collectives()));
  verb.add_option("--system", options.system, "Node preset")->required()->type_name("SYSTEM");
  verb.add_option("--set", options.sets, "Override a key of gpu, node or library, as in library.channels=16")
      ->take_all()
      ->expected(1)
      ->type_name("KEY=VALUE");
  verb.add_option("--backend", options.backends, "cu: channels on compute units; dma: copy engines")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--algo", options.algorithms, "auto, direct, ring, tree, nvls")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--min", options.smallest, "Smallest size")->type_name("SIZE")->capture_default_str();
  verb.add_option("--max", options.largest, "Largest size")->type_name("SIZE")->capture_default_str();
  verb.add_option("--factor", options.factor, "From one size to the next")
      ->check(CLI::Range(1.001, 1e6))
      ->capture_default_str();
  verb.add_option("--dtype", options.dtype, "Element type: fp32, bf16, fp16, fp8")->capture_default_str();
  verb.add_option("--ranks", options.ranks, "Group, as in 0-3,6 (default: all)")->type_name("RANKS");
  verb.add_option("--root", options.root, "Rank that broadcasts, or collects a reduce")->capture_default_str();
  verb.add_option("--grain", options.grain, "step: every chunk a flow; edge; gang: one flow")
      ->check(CLI::IsMember({"step", "edge", "gang"}))
      ->capture_default_str();
  verb.add_flag("--json", options.json, "As one JSON object");
}

}  // namespace

void add_collective_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<CollectiveOptions>();
  CLI::App& verb =
      *app.add_subcommand("collective", "Time one collective at many sizes, as nccl-tests prints it");
  add_options(verb, *options);
  verb.footer(
      "Sizes are total buffers as nccl-tests counts them; for all_gather, reduce_scatter and all_to_all the "
      "sum\n"
      "over ranks. Times are of one of many launched back to back.\n\n"
      "Examples:\n"
      "  c3sim collective all_reduce --system mi300x-8 --min \"1 MiB\"\n"
      "  c3sim collective all_gather --system h100-sxm-8 --backend cu,dma --algo auto --min \"64 MiB\" --json");
  verb.callback([&app, &action, options] {
    options->quiet = app.count("--quiet") > 0;
    action = [options] { return run_collective(*options); };
  });
}

}  // namespace c3
