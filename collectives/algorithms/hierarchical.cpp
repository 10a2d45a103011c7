// Direct within nodes, rings between GPUs of a rail. No algorithm of NCCL.

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/hierarchy.hpp"

namespace c3 { inline namespace collectives {
namespace {

TransferGraph graph(const GraphRequest& request) { return hierarchy(request, BetweenNodes::ring); }

bool is_alike(CollectiveKind, const GroupShape&, const NodeSpec&) { return true; }

}  // namespace

extern constexpr AlgorithmEntry kHierarchical = {
    .name = "hierarchical", .supports = goes_in_parts, .graph = graph, .is_symmetric = is_alike};

}}  // namespace c3::collectives
