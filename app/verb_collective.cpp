/// c3sim collective: one collective at many sizes, as nccl-tests prints it.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/exit_code.hpp"
#include "app/progress_line.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "collectives/measure.hpp"
#include "configs/experiment_reader.hpp"
#include "configs/nearest_name.hpp"
#include "configs/quantity_text.hpp"
#include "engine/interrupt.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 {
namespace {

constexpr std::array kBackends = {Backend::cu, Backend::dma};
constexpr std::array kDTypes = {DType::fp32, DType::bf16, DType::fp16, DType::fp8};
constexpr std::string_view kAuto = "auto";
constexpr std::size_t kMostRows = 10'000;
constexpr int kMostRanks = 4096;

struct Options {
  std::string op;
  std::string system;
  std::vector<std::string> sets;
  std::vector<std::string> backends = {"cu"};
  std::vector<std::string> algorithms = {std::string(kAuto)};
  std::string dtype = "fp32";
  std::string smallest = "8 B", largest = "8 GiB";
  double factor = 2.0;
  std::string ranks;  ///< empty: all
  int root = 0;
  std::string grain = "edge";
  bool json = false;
  bool quiet = false;
};

struct Row {
  CollectiveCall call;
  Backend backend;
  Algorithm algorithm;
  CollectiveMeasurement measured;
};

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto value : values)
    names.emplace_back(name_of(value));
  return names;
}

/// All but all_to_all_v, which needs a size for each pair: that is an experiment's business.
std::vector<CollectiveKind> offered_kinds() {
  std::vector<CollectiveKind> kinds(kCollectiveKinds.begin(), kCollectiveKinds.end());
  std::erase(kinds, CollectiveKind::all_to_all_v);
  return kinds;
}

/// The value that \p written names.
template <class Values>
auto value_of(std::string_view what, const std::string& written, const Values& values) {
  const auto found = std::ranges::find(values, written, [](auto value) { return name_of(value); });
  if (found == values.end()) throw UsageError(unknown_name(what, written, names_of(values)));
  return *found;
}

CollectiveGrain grain_of(const std::string& name) {
  if (name == "step") return CollectiveGrain::step;
  return name == "gang" ? CollectiveGrain::gang : CollectiveGrain::edge;
}

double size_of(const std::string& option, const std::string& text) {
  try {
    const double bytes = parse_quantity(text, Dimension::bytes);
    if (bytes >= 1.0) return bytes;
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
  throw UsageError(fmt::format("{}: must be at least 1 B, not {}", option, text));
}

int rank_of(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error == std::errc() && end == text.data() + text.size() && rank >= 0) return rank;
  throw UsageError(fmt::format("--ranks: '{}' is no rank; expected ranks and ranges, as in 0-3,6", text));
}

/// "0-3,6" is {0, 1, 2, 3, 6}.
std::vector<int> ranks_of(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t dash = part.find('-');
    const int first = rank_of(part.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : rank_of(part.substr(dash + 1));
    if (last < first || last - first > kMostRanks)
      throw UsageError(fmt::format("--ranks: no range '{}'", part));
    for (int rank = first; rank <= last; ++rank)
      ranks.push_back(rank);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return ranks;
}

/// Whether nccl-tests' element count is one rank's shard.
bool counts_shards(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

/// What nccl-tests makes of a size: whole elements, the same number on every rank.
class Sizes {
 public:
  Sizes(const Options& options, CollectiveKind kind, DType dtype, int members)
      : unit_(element_size(dtype).value * (counts_shards(kind) ? members : 1)) {
    if (kind == CollectiveKind::barrier) {
      sizes_ = {0.0};
      return;
    }
    const double last = size_of("--max", options.largest);
    double size = size_of("--min", options.smallest);
    if (size > last) throw UsageError("--min must not be above --max");
    for (; size <= last * (1 + 1e-12); size *= options.factor) {
      const double rounded = std::floor(size / unit_) * unit_;
      if (rounded > 0.0 && (sizes_.empty() || rounded > sizes_.back())) sizes_.push_back(rounded);
      if (sizes_.size() > kMostRows) throw UsageError("--factor: too many sizes");
    }
    if (sizes_.empty()) throw UsageError("--max: no size holds an element for every rank");
  }

  const std::vector<double>& sizes() const { return sizes_; }
  double count(double size) const { return size / unit_; }

 private:
  double unit_;  ///< bytes of one counted element
  std::vector<double> sizes_;
};

/// Everything the options say, read and checked.
struct Request {
  explicit Request(const Options& options)
      : cluster(load_cluster(options.system, options.sets)), grain(grain_of(options.grain)) {
    call.kind = value_of("collective", options.op, offered_kinds());
    call.dtype = value_of("data type", options.dtype, kDTypes);
    call.ranks = ranks_of(options.ranks);
    call.root = options.root;
    members = call.ranks.empty() ? cluster.node.gpus : static_cast<int>(call.ranks.size());
    for (const std::string& name : options.backends)
      backends.push_back(value_of("backend", name, kBackends));
    for (const std::string& name : options.algorithms)
      algorithms.push_back(name == kAuto ? std::nullopt
                                         : std::optional(value_of("algorithm", name, kAlgorithms)));
  }

  ClusterSpec cluster;
  CollectiveGrain grain;
  CollectiveCall call;  ///< without a size
  int members = 0;
  std::vector<Backend> backends;
  std::vector<std::optional<Algorithm>> algorithms;  ///< nullopt: what the backend runs by default
};

std::vector<Row> measure(const Request& request, const std::vector<double>& sizes, bool quiet) {
  std::vector<Row> rows;
  ProgressLine progress(quiet);
  const std::size_t total = sizes.size() * request.backends.size() * request.algorithms.size();
  for (const Backend backend : request.backends) {
    for (const std::optional<Algorithm>& asked : request.algorithms) {
      for (const double size : sizes) {
        CollectiveCall call = request.call;
        call.bytes = Bytes{size};
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

void print_json(const Request& request, const Sizes& sizes, const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"backend", name_of(row.backend)},
                    {"bytes", counted_bytes(row.call, request.members).value},
                    {"count", sizes.count(row.call.bytes.value)},
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

void print_table(const Request& request, const Sizes& sizes, const std::vector<Row>& rows) {
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
               fmt::format("{:.0f}", sizes.count(row.call.bytes.value)), std::string(name_of(*row.call.dtype)),
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

int run_collective(const Options& options) {
  install_interrupt_handler();
  const Request request(options);
  const Sizes sizes(options, request.call.kind, *request.call.dtype, request.members);
  const std::vector<Row> rows = measure(request, sizes.sizes(), options.quiet);
  options.json ? print_json(request, sizes, rows) : print_table(request, sizes, rows);
  return kExitOk;
}

void add_options(CLI::App& verb, Options& options) {
  verb.add_option("OP", options.op, "What to time")
      ->required()
      ->check(CLI::IsMember(names_of(offered_kinds())));
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
  const auto options = std::make_shared<Options>();
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
