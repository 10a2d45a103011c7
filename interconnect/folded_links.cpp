#include "interconnect/folded_links.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include "engine/interrupt.hpp"
#include "interconnect/switch_network.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// Equal for equal loads, whatever their order; unlike ones meet by chance once in 2^64.
std::uint64_t trace_of(std::uint64_t what, double load) {
  return mix(mix(what) ^ std::bit_cast<std::uint64_t>(load));
}

/// "leaf3.up" and "leaf5.up" are of one kind.
std::string kind_of(std::string name) {
  std::erase_if(name, [](char letter) { return letter >= '0' && letter <= '9'; });
  return name;
}

/// What the edges of a set take of each class of links, of which some edges take more than others.
class Spreads {
 public:
  /// \param taken class and bytes; a class may come several times. Changed
  void add(std::vector<std::pair<std::uint32_t, double>>& taken) {
    std::ranges::sort(taken);
    for (std::size_t begin = 0, end = 0; begin < taken.size(); begin = end) {
      double bytes = 0.0;
      for (; end < taken.size() && taken[end].first == taken[begin].first; ++end)
        bytes += taken[end].second;
      Taken& class_bytes = of_class_[taken[begin].first];
      class_bytes.least = std::min(class_bytes.least, bytes);
      class_bytes.most = std::max(class_bytes.most, bytes);
      class_bytes.sum += bytes;
      ++class_bytes.edges;
    }
  }

  /// For each class: the spread between the edges that take least and most, divided by their mean.
  std::vector<std::pair<std::uint32_t, double>> of(std::size_t edges) const {
    std::vector<std::pair<std::uint32_t, double>> spreads;
    for (const auto& [number, class_bytes] : of_class_) {
      const double least = class_bytes.edges < edges ? 0.0 : class_bytes.least;
      spreads.emplace_back(number, (class_bytes.most - least) * static_cast<double>(edges) / class_bytes.sum);
    }
    return spreads;
  }

 private:
  struct Taken {
    double least = std::numeric_limits<double>::infinity(), most = 0.0, sum = 0.0;
    std::size_t edges = 0;  ///< edges that take anything of the class
  };
  std::map<std::uint32_t, Taken> of_class_;
};

}  // namespace

FoldedLinks::FoldedLinks(std::vector<Link> links, const RankPartition& ranks, LinkFolding folding,
                         UsesOf uses_of)
    : links_(std::move(links)),
      ranks_(ranks),
      folding_(folding),
      uses_of_(std::move(uses_of)),
      traces_(links_.size()),
      of_call_(links_.size()) {}

EdgeSetId FoldedLinks::add(std::vector<Edge> edges, double bytes) {
  if (is_closed_) throw std::logic_error("FoldedLinks::add: links are folded already");
  checkpoint();
  const auto id = static_cast<EdgeSetId>(sets_.size());
  for (const Edge& edge : edges) {
    uses_.clear();
    uses_of_(edge, uses_);
    for (const Use& use : uses_) {
      if (folding_ == LinkFolding::exact)
        traces_[use.link] += trace_of(2 * id + (use.has_messages ? 1 : 0), use.bytes * edge.count);
      double& load = of_call_[use.link];
      if (load == 0.0) touched_.push_back(use.link);
      load += use.bytes * edge.count * bytes;
    }
  }
  sets_.push_back({std::move(edges), {}, {}, {}});
  return id;
}

std::size_t FoldedLinks::end_call() {
  double most = 0.0;
  for (const std::uint32_t link : touched_)
    most = std::max(most, of_call_[link]);
  Call& call = calls_.emplace_back();
  call.sets_end = sets_.size();
  for (const std::uint32_t link : touched_) {
    if (folding_ == LinkFolding::mean) traces_[link] += trace_of_call(links_[link], of_call_[link], most);
    call.loads.emplace_back(link, std::exchange(of_call_[link], 0.0));
  }
  touched_.clear();
  return calls_.size() - 1;
}

std::uint64_t FoldedLinks::trace_of_call(const Link& link, double load, double most) const {
  constexpr double kSteps = 1e6;  // sums that differ by rounding are equal
  return trace_of(calls_.size(), link.is_only_one ? 1.0 : std::round(load / most * kSteps));
}

void FoldedLinks::close() {
  if (is_closed_) return;
  is_closed_ = true;
  find_classes();
  if (folding_ == LinkFolding::exact) traces_of_ranks_.assign(static_cast<std::size_t>(ranks_.ranks()), 0);
  for (Set& set : sets_) {
    checkpoint();
    find_shares(set);
  }
  std::size_t begin = 0;
  for (const Call& call : calls_) {
    inequities_.push_back(inequity_of(call, std::span(sets_).subspan(begin, call.sets_end - begin)));
    begin = call.sets_end;
  }
  calls_ = {};
  traces_ = {};
  of_call_ = {};
  keep_representatives();
}

// All that is asked for from now on: links of large networks take gigabytes, and several runs share the
// classes.
void FoldedLinks::keep_representatives() {
  std::vector<Link> kept;
  kept.reserve(first_of_.size());
  for (std::uint32_t& first : first_of_) {
    kept.push_back(std::move(links_[first]));
    first = static_cast<std::uint32_t>(kept.size() - 1);
  }
  links_ = std::move(kept);
  class_of_ = {};
  uses_of_ = {};
}

void FoldedLinks::find_classes() {
  std::map<std::tuple<double, Counted, int, std::string, std::uint64_t>, std::uint32_t> numbers;
  class_of_.reserve(links_.size());
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const int owner = link.gpu < 0 ? -1 : ranks_.class_of(link.gpu);
    const auto next = static_cast<std::uint32_t>(first_of_.size());
    const auto [found, is_new] =
        numbers.try_emplace({link.capacity, link.counted, owner, kind_of(link.name), traces_[i]}, next);
    if (is_new) {
      first_of_.push_back(i);
      members_.push_back(0.0);
    }
    class_of_.push_back(found->second);
    ++members_[found->second];
  }
}

double FoldedLinks::inequity() const { return inequities_.empty() ? 0.0 : std::ranges::max(inequities_); }

/// \param sets those that the call has
double FoldedLinks::inequity_of(const Call& call, std::span<const Set> sets) const {
  struct Loads {
    double least = 0.0, most = 0.0, sum = 0.0, links = 0.0;
  };
  std::vector<Loads> of_class(first_of_.size());
  double slowest = 0.0;
  for (const auto& [link, load] : call.loads) {
    Loads& class_loads = of_class[class_of_[link]];
    class_loads.least = class_loads.links == 0.0 ? load : std::min(class_loads.least, load);
    class_loads.most = std::max(class_loads.most, load);
    class_loads.sum += load;
    ++class_loads.links;
    slowest = std::max(slowest, load / links_[link].capacity);
  }
  const auto may_limit = [&](std::size_t number) {
    return of_class[number].most / link(number).capacity >= 0.5 * slowest;
  };
  double greatest = 0.0;
  for (std::size_t number = 0; number < of_class.size(); ++number) {
    const Loads& class_loads = of_class[number];
    if (class_loads.links == 0.0 || !may_limit(number)) continue;
    const double least = class_loads.links < members_[number] ? 0.0 : class_loads.least;
    greatest = std::max(greatest, (class_loads.most - least) * members_[number] / class_loads.sum);
  }
  for (const Set& set : sets) {
    for (const auto& [number, spread] : set.spreads)
      if (may_limit(number)) greatest = std::max(greatest, spread);
  }
  return greatest;
}

void FoldedLinks::find_shares(Set& set) {
  Spreads spreads;
  std::vector<std::pair<std::uint32_t, double>> between_switches;  // class and bytes, of one edge
  for (const Edge& edge : set.edges) {
    uses_.clear();
    uses_of_(edge, uses_);
    between_switches.clear();
    for (const Use& use : uses_) {
      const std::uint32_t number = class_of_[use.link];
      add_use(set.shares, use, edge.count);
      if (links_[use.link].gpu < 0) between_switches.emplace_back(number, use.bytes * edge.count);
      if (&edge == set.edges.data())  // two links of a class are each taken once
        set.alone.push_back({number, use.bytes, use.has_messages, 1.0});
    }
    spreads.add(between_switches);
    if (folding_ == LinkFolding::exact) trace_ends(static_cast<EdgeSetId>(&set - sets_.data()), edge);
  }
  for (Share& share : set.shares)
    share.uses /= members_[share.number];
  set.spreads = spreads.of(set.edges.size());
  set.edges = {};
}

void FoldedLinks::trace_ends(EdgeSetId set, const Edge& edge) {
  std::uint64_t way = 0;
  for (const Use& use : uses_)
    way += trace_of(class_of_[use.link], use.bytes * edge.count);
  traces_of_ranks_[static_cast<std::size_t>(edge.src)] += mix(way ^ mix(2 * set));
  traces_of_ranks_[static_cast<std::size_t>(edge.dst)] += mix(way ^ mix(2 * set + 1));
}

void FoldedLinks::add_use(std::vector<Share>& shares, const Use& use, double count) const {
  const std::uint32_t number = class_of_[use.link];
  const auto found = std::ranges::find_if(shares, [&](const Share& share) {
    return share.number == number && share.bytes == use.bytes && share.has_messages == use.has_messages;
  });
  if (found == shares.end()) {
    shares.push_back({number, use.bytes, use.has_messages, count});
  } else {
    found->uses += count;
  }
}

double FoldedLinks::links_of_each_gpu(std::size_t number) const {
  const int gpu = link(number).gpu;
  return gpu < 0 ? 1.0 : members_[number] / ranks_.alike(gpu);
}

}}  // namespace c3::interconnect
