#include "collectives/library/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithms/entry.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/published_figures.hpp"
#include "collectives/library/rccl_rules.hpp"
#include "collectives/library/symmetric_kernels.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr Bytes kMostOfPairInLl{16.0 * 1024.0};

bool is_rccl(const PublishedFigures& figures) { return figures.library.rules == TunerRules::rccl; }

/// NCCL has ll128 on Blackwell since 2.25 (src/graph/tuning.cc). Where GPUs reach their NICs through an ARM
/// host it has ll128 only since 2.27.3; with a switch between them it always has. Configurations do not say
/// which, so we assume the switch.
bool nccl_offers(const PublishedFigures& figures, Protocol protocol) {
  const bool is_blackwell = figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
  return protocol != Protocol::ll128 || !is_blackwell || figures.since(25);
}

bool has_protocol(const PublishedFigures& figures, Protocol protocol) {
  return offers(figures.library, protocol) && figures.passes(protocol) &&
         (is_rccl(figures) ? rccl_offers(figures, protocol) : nccl_offers(figures, protocol));
}

/// NCCL from 2.24 on, and RCCL from 2.26 on, put rings of fp8 over more than eight ranks last, for each rank
/// rounds sums once more (enqueue.cc, updateCollCostTable); rings that only gather are not told apart.
double preference(const PublishedFigures& figures, Algorithm algorithm) {
  constexpr double kLast = 1024.0;
  const bool rounds_often = algorithm == Algorithm::ring && figures.ranks > 8 && figures.since(24) &&
                            figures.call.dtype == DType::fp8;
  return rounds_often ? kLast : 1.0;
}

std::optional<Seconds> time_of(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) {
  const bool has_formula = figures.library.tuner_bandwidth.value > 0.0 && algorithm->expected_time != nullptr;
  const bool can_run = supports(algorithm, figures.call.kind) && has_protocol(figures, protocol);
  return has_formula && can_run ? algorithm->expected_time(figures, protocol) : std::nullopt;
}

/// A plug-in's own tuner: a tree with flags up to a size, between nodes whose switches reduce.
bool is_set_by_plugin(const PublishedFigures& figures) {
  const ClusterSpec& cluster = figures.cluster;
  return figures.reduces_to_all() && figures.nodes > 1 && cluster.fabric && cluster.node.switch_reduces &&
         figures.library.ll128 && figures.call.bytes <= cluster.fabric->transport.tree_until;
}

/// What a rank keeps is sent to nobody.
Bytes largest_send(const PublishedFigures& figures) {
  Bytes largest;
  const std::vector<Bytes>& sends = figures.call.sends;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const bool is_own = i % (static_cast<std::size_t>(figures.ranks) + 1) == 0;
    if (!is_own) largest = std::max(largest, sends[i]);
  }
  return largest;
}

/// The protocol of what goes in pairs.
Protocol protocol_of_pairs(const PublishedFigures& figures) {
  const CollectiveCall& call = figures.call;
  const bool whole = call.kind == CollectiveKind::send_receive || call.kind == CollectiveKind::broadcast ||
                     call.kind == CollectiveKind::reduce;
  const Bytes of_pair = call.kind == CollectiveKind::all_to_all_v ? largest_send(figures)
                                                                  : call.bytes / (whole ? 1.0 : figures.ranks);
  const bool flags = of_pair <= kMostOfPairInLl && figures.library.ll && figures.passes(Protocol::ll);
  return flags ? Protocol::ll : Protocol::simple;
}

bool may_choose(const CollectiveLibrarySpec& library, CollectiveKind kind, Algorithm algorithm) {
  const MethodPermits& permits = library.permits;
  if (sends_in_pairs(kind)) return true;
  const bool in_switch = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree ||
                         algorithm == Algorithm::symmetric_nvls;
  if (!permits.nvls && in_switch) return false;
  if (!permits.collnet && algorithm == Algorithm::collnet) return false;
  return permits.algorithms.allow(kind, name_of(algorithm));
}

bool may_choose(const CollectiveLibrarySpec& library, CollectiveKind kind, Protocol protocol) {
  return sends_in_pairs(kind) || library.permits.protocols.allow(kind, name_of(protocol));
}

bool may_choose(const CollectiveLibrarySpec& library, CollectiveKind kind, Algorithm algorithm,
                Protocol protocol) {
  return may_choose(library, kind, algorithm) && may_choose(library, kind, protocol);
}

/// What a user wishes must be there and permitted.
void refuse_what_is_not_there(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (wish.protocol && !offers(library, *wish.protocol))
    throw InfeasibleError(fmt::format("'{}' has no protocol {}", library.name, name_of(*wish.protocol)));
  if (wish.protocol && !may_choose(library, call.kind, *wish.protocol)) {
    throw InfeasibleError(fmt::format("protocol {} is asked for, but library.protocols excludes it for {}",
                                      name_of(*wish.protocol), name_of(call.kind)));
  }
  if (wish.algorithm && !may_choose(library, call.kind, *wish.algorithm)) {
    throw InfeasibleError(
        fmt::format("algorithm {} is asked for, but library.algorithms, nvls or collnet excludes it for {}",
                    name_of(*wish.algorithm), name_of(call.kind)));
  }
}

/// The wished one, or without a formula the library's default; where that is not permitted the first that is.
Algorithm usual_algorithm(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  if (wish.algorithm) return *wish.algorithm;
  const Algorithm usual = default_algorithm(call, Backend::cu, cluster);
  if (may_choose(cluster.library, call.kind, usual)) return usual;
  for (const Algorithm algorithm : kAlgorithms) {
    if (supports(algorithm, call.kind) && may_choose(cluster.library, call.kind, algorithm)) return algorithm;
  }
  throw InfeasibleError(fmt::format("library.algorithms leaves no algorithm for {}", name_of(call.kind)));
}

/// The protocol where the library has no formula.
Protocol usual_protocol(const PublishedFigures& figures, Algorithm algorithm) {
  const Protocol usual = algorithm == Algorithm::direct ? protocol_of_pairs(figures) : Protocol::simple;
  for (const Protocol protocol : {usual, Protocol::simple, Protocol::ll128, Protocol::ll}) {
    if (has_protocol(figures, protocol) && may_choose(figures.library, figures.call.kind, protocol))
      return protocol;
  }
  throw InfeasibleError(fmt::format("library.protocols leaves no protocol for {}", name_of(figures.call.kind)));
}

struct TimedMethod {
  CollectiveMethod method;
  Seconds time;  ///< time that the library expects
};

/// Methods in the order of the tables: when two take equally long, the library takes the first.
std::vector<TimedMethod> timed_methods(const PublishedFigures& figures, const MethodWish& wish) {
  const CollectiveCall& call = figures.call;
  const bool by_formula = figures.library.rules == TunerRules::nccl || figures.reduces_to_all();
  const std::optional<Algorithm> only =
      by_formula ? wish.algorithm : std::optional(usual_algorithm(call, figures.cluster, wish));
  const auto allows = [&](Algorithm algorithm, Protocol protocol) {
    const bool unasked = algorithm->channels.use == ChannelUse::windows && !only;  // see symmetric_method
    return !unasked && only.value_or(algorithm) == algorithm && wish.protocol.value_or(protocol) == protocol &&
           may_choose(figures.library, call.kind, algorithm, protocol);
  };
  std::vector<TimedMethod> methods;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols) {
      if (!allows(algorithm, protocol)) continue;
      if (const std::optional<Seconds> time = time_of(figures, algorithm, protocol))
        methods.push_back({{algorithm, protocol, wish.channels}, *time * preference(figures, algorithm)});
    }
  }
  return methods;
}

/// What is set before any formula is asked.
std::optional<CollectiveMethod> set_method(const PublishedFigures& figures, const MethodWish& wish) {
  const CollectiveKind kind = figures.call.kind;
  if (wish.algorithm || wish.protocol) return std::nullopt;
  if (is_set_by_plugin(figures) && may_choose(figures.library, kind, Algorithm::tree, Protocol::ll128))
    return CollectiveMethod{Algorithm::tree, Protocol::ll128, wish.channels};
  if (is_rccl(figures) && gathers_in_pairs(figures) && may_choose(figures.library, kind, Algorithm::direct))
    return CollectiveMethod{Algorithm::direct, protocol_of_pairs(figures), wish.channels};
  return std::nullopt;
}

CollectiveMethod method_by_formula(const PublishedFigures& figures, const MethodWish& wish) {
  const std::vector<TimedMethod> timed = timed_methods(figures, wish);
  if (!timed.empty()) return std::ranges::min_element(timed, {}, &TimedMethod::time)->method;
  const Algorithm usual = usual_algorithm(figures.call, figures.cluster, wish);
  return {usual, wish.protocol ? *wish.protocol : usual_protocol(figures, usual), wish.channels};
}

/// The method for buffers that are not registered.
CollectiveMethod usual_method(const PublishedFigures& figures, const MethodWish& wish) {
  if (const std::optional<CollectiveMethod> set = set_method(figures, wish)) return *set;
  const CollectiveMethod method = method_by_formula(figures, wish);
  return is_rccl(figures) ? rccl_method(figures, method, wish) : method;
}

}  // namespace

std::optional<Seconds> expected_time(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                     const ClusterSpec& cluster) {
  return time_of(PublishedFigures(call, cluster), algorithm, protocol);
}

std::vector<CollectiveMethod> offered_methods(const CollectiveCall& call, const ClusterSpec& cluster,
                                              const MethodWish& wish) {
  const PublishedFigures figures(call, cluster);
  std::vector<CollectiveMethod> methods;
  for (const TimedMethod& timed : timed_methods(figures, wish))
    methods.push_back(timed.method);
  return methods;
}

CollectiveMethod choose_method(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  refuse_what_is_not_there(call, cluster, wish);
  const PublishedFigures figures(call, cluster);
  const CollectiveMethod usual = usual_method(figures, wish);
  if (wish.algorithm || wish.protocol) return usual;
  const std::optional<CollectiveMethod> symmetric = symmetric_method(figures, usual);
  const bool permits =
      symmetric && may_choose(cluster.library, call.kind, symmetric->algorithm, symmetric->protocol);
  return permits ? *symmetric : usual;
}

Backend choose_backend(const CollectiveCall& call, const ClusterSpec& cluster, const MethodWish& wish) {
  if (wish.algorithm || wish.protocol || !cluster.library.registered_buffers) return Backend::cu;
  return gathers_by_engines(PublishedFigures(call, cluster)) ? Backend::dma : Backend::cu;
}

}}  // namespace c3::collectives
