#include "workloads/program/common_dates.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/interrupt.hpp"
#include "workloads/program/member_roles.hpp"
#include "workloads/program/message_ways.hpp"

namespace c3::inline workloads {
namespace {

using Colour = std::uint32_t;
using Signature = std::vector<Colour>;

/// Equal numbers for equal signatures.
class Signatures {
 public:
  Colour number(const Signature& signature) {
    return numbers_.emplace(signature, static_cast<Colour>(numbers_.size())).first->second;
  }

 private:
  std::map<Signature, Colour> numbers_;
};

/// What most signatures begin with: of what they are.
enum Kind : Colour { kBegin, kKernel, kCollective, kExchange, kLoad, kUnknown, kTrace };

void append(Signature& signature, Bytes bytes) {
  const auto bits = std::bit_cast<std::uint64_t>(bytes.value);
  signature.push_back(static_cast<Colour>(bits));
  signature.push_back(static_cast<Colour>(bits >> 32U));
}

/// The group of a class's representative in a call: what is on each of its nodes, nodes that are alike counted.
struct GroupContent {
  using Part = std::vector<std::pair<int, Colour>>;  ///< classes and roles
  Colour role = 0;                                   ///< of the representative
  Part own;                                          ///< what is on its node
  std::vector<std::pair<Part, Colour>> parts;
  std::vector<int> classes;  ///< each once
};

/// One message of an exchange that has begun.
struct MessageEnd {
  std::size_t exchange = 0;  ///< that has the other end, once it has begun
  std::size_t place = 0;     ///< there
  bool is_known = false;
};

struct BegunExchange {
  int number = 0;  ///< of the class
  const Exchange* what = nullptr;
  Colour begin = 0;
  std::vector<MessageEnd> others;  ///< by message
  std::optional<Colour> end = std::nullopt;
};

/// Runs a program on one rank of each class, with numbers for dates.
class DateRun {
 public:
  DateRun(const Program& program, const RankPartition& classes, int node_gpus,
          const RankDifferences& differences)
      : program_(program), classes_(classes), node_gpus_(node_gpus) {
    for (int number = 0; number < classes.classes(); ++number)
      ranks_.push_back(start_of(number, differences));
  }

  /// By class: equal numbers for those that do all they do at equal dates; empty where some wait for ever.
  std::vector<Colour> run() {
    for (bool goes_on = true; goes_on;) {
      checkpoint();
      goes_on = false;
      for (int number = 0; number < classes_.classes(); ++number)
        goes_on |= advance(number);
    }
    std::vector<Colour> traces;
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
    Colour kernels = 0, transfers = 0;                   ///< how they differ from others'
    Colour date = 0;                                     ///< at which its last operation ended
    Colour trace = 0;                                    ///< of all that have
    std::size_t at = 0;                                  ///< its next operation
    bool has_begun = false;                              ///< that one
  };
  /// Groups of a call that have equal contents.
  struct Joined {
    std::map<int, Colour> begins;  ///< by class
    std::optional<Colour> end = std::nullopt;
  };
  struct Channel {
    std::vector<std::pair<std::size_t, std::size_t>> sent, received;  ///< exchange, and place in it
  };

  Rank start_of(int number, const RankDifferences& differences) {
    const auto at = [&](const std::vector<std::uint32_t>& numbers) {
      return numbers.empty() ? 0 : numbers[static_cast<std::size_t>(classes_.representative(number))];
    };
    Rank rank;
    rank.operations = only_stream(program_.script_of(classes_.representative(number)));
    rank.kernels = at(differences.kernels);
    rank.transfers = at(differences.transfers);
    rank.date = rank.operations == nullptr ? unknown(number) : dates_.number({kBegin, at(differences.begins)});
    rank.trace = rank.date;
    return rank;
  }

  /// A date of a class of which nothing is known.
  Colour unknown(int number) { return dates_.number({kUnknown, static_cast<Colour>(number)}); }
  Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }

  /// \return whether operations of the class have ended
  bool advance(int number) {
    Rank& its = rank(number);
    if (its.operations == nullptr) return false;
    const std::size_t before = its.at;
    while (its.at < its.operations->size()) {
      const Operation& operation = (*its.operations)[its.at];
      if (!std::exchange(its.has_begun, true)) begin(number, operation);
      const std::optional<Colour> end = end_of(number, operation);
      if (!end) break;
      its.date = *end;
      its.trace = dates_.number({kTrace, its.trace, its.date, load_of(number, operation)});
      its.has_begun = false;
      ++its.at;
    }
    return its.at > before;
  }

  void begin(int number, const Operation& operation) {
    if (const auto* join = std::get_if<JoinCall>(&operation.work)) {
      joined(join->call, number).begins.emplace(number, rank(number).date);
    } else if (const auto* exchange = std::get_if<Exchange>(&operation.work)) {
      begin_exchange(number, *exchange);
    }
  }

  std::optional<Colour> end_of(int number, const Operation& operation) {
    const Rank& its = rank(number);
    if (const auto* join = std::get_if<JoinCall>(&operation.work)) return end_of_call(join->call, number);
    if (std::holds_alternative<Exchange>(operation.work)) return end_of_exchange(current_.at(number));
    if (!computes(operation)) return its.date;  // events of its only stream
    return dates_.number({kKernel, its.date, its.kernels, number_of(operation)});
  }

  /// Equal for kernels that take equally long, whoever runs them.
  Colour number_of(const Operation& operation) {
    auto& known = kernels_[operation.draw];
    const auto found =
        std::ranges::find_if(known, [&](const auto& entry) { return entry.first->work == operation.work; });
    if (found != known.end()) return found->second;
    return known.emplace_back(&operation, kernel_count_++).second;
  }

  // --- Collectives

  const GroupContent& content(CallId call, int number) {
    const auto [found, is_new] = contents_.try_emplace({call, number});
    if (is_new) found->second = content_of(program_.calls[call].what, classes_.representative(number));
    return found->second;
  }

  GroupContent content_of(const CollectiveCall& call, int rank) const {
    std::vector<int> members = call.groups ? group_of(*call.groups, rank) : members_of(call, classes_.ranks());
    const std::vector<Colour> roles = member_roles(call, members);
    GroupContent content;
    std::map<int, GroupContent::Part> nodes;
    std::set<int> classes;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int member_class = classes_.class_of(members[i]);
      const Colour role = roles.empty() ? 0 : roles[i];
      if (members[i] == rank) content.role = role;
      nodes[members[i] / node_gpus_].emplace_back(member_class, role);
      classes.insert(member_class);
    }
    std::map<GroupContent::Part, Colour> parts;
    for (auto& [node, part] : nodes) {
      std::ranges::sort(part);
      ++parts[part];
    }
    content.own = std::move(nodes[rank / node_gpus_]);
    content.parts.assign(parts.begin(), parts.end());
    content.classes.assign(classes.begin(), classes.end());
    return content;
  }

  Joined& joined(CallId call, int number) { return calls_[{call, content(call, number).classes}]; }

  /// Equal for members whose begins, and speeds, and roles are equal.
  Colour number_of(const GroupContent::Part& part, const Joined& groups) {
    Signature members;
    for (const auto& [member, role] : part)
      members.push_back(dates_.number({groups.begins.at(member), rank(member).transfers, role}));
    std::ranges::sort(members);
    return dates_.number(members);
  }

  /// What the rank itself moves, which depends on its role and on what is on its node.
  Colour load_of(int number, const Operation& operation) {
    const auto* join = std::get_if<JoinCall>(&operation.work);
    if (join == nullptr) return 0;
    const GroupContent& its = content(join->call, number);
    return dates_.number({kLoad, its.role, number_of(its.own, joined(join->call, number))});
  }

  std::optional<Colour> end_of_call(CallId call, int number) {
    Joined& groups = joined(call, number);
    if (groups.end) return groups.end;
    const GroupContent& its = content(call, number);
    for (const int member : its.classes) {
      if (rank(member).operations == nullptr) groups.begins.emplace(member, rank(member).date);
      if (!groups.begins.contains(member)) return std::nullopt;
    }
    std::vector<Signature> parts;
    for (const auto& [part, count] : its.parts)
      parts.push_back({count, number_of(part, groups)});
    std::ranges::sort(parts);
    Signature all{kCollective, call};
    for (const Signature& part : parts)
      all.push_back(dates_.number(part));
    groups.end = dates_.number(all);
    return groups.end;
  }

  // --- Messages

  void begin_exchange(int number, const Exchange& what) {
    const std::size_t index = exchanges_.size();
    BegunExchange& its = exchanges_.emplace_back();
    its = {number, &what, rank(number).date, std::vector<MessageEnd>(what.messages.size()), std::nullopt};
    current_[number] = index;
    for (std::size_t place = 0; place < what.messages.size(); ++place)
      meet(index, place);
  }

  /// The peer's class and, for each pair of classes, messages in the order in which they come.
  void meet(std::size_t index, std::size_t place) {
    const BegunExchange its = exchanges_[index];
    const Message& message = its.what->messages[place];
    const int peer = peer_class(its, message);
    const int sender = message.sends ? its.number : peer, receiver = message.sends ? peer : its.number;
    const int offset = offset_of(program_.communicators[its.what->communicator], message);
    Channel& channel = channels_[{its.what->communicator, offset, sender, receiver}];
    auto& own = message.sends ? channel.sent : channel.received;
    const auto& others = message.sends ? channel.received : channel.sent;
    own.emplace_back(index, place);
    if (others.size() < own.size()) return;
    const auto [other, other_place] = others[own.size() - 1];
    exchanges_[index].others[place] = {other, other_place, true};
    exchanges_[other].others[other_place] = {index, place, true};
  }

  int peer_class(const BegunExchange& its, const Message& message) const {
    const RankGroups& groups = program_.communicators[its.what->communicator].groups;
    return classes_.class_of(peer_of(groups, classes_.representative(its.number), message.offset));
  }

  std::optional<Colour> end_of_exchange(std::size_t index) {
    if (!exchanges_[index].end) end_together(index);
    return exchanges_[index].end;
  }

  /// Exchanges that share messages with one another may be in flight at once: all that \p index is joined to.
  /// Nothing ends before all have begun.
  void end_together(std::size_t index) {
    std::vector<std::size_t> all{index};
    std::set<std::size_t> seen{index};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const BegunExchange& its = exchanges_[all[i]];
      for (std::size_t place = 0; place < its.others.size(); ++place) {
        const int peer = peer_class(its, its.what->messages[place]);
        if (rank(peer).operations == nullptr) continue;
        if (!its.others[place].is_known) return;
        if (seen.insert(its.others[place].exchange).second) all.push_back(its.others[place].exchange);
      }
    }
    refine(all);
  }

  void refine(const std::vector<std::size_t>& all) {
    std::map<std::size_t, Colour> colours;
    for (const std::size_t index : all)
      colours[index] = first_colour(exchanges_[index]);
    for (std::size_t before = 0, now = 1; before != now;) {
      before = now;
      std::map<std::size_t, Colour> refined;
      std::set<Colour> different;
      for (const auto& [index, colour] : colours) {
        const BegunExchange& its = exchanges_[index];
        Signature signature{kExchange, colour};
        for (std::size_t place = 0; place < its.others.size(); ++place) {
          const MessageEnd& other = its.others[place];
          const int peer = peer_class(its, its.what->messages[place]);
          signature.push_back(other.is_known ? colours.at(other.exchange) : unknown(peer));
          signature.push_back(static_cast<Colour>(other.place));
        }
        different.insert(refined[index] = dates_.number(signature));
      }
      colours = std::move(refined);
      now = different.size();
    }
    for (const auto& [index, colour] : colours)
      exchanges_[index].end = colour;
  }

  /// Of its begin, what moves, and how far.
  Colour first_colour(const BegunExchange& its) {
    Signature signature{kExchange, its.begin, rank(its.number).transfers, its.what->communicator};
    const int own = classes_.representative(its.number);
    for (const Message& message : its.what->messages) {
      const int peer = peer_of(program_.communicators[its.what->communicator].groups, own, message.offset);
      signature.push_back(message.sends ? 1 : 0);
      signature.push_back(own / node_gpus_ == peer / node_gpus_ ? 1 : 0);
      append(signature, message.bytes);
    }
    return dates_.number(signature);
  }

  const Program& program_;
  const RankPartition& classes_;
  int node_gpus_;
  Signatures dates_;
  std::vector<Rank> ranks_;                                                            ///< by class
  std::map<std::uint64_t, std::vector<std::pair<const Operation*, Colour>>> kernels_;  ///< by draw
  Colour kernel_count_ = 0;
  std::map<std::pair<CallId, int>, GroupContent> contents_;  ///< by call and class
  std::map<std::pair<CallId, std::vector<int>>, Joined> calls_;
  std::vector<BegunExchange> exchanges_;
  std::map<int, std::size_t> current_;  ///< by class: the exchange that it began last
  std::map<std::tuple<CommunicatorId, int, int, int>, Channel>
      channels_;  ///< by communicator, offset, classes of sender and receiver
};

/// By class: equal numbers where classes may become one, whatever their dates are.
std::vector<Colour> candidates(const Program& program, const RankPartition& classes, int node_gpus,
                               const RankDifferences& differences) {
  Signatures kinds;
  std::vector<Colour> numbers;
  for (int number = 0; number < classes.classes(); ++number) {
    const int rank = classes.representative(number);
    const bool is_known = DateRun::only_stream(program.script_of(rank)) != nullptr;
    std::vector<Colour> node;
    const int first = rank / node_gpus * node_gpus;
    for (int other = first; other < std::min(first + node_gpus, classes.ranks()); ++other)
      node.push_back(static_cast<Colour>(classes.class_of(other)));
    std::ranges::sort(node);
    Signature kind{is_known ? 0 : 1 + static_cast<Colour>(number), program.script_number(rank),
                   differences.all.empty() ? 0 : differences.all[static_cast<std::size_t>(rank)]};
    kind.insert(kind.end(), node.begin(), node.end());
    numbers.push_back(kinds.number(kind));
  }
  return numbers;
}

}  // namespace

RankPartition merge_common_dates(const Program& program, const RankPartition& classes, int node_gpus,
                                 const RankDifferences& differences) {
  const std::vector<Colour> kinds = candidates(program, classes, node_gpus, differences);
  if (std::set(kinds.begin(), kinds.end()).size() == kinds.size()) return classes;
  const std::vector<Colour> traces = DateRun(program, classes, node_gpus, differences).run();
  if (traces.empty()) return classes;
  std::map<std::pair<Colour, Colour>, Colour> numbers;  // in the order of the lowest ranks, as classes are
  std::vector<Colour> merged;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    merged.push_back(
        numbers.try_emplace({kinds[i], traces[i]}, static_cast<Colour>(numbers.size())).first->second);
  std::vector<std::uint32_t> by_rank;
  for (int rank = 0; rank < classes.ranks(); ++rank)
    by_rank.push_back(merged[static_cast<std::size_t>(classes.class_of(rank))]);
  return RankPartition(std::move(by_rank));
}

}  // namespace c3::workloads
