// Direct within nodes, the fabric's switches add between them (SHARP).

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/hierarchy.hpp"

namespace c3::inline collectives {
namespace {

TransferGraph graph(const GraphRequest& request) { return hierarchy(request, BetweenNodes::fabric); }

bool supports(CollectiveKind kind) { return kind == CollectiveKind::all_reduce; }

bool is_alike(CollectiveKind, const GroupShape&, const NodeSpec&) { return true; }

}  // namespace

extern constexpr AlgorithmEntry kCollnet = {
    .name = "collnet", .supports = supports, .graph = graph, .is_symmetric = is_alike};

}  // namespace c3::collectives
