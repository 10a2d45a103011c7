#include "workloads/program/common_dates.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/interrupt.hpp"
#include "workloads/program/date_numbers.hpp"
#include "workloads/program/exchange_dates.hpp"
#include "workloads/program/member_roles.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Groups of a call that have equal contents.
struct Joined {
  std::map<int, DateNumber> begins;  ///< by class
  std::optional<DateNumber> end = std::nullopt;
};

/// The group of a class's representative in a call: what is on each of its nodes, nodes that are alike counted.
struct GroupContent {
  using Part = std::vector<std::pair<int, DateNumber>>;  ///< classes and roles
  DateNumber role = 0;                                   ///< of the representative
  Part own;                                              ///< what is on its node
  std::vector<std::pair<Part, DateNumber>> parts;
  std::vector<int> classes;  ///< each once
  Joined* joined = nullptr;  ///< what is known of its groups
};

/// Runs a program on one rank of each class, with numbers for dates.
class DateRun {
 public:
  DateRun(const Program& program, const RankPartition& classes, int node_gpus,
          const RankDifferences& differences)
      : program_(program),
        classes_(classes),
        node_gpus_(node_gpus),
        exchanges_(program, classes, node_gpus, dates_, transfers_, unknown_) {
    for (int number = 0; number < classes.classes(); ++number)
      ranks_.push_back(start_of(number, differences));
  }

  /// By class: equal numbers for those that do all they do at equal dates; empty where some wait for ever.
  std::vector<DateNumber> run() {
    for (bool goes_on = true; goes_on;) {
      checkpoint();
      goes_on = false;
      for (int number = 0; number < classes_.classes(); ++number)
        goes_on |= advance(number);
    }
    std::vector<DateNumber> traces;
    for (const Rank& rank : ranks_) {
      if (rank.operations != nullptr && rank.at < rank.operations->size()) return {};
      traces.push_back(rank.trace);
    }
    return traces;
  }

  /// The only stream on which \p script has operations; nullptr where it has several or a host, which say more
  /// than this run knows. A script without operations has its first.
  static const std::vector<Operation>* only_stream(const Script& script) {
    if (script.host || script.streams.empty()) return nullptr;
    const std::vector<Operation>* only = nullptr;
    for (const std::vector<Operation>& stream : script.streams) {
      if (stream.empty()) continue;
      if (only != nullptr) return nullptr;
      only = &stream;
    }
    return only == nullptr ? &script.streams.front() : only;
  }

 private:
  /// The representative of a class.
  struct Rank {
    const std::vector<Operation>* operations = nullptr;  ///< nullptr: not known when it begins what
    DateNumber kernels = 0;                              ///< how they differ from others'
    DateNumber date = 0;                                 ///< at which its last operation ended
    DateNumber trace = 0;                                ///< of all that have
    std::size_t at = 0;                                  ///< its next operation
    bool has_begun = false;                              ///< that one
  };

  Rank start_of(int number, const RankDifferences& differences) {
    const auto at = [&](const std::vector<std::uint32_t>& numbers) {
      return numbers.empty() ? 0 : numbers[static_cast<std::size_t>(classes_.representative(number))];
    };
    Rank rank;
    rank.operations = only_stream(program_.script_of(classes_.representative(number)));
    rank.kernels = at(differences.kernels);
    transfers_.push_back(at(differences.transfers));
    unknown_.emplace_back();
    if (rank.operations == nullptr) unknown_.back() = dates_.of({kUnknown, static_cast<DateNumber>(number)});
    rank.date = unknown_.back().value_or(dates_.of({kBegin, at(differences.begins)}));
    rank.trace = rank.date;
    return rank;
  }

  Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }

  /// \return whether operations of the class have ended
  bool advance(int number) {
    Rank& its = rank(number);
    if (its.operations == nullptr) return false;
    const std::size_t before = its.at;
    while (its.at < its.operations->size()) {
      const Operation& operation = (*its.operations)[its.at];
      if (!std::exchange(its.has_begun, true)) begin(number, operation);
      const std::optional<DateNumber> end = end_of(number, operation);
      if (!end) break;
      its.date = *end;
      its.trace = dates_.of({kTrace, its.trace, its.date, load_of(number, operation)});
      its.has_begun = false;
      ++its.at;
    }
    return its.at > before;
  }

  void begin(int number, const Operation& operation) {
    if (const auto* join = std::get_if<JoinCall>(&operation.work)) {
      joined(join->call, number).begins.emplace(number, rank(number).date);
    } else if (const auto* exchange = std::get_if<Exchange>(&operation.work)) {
      exchanges_.begin(number, *exchange, rank(number).date);
    }
  }

  std::optional<DateNumber> end_of(int number, const Operation& operation) {
    const Rank& its = rank(number);
    if (computes(operation) || std::holds_alternative<HostCopy>(operation.work))
      return dates_.of({kKernel, its.date, its.kernels, number_of(operation)});
    std::optional<DateNumber> end = its.date;  // of events of its only stream
    if (const auto* join = std::get_if<JoinCall>(&operation.work)) end = end_of_call(join->call, number);
    if (std::holds_alternative<Exchange>(operation.work)) end = exchanges_.end(number);
    if (end && communicates(operation)) end = dates_.of({kEnd, *end, number_of(operation)});
    return end;
  }

  /// Equal for operations that take equally long after equal dates, whoever runs them: but for names.
  DateNumber number_of(const Operation& operation) {
    auto& known = known_[operation.draw];
    const auto found = std::ranges::find_if(known, [&](const auto& entry) {
      Operation other = *entry.first;
      other.name = operation.name;
      other.range = operation.range;
      return other == operation;
    });
    if (found != known.end()) return found->second;
    return known.emplace_back(&operation, known_count_++).second;
  }

  // --- Collectives

  const GroupContent& content(CallId call, int number) {
    const auto [found, is_new] = contents_.try_emplace({call, number});
    if (is_new) {
      found->second = content_of(program_.calls[call].what, classes_.representative(number));
      found->second.joined = &calls_[{call, found->second.classes}];
    }
    return found->second;
  }

  GroupContent content_of(const CollectiveCall& call, int rank) const {
    std::vector<int> members = call.groups ? group_of(*call.groups, rank) : members_of(call, classes_.ranks());
    const std::vector<DateNumber> roles = member_roles(call, members);
    GroupContent content;
    std::map<int, GroupContent::Part> nodes;
    std::set<int> classes;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int member_class = classes_.class_of(members[i]);
      const DateNumber role = roles.empty() ? 0 : roles[i];
      if (members[i] == rank) content.role = role;
      nodes[members[i] / node_gpus_].emplace_back(member_class, role);
      classes.insert(member_class);
    }
    std::map<GroupContent::Part, DateNumber> parts;
    for (auto& [node, part] : nodes) {
      std::ranges::sort(part);
      ++parts[part];
    }
    content.own = std::move(nodes[rank / node_gpus_]);
    content.parts.assign(parts.begin(), parts.end());
    content.classes.assign(classes.begin(), classes.end());
    return content;
  }

  Joined& joined(CallId call, int number) { return *content(call, number).joined; }

  /// Equal for members whose begins, and speeds, and roles are equal.
  DateNumber number_of(const GroupContent::Part& part, const Joined& groups) {
    DateSignature members;
    for (const auto& [member, role] : part)
      members.push_back(
          dates_.of({groups.begins.at(member), transfers_[static_cast<std::size_t>(member)], role}));
    std::ranges::sort(members);
    return dates_.of(members);
  }

  /// What the rank itself moves, which depends on its role and on what is on its node.
  DateNumber load_of(int number, const Operation& operation) {
    const auto* join = std::get_if<JoinCall>(&operation.work);
    if (join == nullptr) return 0;
    const GroupContent& its = content(join->call, number);
    return dates_.of({kLoad, its.role, number_of(its.own, joined(join->call, number))});
  }

  std::optional<DateNumber> end_of_call(CallId call, int number) {
    Joined& groups = joined(call, number);
    if (groups.end) return groups.end;
    const GroupContent& its = content(call, number);
    for (const int member : its.classes) {
      if (const auto& unknown = unknown_[static_cast<std::size_t>(member)])
        groups.begins.emplace(member, *unknown);
      if (!groups.begins.contains(member)) return std::nullopt;
    }
    std::vector<DateSignature> parts;
    for (const auto& [part, count] : its.parts)
      parts.push_back({count, number_of(part, groups)});
    std::ranges::sort(parts);
    DateSignature all{kCollective, call};
    for (const DateSignature& part : parts)
      all.push_back(dates_.of(part));
    groups.end = dates_.of(all);
    return groups.end;
  }

  const Program& program_;
  const RankPartition& classes_;
  int node_gpus_;
  DateNumbers dates_;
  std::vector<DateNumber> transfers_;               ///< by class: how they differ from others'
  std::vector<std::optional<DateNumber>> unknown_;  ///< by class: a number for all of its dates
  std::vector<Rank> ranks_;                         ///< by class
  std::map<std::uint64_t, std::vector<std::pair<const Operation*, DateNumber>>> known_;  ///< by draw
  DateNumber known_count_ = 0;
  ExchangeDates exchanges_;
  std::map<std::pair<CallId, int>, GroupContent> contents_;  ///< by call and class
  std::map<std::pair<CallId, std::vector<int>>, Joined> calls_;
};

/// By class: equal numbers where classes may become one, whatever their dates are.
std::vector<DateNumber> candidates(const Program& program, const RankPartition& classes, int node_gpus,
                                   const RankDifferences& differences) {
  DateNumbers kinds;
  std::vector<DateNumber> numbers;
  for (int number = 0; number < classes.classes(); ++number) {
    const int rank = classes.representative(number);
    const bool is_known = DateRun::only_stream(program.script_of(rank)) != nullptr;
    std::vector<DateNumber> node;
    const int first = rank / node_gpus * node_gpus;
    for (int other = first; other < std::min(first + node_gpus, classes.ranks()); ++other)
      node.push_back(static_cast<DateNumber>(classes.class_of(other)));
    std::ranges::sort(node);
    DateSignature kind{is_known ? 0 : 1 + static_cast<DateNumber>(number), program.script_number(rank),
                       differences.all.empty() ? 0 : differences.all[static_cast<std::size_t>(rank)]};
    kind.insert(kind.end(), node.begin(), node.end());
    numbers.push_back(kinds.of(kind));
  }
  return numbers;
}

}  // namespace

RankPartition merge_common_dates(const Program& program, const RankPartition& classes, int node_gpus,
                                 const RankDifferences& differences) {
  const std::vector<DateNumber> kinds = candidates(program, classes, node_gpus, differences);
  if (std::set(kinds.begin(), kinds.end()).size() == kinds.size()) return classes;
  const std::vector<DateNumber> traces = DateRun(program, classes, node_gpus, differences).run();
  if (traces.empty()) return classes;
  std::map<std::pair<DateNumber, DateNumber>, DateNumber>
      numbers;  // in the order of the lowest ranks, as classes are
  std::vector<DateNumber> merged;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    merged.push_back(
        numbers.try_emplace({kinds[i], traces[i]}, static_cast<DateNumber>(numbers.size())).first->second);
  std::vector<std::uint32_t> by_rank;
  for (int rank = 0; rank < classes.ranks(); ++rank)
    by_rank.push_back(merged[static_cast<std::size_t>(classes.class_of(rank))]);
  return RankPartition(std::move(by_rank));
}

}}  // namespace c3::workloads
