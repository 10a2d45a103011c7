#pragma once
/// Links of all ranks in classes, of which one link is simulated for all.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/observer.hpp"
#include "interconnect/rank_partition.hpp"

namespace c3 { inline namespace interconnect {

/// Names edges of a collective that move alike, by which links are folded.
using EdgeSetId = std::uint32_t;

/// The two places between which an edge carries bytes.
enum class EdgeKind : std::uint8_t {
  route,        ///< one rank to another
  to_switch,    ///< a rank's port to its node's switch
  from_switch,  ///< back
  to_fabric,    ///< a rank's NICs to the fabric's switches
  from_fabric,  ///< back
  to_host,      ///< a rank to the memory of its host
  from_host,    ///< back
  within_host,  ///< what the host reads and writes there itself
};

struct Edge {
  EdgeKind kind = EdgeKind::route;
  int src = 0;
  int dst = 0;
  int lane = 0;
  double count = 1.0;  ///< how often it is there
};

/// Which links one may stand for.
enum class LinkFolding : std::uint8_t {
  mean,   ///< those that each call loads equally, over all lanes; a GPU's only one of its kind where the same
          ///< calls load it at all
  exact,  ///< those that every set of edges loads equally
};

/// Adds up what sets of edges load, and folds links of equal capacity that belong to GPUs of one class. Each
/// link of a class carries the load that a set puts on the whole class, divided by the number of its links.
/// With LinkFolding::exact this is exact where the edges of a set also cross equally many links of each class,
/// which is an equitable partition (Grohe, Kersting, Mladenov, Selman, ESA 2014); elsewhere edges progress as
/// their mean would. With LinkFolding::mean, lanes that take links of their own also count as one lane that
/// takes a part of all these links.
class FoldedLinks {
 public:
  struct Link {
    std::string name;
    int gpu = -1;  ///< rank; -1: none's own
    double capacity = 0.0;
    Counted counted = Counted::nothing;
    bool is_only_one = false;  ///< the GPU has one link of this kind, so its bytes have no other way
  };
  /// What an edge takes of one link, for each of its bytes.
  struct Use {
    std::uint32_t link = 0;
    double bytes = 0.0;         ///< > 0
    bool has_messages = false;  ///< a NIC, which each message holds, too
    bool operator==(const Use&) const = default;
  };
  /// What a set takes of one link of a class: uses that are equal, and how many.
  struct Share {
    std::uint32_t number = 0;  ///< number of the class
    double bytes = 0.0;        ///< for each byte of an edge
    bool has_messages = false;
    double uses = 0.0;  ///< uses by all edges together, divided by the links of the class
  };
  using UsesOf = std::function<void(const Edge& edge, std::vector<Use>& uses)>;

  /// \p ranks must outlive it.
  FoldedLinks(std::vector<Link> links, const RankPartition& ranks, LinkFolding folding, UsesOf uses_of);

  /// Edges that progress together, each with \p bytes. \throws std::logic_error after close()
  EdgeSetId add(std::vector<Edge> edges, double bytes);
  /// What was added since the last time is one call. \returns its number
  std::size_t end_call();
  /// No more edges come: folds the links. Afterwards nothing is asked of UsesOf, and again it does nothing.
  void close();
  std::size_t sets() const { return sets_.size(); }

  std::size_t classes() const { return first_of_.size(); }
  /// The first link of a class, which stands for the others.
  const Link& link(std::size_t number) const { return links_[first_of_[number]]; }
  /// The greatest spread, over their mean, of a call's loads on links of a class, or of what edges of a set
  /// take of links between switches, where these may limit the call: take at least half as long as its slowest.
  /// 0 where they are equal. After close().
  double inequity_of(std::size_t call) const { return inequities_[call]; }
  double inequity() const;  ///< the greatest of all calls
  /// How many of the class's links each GPU has of which it is the first; 1 for what no GPU owns.
  double links_of_each_gpu(std::size_t number) const;

  /// For each rank: a sum over the edges that it sends and receives. It is equal for ranks of a class whose
  /// edges belong to the same sets and cross links of the same classes. With LinkFolding::exact, after close().
  const std::vector<std::uint64_t>& traces_of_ranks() const { return traces_of_ranks_; }

  const std::vector<Share>& shares(EdgeSetId set) const { return sets_[set].shares; }
  /// What the first edge takes alone.
  const std::vector<Share>& alone(EdgeSetId set) const { return sets_[set].alone; }

 private:
  struct Set {
    std::vector<Edge> edges;  ///< until close()
    std::vector<Share> shares, alone;
    std::vector<std::pair<std::uint32_t, double>>
        spreads;  ///< indexed by class of links between switches, see inequity()
  };
  /// All that was added between two end_call().
  struct Call {
    std::vector<std::pair<std::uint32_t, double>> loads;  ///< link and load
    std::size_t sets_end = 0;
  };
  void find_classes();
  std::uint64_t trace_of_call(const Link& link, double load, double most) const;
  double inequity_of(const Call& call, std::span<const Set> sets) const;
  void keep_representatives();
  void find_shares(Set& set);
  void trace_ends(EdgeSetId set, const Edge& edge);
  void add_use(std::vector<Share>& shares, const Use& use, double count) const;

  std::vector<Link> links_;  ///< after close() those of first_of_ alone
  const RankPartition& ranks_;
  LinkFolding folding_;
  UsesOf uses_of_;
  std::vector<std::uint64_t> traces_;   ///< per link: hash of its loads, equal where they are
  std::vector<double> of_call_;         ///< per link: load of the call that is added
  std::vector<std::uint32_t> touched_;  ///< links that this call loads
  std::vector<Call> calls_;             ///< until close()
  std::vector<double> inequities_;      ///< one per call
  std::vector<std::uint64_t> traces_of_ranks_;
  std::vector<Set> sets_;
  std::vector<std::uint32_t> class_of_;  ///< class of each link, until close()
  std::vector<std::uint32_t> first_of_;  ///< first link of each class
  std::vector<double> members_;          ///< number of links in each class
  std::vector<Use> uses_;                ///< scratch
  bool is_closed_ = false;
};

}}  // namespace c3::interconnect
