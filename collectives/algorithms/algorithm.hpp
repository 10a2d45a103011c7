#pragma once
/// How a collective uses the links: the algorithms that there are, and their graphs.

#include <span>
#include <string_view>
#include <vector>

#include "base/table_entry.hpp"
#include "collectives/call.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"
#include "collectives/turning_ring.hpp"

namespace c3 { inline namespace collectives {

struct AlgorithmEntry;
extern const AlgorithmEntry kDirect, kRing, kTree, kNvls, kNvlsTree, kHierarchical, kCollnet, kHalvingDoubling,
    kPat, kSymmetric, kSymmetricNvls, kSymmetricGather;

/// One algorithm. Those that code asks for by name are
/// listed here; what is in the table (kAlgorithms) needs no name.
class Algorithm : public TableEntry<AlgorithmEntry> {
 public:
  using TableEntry::TableEntry;

  static const Algorithm direct;            ///< every pair of ranks by itself, all at once
  static const Algorithm ring;              ///< along as many rings as links and NICs allow; a chain for a root
  static const Algorithm tree;              ///< chains within nodes, two binary trees between them
  static const Algorithm nvls;              ///< the node's switch adds and multicasts (NVLink SHARP)
  static const Algorithm nvls_tree;         ///< nvls within nodes, two binary trees between GPUs of a rail
  static const Algorithm hierarchical;      ///< direct within nodes, rings between GPUs of a rail
  static const Algorithm collnet;           ///< direct within nodes, the fabric's switches add between them
  static const Algorithm halving_doubling;  ///< partners at doubling distances exchange halves of halves
  static const Algorithm pat;               ///< a binomial tree from every rank, sent together (NCCL's PAT)
  static const Algorithm symmetric;         ///< direct, on registered buffers of a node
  static const Algorithm symmetric_nvls;    ///< nvls, on registered buffers
  static const Algorithm symmetric_gather;  ///< every rank's whole buffer to every other, likewise
};

inline constexpr Algorithm Algorithm::direct{kDirect};
inline constexpr Algorithm Algorithm::ring{kRing};
inline constexpr Algorithm Algorithm::tree{kTree};
inline constexpr Algorithm Algorithm::nvls{kNvls};
inline constexpr Algorithm Algorithm::nvls_tree{kNvlsTree};
inline constexpr Algorithm Algorithm::hierarchical{kHierarchical};
inline constexpr Algorithm Algorithm::collnet{kCollnet};
inline constexpr Algorithm Algorithm::halving_doubling{kHalvingDoubling};
inline constexpr Algorithm Algorithm::pat{kPat};
inline constexpr Algorithm Algorithm::symmetric{kSymmetric};
inline constexpr Algorithm Algorithm::symmetric_nvls{kSymmetricNvls};
inline constexpr Algorithm Algorithm::symmetric_gather{kSymmetricGather};

/// All algorithms that configuration and command offer and the tuner tries, in this order (table.cpp).
extern const std::span<const Algorithm> kAlgorithms;

std::string_view name_of(Algorithm algorithm);

/// Whether \p algorithm can run \p kind at all.
bool supports(Algorithm algorithm, CollectiveKind kind);

/// Whether every rank of \p cluster does the same at the same time, so that one may stand for all (where they
/// see the same links, too). In groups: where each is within a node, or has one GPU of every so many nodes.
/// \throws InfeasibleError as members_of for groups
bool is_symmetric(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster);

/// The transfers of \p call; the algorithm's file says which, `collectives/README.md` has bytes and sources.
/// \throws InfeasibleError when \p algorithm cannot run the call on \p cluster, or the graph is too large for
/// memory, and see members_of; std::logic_error when what is not symmetric is to be folded.
TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster,
                                  const GraphForm& form = {});

/// The rings that make_transfer_graph writes out transfer by transfer; none where \p algorithm is no ring or
/// the call has a root. \throws InfeasibleError as members_of.
std::vector<TurningRing> turning_rings(const CollectiveCall& call, Algorithm algorithm,
                                       const ClusterSpec& cluster, const GraphForm& form = {});

}}  // namespace c3::collectives
