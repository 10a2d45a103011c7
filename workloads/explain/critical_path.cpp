#include "workloads/explain/critical_path.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <utility>

#include "workloads/analysis/nearest_rank.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr const char* kLaunch = "launch";

class PathFinder {
 public:
  explicit PathFinder(const std::vector<PathNode>& nodes) : nodes_(nodes), is_on_(nodes.size()) {
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node].meeting >= 0) meetings_[nodes[node].meeting].push_back(node);
      for (const std::size_t before : nodes[node].after)
        followers_[before].push_back(node);
    }
  }

  CriticalPath find() {
    CriticalPath path;
    if (nodes_.empty()) return path;
    const auto last = std::ranges::max_element(nodes_, {}, &PathNode::end);
    path.time = last->end;
    walk(static_cast<std::size_t>(last - nodes_.begin()));
    find_slack();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      count(node);
    for (auto& [name, its] : classes_)
      if (!name.empty()) path.classes.push_back(std::move(its));
    for (PathClass& its : path.classes)
      summarise(its);
    std::ranges::stable_sort(path.classes, std::ranges::greater(), &PathClass::on_path);
    return path;
  }

 private:
  PathClass& class_named(const std::string& name) {
    return classes_.try_emplace(name, PathClass{.name = name}).first->second;
  }

  /// The node of \p node's meeting that begins last.
  std::size_t last_member(std::size_t node) const {
    const auto met = meetings_.find(nodes_[node].meeting);
    if (met == meetings_.end()) return node;
    return *std::ranges::max_element(met->second, {}, [this](std::size_t its) { return nodes_[its].begin; });
  }

  /// What \p node waited for longest.
  std::size_t binding(std::size_t node) const {
    std::size_t latest = kNone;
    for (const std::size_t before : nodes_[node].after)
      if (latest == kNone || nodes_[before].end > nodes_[latest].end) latest = before;
    return latest;
  }

  void walk(std::size_t node) {
    Seconds date = nodes_[node].end;
    for (; node != kNone; node = binding(node)) {
      const Seconds end = std::min(date, nodes_[node].end);
      class_named(kLaunch).on_path += date - end;
      is_on_[node] = true;
      node = last_member(node);
      is_on_[node] = true;
      const Seconds begin = std::min(end, nodes_[node].begin);
      class_named(nodes_[node].operator_class).on_path += end - begin;
      date = begin;
    }
    class_named(kLaunch).on_path += date;
  }

  /// Latest dates that do not make the run longer. What waits for a node is behind it in `nodes_`, and so is
  /// what waits for a member of its meeting.
  void find_slack() {
    const Seconds end = std::ranges::max_element(nodes_, {}, &PathNode::end)->end;
    slack_.assign(nodes_.size(), Seconds{std::numeric_limits<double>::infinity()});
    std::vector<std::size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, std::ranges::greater(),
                      [this](std::size_t node) { return std::pair(nodes_[node].end, node); });
    for (const std::size_t node : order) {
      const auto met = meetings_.find(nodes_[node].meeting);
      const std::vector<std::size_t> alone = {node};
      const std::vector<std::size_t>& members = met == meetings_.end() ? alone : met->second;
      Seconds slack = end - nodes_[node].end;
      for (const std::size_t member : members)
        slack = std::min(slack, slack_of_followers(member));
      // A member that came early may wait for the last one as well.
      for (const std::size_t member : members)
        slack_[member] =
            std::min(slack_[member], slack + (nodes_[last_member(member)].begin - nodes_[member].begin));
    }
  }

  Seconds slack_of_followers(std::size_t node) const {
    Seconds least{std::numeric_limits<double>::infinity()};
    const auto found = followers_.find(node);
    if (found == followers_.end()) return least;
    for (const std::size_t next : found->second) {
      const bool binds = binding(next) == node;
      const Seconds wait = binds ? Seconds{} : nodes_[binding(next)].end - nodes_[node].end;
      least = std::min(least, slack_[next] + wait);
    }
    return least;
  }

  void count(std::size_t node) {
    PathClass& its = class_named(nodes_[node].operator_class);
    if (is_on_[node]) {
      ++its.on;
      return;
    }
    ++its.off;
    its.off_path += nodes_[node].end - nodes_[node].begin;
    slacks_[its.name].push_back(std::max(Seconds{}, slack_[node]));
  }

  void summarise(PathClass& its) {
    std::vector<Seconds>& slacks = slacks_[its.name];
    if (slacks.empty()) return;
    std::ranges::sort(slacks);
    its.least_slack = slacks.front();
    its.median_slack = slacks[nearest_rank(slacks.size(), 50)];
  }

  const std::vector<PathNode>& nodes_;
  std::vector<bool> is_on_;
  std::map<int, std::vector<std::size_t>> meetings_;
  std::map<std::size_t, std::vector<std::size_t>> followers_;
  std::map<std::string, PathClass> classes_;
  std::vector<Seconds> slack_;
  std::map<std::string, std::vector<Seconds>> slacks_;  ///< of what is not on the path, by class
};

}  // namespace

CriticalPath critical_path(const std::vector<PathNode>& nodes) { return PathFinder(nodes).find(); }

}}  // namespace c3::workloads
