#include "app/collective/collective_request.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/quantity_text.hpp"
#include "configs/toml/rank_list.hpp"
#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::array kTableBackends = {Backend::cu, Backend::dma};
constexpr std::array kDTypes = {DType::fp32, DType::bf16, DType::fp16, DType::fp8};
constexpr std::string_view kAuto = "auto";
constexpr std::size_t kMostRows = 10'000;

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const auto value : values)
    names.emplace_back(name_of(value));
  return names;
}

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
  if (name == "edge") return CollectiveGrain::edge;
  return name == "gang" ? CollectiveGrain::gang : CollectiveGrain::automatic;
}

/// "64", "8K", "1G": bytes as nccl-tests means them, with binary prefixes. Absent when \p text is not so.
std::optional<double> nccl_size(std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  double unit = 1.0;
  if (!text.empty()) {
    const auto prefix =
        kPrefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (prefix != std::string_view::npos) {
      unit = std::exp2(10.0 * static_cast<double>(prefix + 1));
      text.remove_suffix(1);
    }
  }
  const auto number = number_in(text);
  return number ? std::optional(*number * unit) : std::nullopt;
}

double size_of(const std::string& option, const std::string& text) {
  try {
    const auto short_size = nccl_size(text);
    const double bytes = short_size ? *short_size : parse_quantity(text, Dimension::bytes);
    if (bytes >= 1.0) return bytes;
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
  throw UsageError(fmt::format("{}: must be at least 1 B, not {}", option, text));
}

std::vector<int> ranks_of(const std::string& text) {
  if (text.empty()) return {};
  try {
    return parse_ranks(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--ranks: {}", error.what()));
  }
}

CollectiveKind kind_of(const std::string& written) {
  const auto kind = collective_named(written);
  const auto offered = offered_kinds();
  if (kind && std::ranges::find(offered, *kind) != offered.end()) return *kind;
  throw UsageError(unknown_name("collective", written, names_of(offered)));
}

/// Whether nccl-tests' element count is one rank's shard.
bool counts_shards(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

/// Bytes of one counted element: of one rank's, or of a shard on every rank.
Bytes counted_unit(const CollectiveCall& call, int members) {
  return element_size(*call.dtype) * (counts_shards(call.kind) ? members : 1.0);
}

/// Calls of growing size, each a whole number of counted elements.
std::vector<CollectiveCall> calls_of(CollectiveCall call, const CollectiveOptions& options, int members) {
  if (call.kind == CollectiveKind::barrier) return {call};
  const Bytes unit = counted_unit(call, members);
  const double last = size_of("--max", options.largest);
  double size = size_of("--min", options.smallest);
  if (size > last) throw UsageError("--min must not be above --max");
  if (!(options.factor > 1.0)) throw UsageError("--factor: must be above 1");  // CLI11 lets NaN pass
  std::vector<CollectiveCall> calls;
  for (; size <= last * (1 + 1e-12); size *= options.factor) {
    call.bytes = unit * std::floor(size / unit.value);
    if (call.bytes.value > 0.0 && (calls.empty() || call.bytes > calls.back().bytes)) calls.push_back(call);
    if (calls.size() > kMostRows) throw UsageError("--factor: too many sizes");
  }
  if (calls.empty()) throw UsageError("--max: no size holds an element for every rank");
  return calls;
}

std::vector<CollectiveCall> calls_of(CollectiveCall call, const CollectiveTable& table) {
  std::vector<CollectiveCall> calls;
  for (const MeasuredCollective& row : table.rows) {
    call.bytes = row.bytes;
    calls.push_back(call);
    if (row.dtype) calls.back().dtype = row.dtype;
    calls.back().in_place = call.kind == CollectiveKind::all_gather && row.is_in_place();
  }
  return calls;
}

std::optional<TableFile> table_file(const CollectiveOptions& options) {
  if (options.table.empty()) {
    if (options.op.empty()) throw UsageError("OP is required: what to time, unless --table says it");
    return std::nullopt;
  }
  const auto kind = options.op.empty() ? std::nullopt : std::optional(kind_of(options.op));
  const auto ranks = options.ranks.empty() ? std::nullopt : std::optional(ranks_of(options.ranks).size());
  return choose_measured(options.table, kind, ranks);
}

/// What is timed: as the table says, or an option, or a log whose calls are all of one kind.
CollectiveKind kind_of(const CollectiveOptions& options, const std::optional<TableFile>& file) {
  if (file && file->measured) return file->measured->table.kind;
  if (!options.op.empty()) return kind_of(options.op);
  std::vector<std::string> kinds;
  for (const LoggedChoice& choice : file->log.choices) {
    const std::string name(choice.kind ? name_of(*choice.kind) : "");
    if (!name.empty() && std::ranges::find(kinds, name) == kinds.end()) kinds.push_back(name);
  }
  if (kinds.size() == 1) return kind_of(kinds.front());
  throw UsageError(fmt::format("OP is required: --table {} has no times, and {}", options.table,
                               kinds.empty() ? "does not say which collectives ran"
                                             : fmt::format("calls of {}", fmt::join(kinds, ", "))));
}

/// One for each size that \p log has of the collective; none where it has none.
std::vector<CollectiveCall> calls_of(CollectiveCall call, const LibraryLog& log) {
  std::set<double> sizes;
  for (const LoggedChoice& choice : log.choices)
    if (choice.kind == call.kind) sizes.insert(choice.bytes.value);
  if (sizes.size() > kMostRows) throw UsageError("--table: has calls of too many sizes");
  std::vector<CollectiveCall> calls;
  for (const double size : sizes) {
    call.bytes = Bytes{size};
    calls.push_back(call);
  }
  return calls;
}

/// Variables, each once, and none that an option says already.
std::vector<std::pair<std::string, std::string>> environment_of(const CollectiveOptions& options) {
  const CollectiveOptions usual;
  std::map<std::string, std::string> given;  // how, by variable
  if (options.algorithms != usual.algorithms) given["NCCL_ALGO"] = "--algo";
  if (options.protocols != usual.protocols) given["NCCL_PROTO"] = "--proto";
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& written : options.environment) {
    const std::size_t equals = written.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--env: expected NAME=VALUE, as in NCCL_ALGO=Ring, not '{}'", written));
    const std::string name = written.substr(0, equals);
    const auto [other, is_first] = given.try_emplace(name, "--env");
    if (!is_first) {
      const std::string twice =
          other->second == "--env" ? "is given twice" : "says the same as " + other->second;
      throw UsageError(fmt::format("--env: {} {}; leave one of them out", name, twice));
    }
    variables.emplace_back(name, written.substr(equals + 1));
  }
  return variables;
}

std::vector<DmaOptions> dma_options_of(const CollectiveOptions& options) {
  DmaOptions common;
  common.prelaunch = options.prelaunch;
  if (!options.dma_host.empty()) common.host = value_of("host", options.dma_host, kDmaHosts);
  if (options.dma_variants.empty()) return {common};
  std::vector<DmaOptions> all;
  for (const std::string& name : options.dma_variants) {
    all.push_back(common);
    all.back().variant = value_of("variant of copy engines", name, kDmaVariants);
  }
  return all;
}

std::vector<Mover> movers_of(const CollectiveOptions& options) {
  const std::vector<DmaOptions> dma = dma_options_of(options);
  std::vector<Mover> movers;
  bool has_engines = false;
  for (const std::string& name : options.backends) {
    const Backend backend = value_of("backend", name, kTableBackends);
    if (backend == Backend::cu) movers.push_back({backend, {}});
    if (backend != Backend::dma) continue;
    has_engines = true;
    for (const DmaOptions& way : dma)
      movers.push_back({backend, way});
  }
  const bool asked = options.prelaunch || !options.dma_variants.empty() || !options.dma_host.empty();
  if (asked && !has_engines)
    throw UsageError("--dma-variant, --prelaunch and --dma-host require --backend dma");
  const CollectiveOptions usual;
  const bool asked_of_channels = options.channels != usual.channels ||
                                 options.min_channels != usual.min_channels ||
                                 options.protocols != usual.protocols || options.launches != usual.launches;
  if (asked_of_channels && std::ranges::find(movers, Backend::cu, &Mover::backend) == movers.end())
    throw UsageError("--channels, --min-channels, --proto and --launch require --backend cu");
  return movers;
}

}  // namespace

CollectiveRequest::CollectiveRequest(const CollectiveOptions& options)
    : file(table_file(options)),
      logged(logged_setup(options, file, environment_of(options))),
      cluster(logged.cluster),
      grain(grain_of(options.grain)) {
  call.kind = kind_of(options, file);
  call.dtype = value_of("data type", options.dtype, kDTypes);
  const auto of_file = measured() != nullptr ? measured()->table.ranks : file ? file->log.ranks : std::nullopt;
  call.ranks = options.ranks.empty() ? c3::ranks_of(of_file, cluster) : ranks_of(options.ranks);
  call.root = options.root;
  call.in_place = options.in_place && call.kind == CollectiveKind::all_gather;
  if (options.root != 0 && !is_rooted(call.kind))
    throw UsageError(fmt::format("--root: {} has no root; broadcast, reduce, gather and scatter have one",
                                 name_of(call.kind)));
  members = member_count(call, cluster.ranks());
  movers = movers_of(options);
  for (const std::string& name : options.algorithms)
    algorithms.push_back(name == kAuto ? std::nullopt
                                       : std::optional(value_of("algorithm", name, kAlgorithms)));
  for (const std::string& name : options.protocols)
    protocols.push_back(name == kAuto ? std::nullopt : std::optional(value_of("protocol", name, kProtocols)));
  for (const std::string& name : options.launches)
    launches.push_back(value_of("launch path", name, kLaunchPaths));
  if (launches.empty()) launches = {logged.launch.value_or(file ? LaunchPath::eager : LaunchPath::graph)};
  channels = {options.min_channels, options.channels};
  if (channels.most > 0 && channels.least > channels.most)
    throw UsageError("--min-channels must not be above --channels");
  if (measured() != nullptr) {
    sized = calls_of(call, measured()->table);
  } else {
    if (file) sized = calls_of(call, file->log);
    if (sized.empty()) sized = calls_of(call, options, members);
  }
}

double CollectiveRequest::count(const CollectiveCall& sized_call) const {
  return sized_call.bytes / counted_unit(sized_call, members);
}

std::vector<std::string> offered_collectives() { return names_of(offered_kinds()); }

}}  // namespace c3::app
