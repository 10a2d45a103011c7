#include "workloads/traces/retiming/kernel_operators.hpp"

#include <map>
#include <tuple>

#include "base/small_letters.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

/// What is known of a name of a kernel.
struct KernelName {
  std::string text;  ///< in small letters
  WorkClass work = WorkClass::other;
  bool is_helper = false;
};

/// Facts of one rank that several of its kernels share.
class Facts {
 public:
  explicit Facts(const Rank& rank) : rank_(rank) {
    recorded_op_.reserve(rank.trace.activities.size());
    for (std::uint32_t i = 0; i < rank.trace.activities.size(); ++i) {
      const std::uint32_t op = nearest_recorded(rank.join.op_of[i]);
      recorded_op_.push_back(op);
      const KernelName& name = name_of(i);
      if (op == kNoIndex || name.is_helper) continue;
      ++alike_[{op, name.work}];
      ++kernels_[op];
    }
  }

  std::uint32_t recorded_op(std::uint32_t activity) const { return recorded_op_[activity]; }

  const KernelName& name_of(std::uint32_t activity) {
    const TraceEvent& event = rank_.trace.activities[activity];
    const WorkClass work = rank_.classes[activity];
    const auto [place, is_new] = names_.try_emplace({event.name, work});
    if (is_new) {
      place->second = {.text = in_small_letters(rank_.trace.name_of(event)), .work = work};
      place->second.is_helper = is_helper(place->second.text);
    }
    return place->second;
  }

  const OpArguments& arguments_of(std::uint32_t op) {
    const TraceEvent& event = rank_.trace.ops[op];
    const OpDetails& details = rank_.trace.op_details[event.details];
    const auto [place, is_new] = arguments_.try_emplace({details.dims, details.types, details.concrete});
    if (is_new) place->second = traces::arguments_of(rank_.trace, event);
    return place->second;
  }

  std::size_t alike(std::uint32_t op, WorkClass work) const {
    const auto place = alike_.find({op, work});
    return place == alike_.end() ? 1 : place->second;
  }

  bool is_only(std::uint32_t op) const { return kernels_.contains(op) && kernels_.at(op) == 1; }

 private:
  /// The innermost operator with a record of its arguments, though these may all be scalars.
  std::uint32_t nearest_recorded(std::uint32_t op) {
    while (op != kNoIndex && (rank_.trace.ops[op].details == kNoIndex || arguments_of(op).size() == 0))
      op = rank_.join.parent_op[op];
    return op;
  }

  const Rank& rank_;
  std::vector<std::uint32_t> recorded_op_;                               ///< [activities]
  std::map<std::pair<TextId, WorkClass>, KernelName> names_;             ///< of kernels
  std::map<std::tuple<TextId, TextId, TextId>, OpArguments> arguments_;  ///< dims, types, concrete
  std::map<std::pair<std::uint32_t, WorkClass>, std::size_t> alike_;     ///< (op, class)
  std::map<std::uint32_t, std::size_t> kernels_;                         ///< by op
};

/// What decides a kernel's operator: its name and class, the name of its launching operator, and name,
/// arguments and number of alike and of all kernels of the operator with shapes around it.
using Key = std::tuple<TextId, WorkClass, TextId, TextId, TextId, TextId, TextId, std::size_t, bool>;

/// \p helper with the operator of \p main, in whose time it is; nullptr: that is not known.
KernelOperator helper_of(const KernelOperator& helper, const KernelOperator* main) {
  KernelOperator joined = helper;
  if (main != nullptr) {
    joined.op = main->op;
  } else {
    joined.in_another = false;
    joined.note = "a part of an operator that is not known: " + helper.note;
  }
  return joined;
}

}  // namespace

KernelOperators::KernelOperators(const Rank& rank) {
  Facts facts(rank);
  std::map<Key, std::uint32_t> known;
  std::vector<KernelOperator> found;
  std::vector<std::uint32_t> index;             // [activities], in found
  std::map<std::uint32_t, std::uint32_t> main;  // by operator: in found, of the kernel that has its time
  index.reserve(rank.trace.activities.size());
  for (std::uint32_t i = 0; i < rank.trace.activities.size(); ++i) {
    const TraceEvent& event = rank.trace.activities[i];
    const KernelName& name = facts.name_of(i);
    const std::uint32_t op = facts.recorded_op(i);
    Key key{event.name, name.work, 0, 0, 0, 0, 0, 1, false};
    LaunchedKernel kernel{.kernel = name.text, .work = name.work, .op = {}, .launcher = {}};
    if (op != kNoIndex) {
      const TraceEvent& around = rank.trace.ops[op];
      const OpDetails& details = rank.trace.op_details[around.details];
      kernel.op = plain_name(rank.trace.name_of(around));
      kernel.arguments = &facts.arguments_of(op);
      kernel.alike = facts.alike(op, name.work);
      kernel.is_only = facts.is_only(op);
      const TraceEvent& launcher = rank.trace.ops[rank.join.op_of[i]];
      kernel.launcher = rank.trace.name_of(launcher);
      key = {event.name,    name.work,        launcher.name, around.name,   details.dims,
             details.types, details.concrete, kernel.alike,  kernel.is_only};
    }
    const auto [place, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(found.size()));
    if (is_new) found.push_back(derive(kernel));
    index.push_back(place->second);
    if (op != kNoIndex && found[place->second].op) main.try_emplace(op, place->second);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined;  // helper and main kernel
  index_.reserve(index.size());
  for (std::uint32_t i = 0; i < index.size(); ++i) {
    const KernelOperator& kernel = found[index[i]];
    const auto carrier = kernel.in_another ? main.find(facts.recorded_op(i)) : main.end();
    const std::uint32_t main_operator = carrier == main.end() ? kNoIndex : carrier->second;
    const auto [place, is_new] =
        joined.try_emplace({index[i], main_operator}, static_cast<std::uint32_t>(distinct_.size()));
    if (is_new)
      distinct_.push_back(kernel.in_another
                              ? helper_of(kernel, main_operator == kNoIndex ? nullptr : &found[main_operator])
                              : kernel);
    index_.push_back(place->second);
  }
}

}}  // namespace c3::traces
