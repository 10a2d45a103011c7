/// c3sim collective: one collective at many sizes, as nccl-tests prints it.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/collective_request.hpp"
#include "app/current_work.hpp"
#include "app/exit_code.hpp"
#include "app/notes.hpp"
#include "app/progress_line.hpp"
#include "app/verb.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "engine/interrupt.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3::inline app {
namespace {

struct Row {
  CollectiveCall call;
  MeasuredMethod how;
  CollectiveMeasurement measured;
};

/// What \p request asks for, at every size: wishes, not yet choices.
struct Wish {
  Mover mover;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  LaunchPath launch;
};

std::vector<Wish> wishes_of(const CollectiveRequest& request) {
  std::vector<Wish> wishes;
  for (const Mover& mover : request.movers) {
    for (const auto& algorithm : request.algorithms) {
      if (mover.backend == Backend::dma) {  // engines have neither protocol nor kernel launch
        wishes.push_back({mover, algorithm, std::nullopt, LaunchPath::graph});
        continue;
      }
      for (const auto& protocol : request.protocols) {
        for (const LaunchPath launch : request.launches)
          wishes.push_back({mover, algorithm, protocol, launch});
      }
    }
  }
  return wishes;
}

MeasuredMethod method_of(const Wish& wish, const CollectiveCall& call, const CollectiveRequest& request) {
  const Backend backend = wish.mover.backend;
  MeasuredMethod how{.backend = backend, .grain = request.grain, .launch = wish.launch, .dma = wish.mover.dma};
  if (backend == Backend::dma) {
    how.method.algorithm = wish.algorithm.value_or(default_algorithm(call, backend, request.cluster));
  } else {
    how.method = choose_method(call, request.cluster, {wish.algorithm, wish.protocol, request.channels});
  }
  return how;
}

std::vector<Row> measure(const CollectiveRequest& request, bool quiet) {
  std::vector<Row> rows;
  ProgressLine progress(quiet);
  const std::vector<Wish> wishes = wishes_of(request);
  for (const Wish& wish : wishes) {
    for (const Bytes size : request.sizes) {
      CollectiveCall call = request.call;
      call.bytes = size;
      set_current_work(
          fmt::format("{} of {:g} MB on {} GPUs", name_of(call.kind), size / 1.0_MB, request.cluster.ranks()));
      const MeasuredMethod how = method_of(wish, call, request);
      const auto measured = measure_collective(request.cluster, call, how);
      rows.push_back({std::move(call), how, measured});
      progress(rows.size(), request.sizes.size() * wishes.size());
    }
  }
  return rows;
}

/// Copy engines have none of the two.
std::string protocol_of(const Row& row) {
  return row.how.backend == Backend::cu ? std::string(name_of(row.how.method.protocol)) : "none";
}
std::string launch_of(const Row& row) {
  return row.how.backend == Backend::cu ? std::string(name_of(row.how.launch)) : "none";
}

/// "bcst+pl": broadcast commands, prelaunched.
std::string variant_of(const Row& row) {
  if (row.how.backend != Backend::dma) return "-";
  return fmt::format("{}{}", name_of(row.how.dma.variant), row.how.dma.prelaunch ? "+pl" : "");
}

double gbps(BytesPerSecond rate) { return rate.value / 1e9; }

/// Null for one node.
Json fabric_of(const ClusterSpec& cluster) {
  if (cluster.nodes == 1) return nullptr;
  return cluster.fabric->name;
}

void print_json(const CollectiveRequest& request, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json entry{{"backend", name_of(row.how.backend)},
               {"bytes", counted_bytes(row.call, request.members).value},
               {"count", request.count(row.call)},
               {"dtype", name_of(*row.call.dtype)},
               {"algorithm", name_of(row.how.method.algorithm)},
               {"protocol", protocol_of(row)},
               {"launch", launch_of(row)},
               {"channels", row.measured.channels},
               {"time_us", row.measured.time.value * 1e6},
               {"algbw_gbps", gbps(algorithm_bandwidth(row.call, request.members, row.measured.time))},
               {"busbw_gbps", gbps(bus_bandwidth(row.call, request.members, row.measured.time))},
               {"bottleneck", row.measured.limit}};
    if (row.how.backend == Backend::dma)
      entry.update({{"dma_variant", name_of(row.how.dma.variant)},
                    {"prelaunch", row.how.dma.prelaunch},
                    {"dma_host", name_of(row.how.dma.host)}});
    list.push_back(std::move(entry));
  }
  const Json document{{"schema_version", kJsonSchemaVersion},
                      {"system", request.cluster.name},
                      {"nodes", request.cluster.nodes},
                      {"fabric", fabric_of(request.cluster)},
                      {"op", name_of(request.call.kind)},
                      {"ranks", request.members},
                      {"rows", list}};
  fmt::print("{}\n", document.dump(2));
}

void print_table(const CollectiveRequest& request, const std::vector<Row>& rows) {
  const CollectiveKind kind = request.call.kind;
  const bool rooted = is_rooted(kind);
  TextTable table({"backend", "size [B]", "count", "type", "redop", "root", "algo", "variant", "proto",
                   "launch", "channels", "time [us]", "algbw [GB/s]", "busbw [GB/s]", "limit"});
  double sum = 0.0;
  for (const Row& row : rows) {
    const double busbw = gbps(bus_bandwidth(row.call, request.members, row.measured.time));
    sum += busbw;
    table.add({std::string(name_of(row.how.backend)),
               fmt::format("{:.0f}", counted_bytes(row.call, request.members).value),
               fmt::format("{:.0f}", request.count(row.call)), std::string(name_of(*row.call.dtype)),
               reduces(kind) ? "sum" : "none", rooted ? std::to_string(row.call.root) : "-1",
               std::string(name_of(row.how.method.algorithm)), variant_of(row), protocol_of(row),
               launch_of(row), std::to_string(row.measured.channels),
               fmt::format("{:.2f}", row.measured.time.value * 1e6),
               fmt::format("{:.2f}", gbps(algorithm_bandwidth(row.call, request.members, row.measured.time))),
               fmt::format("{:.2f}", busbw), row.measured.limit});
  }
  fmt::print("{} on {}, {} ranks\n\n{}", name_of(kind), title_of(request.cluster), request.members,
             table.text());
  fmt::print("average busbw: {:.2f} GB/s\n", sum / static_cast<double>(rows.size()));
  fmt::print(
      "1 GB/s = 1e9 B/s; busbw as nccl-tests defines it. limit: the resource that is full while bytes move;\n"
      "latency where they move for less than half of the time.\n");
}

int run_collective(const CollectiveOptions& options) {
  install_interrupt_handler();
  const CollectiveRequest request(options);
  if (!options.quiet) print_notes(notes_on(options, request));
  const std::vector<Row> rows = measure(request, options.quiet);
  options.json ? print_json(request, rows) : print_table(request, rows);
  return kExitOk;
}

/// What --algo takes, in lines that fit beside the option's name.
std::string offered_algorithms() {
  constexpr std::size_t kWidth = 66;
  std::string text = "auto";
  std::size_t line = text.size();
  for (const Algorithm algorithm : kAlgorithms) {
    const std::string_view name = name_of(algorithm);
    const bool fits = line + 2 + name.size() <= kWidth;
    text += fits ? ", " : ",\n";
    text += name;
    line = fits ? line + 2 + name.size() : name.size();
  }
  return text;
}

void add_options(Command& verb, CollectiveOptions& options) {
  verb.add_option("OP", options.op, "What to time").required().one_of(offered_collectives());
  verb.add_option("--system", options.system, "Node preset").required().type_name("SYSTEM");
  verb.add_option("--nodes", options.nodes, "Nodes of it (default: 1)").in_range(1, 131'072).type_name("N");
  verb.add_option("--fabric", options.fabric, "What joins the nodes (default: the node preset's)")
      .type_name("FABRIC");
  verb.add_option("--set", options.sets,
                  "Override a key of gpu, node, library or fabric, as in library.channels=16")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--backend", options.backends, "cu: channels on compute units; dma: copy engines")
      .comma_separated()
      .show_default();
  verb.add_option("--dma-variant", options.dma_variants,
                  "Of copy engines: pcpy, a copy a peer; bcst, broadcast commands; swap, exchange commands;\n"
                  "b2b, all on one engine (default: pcpy)")
      .comma_separated();
  verb.add_flag("--prelaunch", options.prelaunch,
                "Commands of copy engines are queued ahead and wait for a trigger");
  verb.add_option("--dma-host", options.dma_host,
                  "Host threads of copy engines: one a gpu or one a node (default: gpu)");
  verb.add_option("--algo", options.algorithms, offered_algorithms()).comma_separated().show_default();
  verb.add_option("--proto", options.protocols, "auto, ll, ll128, simple").comma_separated().show_default();
  verb.add_option("--launch", options.launches,
                  "graph: replayed; eager: a process for each GPU; one_process: one for all of a node")
      .comma_separated()
      .show_default();
  verb.add_option("--channels", options.channels, "Most channels (default: as many as the library takes)")
      .in_range(1, 1024);
  verb.add_option("--min-channels", options.min_channels,
                  "Least channels, however little there is to move, and more than the library has")
      .in_range(1, 1024);
  verb.add_option("--min", options.smallest, "Smallest size").type_name("SIZE").show_default();
  verb.add_option("--max", options.largest, "Largest size").type_name("SIZE").show_default();
  verb.add_option("--factor", options.factor, "From one size to the next").in_range(1.001, 1e6).show_default();
  verb.add_option("--dtype", options.dtype, "Element type: fp32, bf16, fp16, fp8").show_default();
  verb.add_option("--ranks", options.ranks, "Group, as in 0-3,6 (default: all)").type_name("RANKS");
  verb.add_option("--root", options.root, "Rank that broadcasts, or collects a reduce").show_default();
  verb.add_option("--grain", options.grain,
                  "step: every chunk a flow; edge; gang: one flow; auto: the finest that is fast")
      .one_of({"auto", "step", "edge", "gang"})
      .show_default();
  verb.add_flag("--json", options.json, "As one JSON object");
}

}  // namespace

void add_collective_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<CollectiveOptions>();
  Command& verb = app.add_command("collective", "Time one collective at many sizes, as nccl-tests prints it");
  add_options(verb, *options);
  verb.set_footer(
      "Sizes are total buffers as nccl-tests counts them; for all_gather, reduce_scatter and all_to_all the "
      "sum\n"
      "over ranks. Times are of one of many launched back to back.\n\n"
      "Examples:\n"
      "  c3sim collective all_reduce --system mi300x-8 --min \"1 MiB\"\n"
      "  c3sim collective all_gather --system h100-sxm-8 --backend cu,dma --algo auto --min \"64 MiB\" --json\n"
      "  c3sim collective all_reduce --system h100-sxm-8 --nodes 4 --fabric ib-hdr --min \"1 MiB\"\n"
      "  c3sim collective all_gather --system mi300x-8 --backend dma --dma-variant pcpy,bcst,b2b --prelaunch");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return run_collective(*options); };
  });
}

}  // namespace c3::app
