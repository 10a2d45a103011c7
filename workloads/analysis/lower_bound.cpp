#include "workloads/analysis/lower_bound.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/interrupt.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/program/joiners.hpp"
#include "workloads/program/operator_values.hpp"

namespace c3 { inline namespace workloads {

Seconds LowerBound::together() const { return std::max({kernels, collectives, hbm}); }

namespace {

/// What one rank cannot avoid.
struct RankWork {
  Seconds compute;  ///< flops at peak
  Bytes kernels;    ///< at HBM
  LeastBytes collectives;
};

/// Calls with the same ranks and bytes.
struct AlikeCalls {
  Backend backend = Backend::cu;
  std::vector<CallId> calls;
};

std::vector<AlikeCalls> alike_calls(const Program& program, const Strategy& strategy) {
  std::vector<AlikeCalls> all;
  for (const CallId number : calls_by_stream(program)) {
    const Call& call = program.calls[number];
    if (call.is_timed) continue;
    const Backend backend = policy_of(strategy, program.streams[call.stream]).backend;
    const auto known = std::ranges::find_if(all, [&](const AlikeCalls& its) {
      return its.backend == backend && program.calls[its.calls.front()].what == call.what;
    });
    (known == all.end() ? all.emplace_back(AlikeCalls{backend, {}}) : *known).calls.push_back(number);
  }
  return all;
}

/// In how many of some calls a member of a group takes part: the same for groups of the same scripts.
class JoinedCalls {
 public:
  JoinedCalls(const Joiners& joiners, const std::vector<CallId>& calls) : joiners_(joiners), calls_(calls) {}

  double of(const std::vector<int>& group) {
    const auto [entry, is_new] = counts_.try_emplace(joiners_.scripts_of(group));
    if (is_new)
      entry->second = std::ranges::count_if(calls_, [&](CallId call) { return joiners_.any(call, group); });
    return static_cast<double>(entry->second);
  }

 private:
  const Joiners& joiners_;
  const std::vector<CallId>& calls_;
  std::map<std::vector<std::uint32_t>, std::ptrdiff_t> counts_;
};

/// Adds what \p members, a group of \p call, cannot avoid in \p count calls. \returns what they must send
/// together.
Bytes add_group(std::vector<RankWork>& ranks, const CollectiveCall& call, const std::vector<int>& members,
                const ClusterSpec& cluster, Backend backend, double count) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const LeastBytes least = least_bytes(call, members, i, cluster.node.switch_reduces);
    LeastBytes& sum = ranks[static_cast<std::size_t>(members[i])].collectives;
    sum.out += count * least.out;
    sum.in += count * least.in;
    if (backend != Backend::fused) sum.hbm += count * least.hbm;
  }
  return count * least_traffic(call, members, cluster.node.switch_reduces);
}

/// Adds what all groups of \p alike cannot avoid of which a member joins.
Bytes add_calls(std::vector<RankWork>& ranks, const Program& program, const AlikeCalls& alike,
                const Joiners& joiners, const ClusterSpec& cluster) {
  Bytes traffic;
  JoinedCalls joined(joiners, alike.calls);
  const CollectiveCall& call = program.calls[alike.calls.front()].what;
  for (const CollectiveCall& of_group : calls_by_group(call, cluster.ranks())) {
    const std::vector<int> members = members_of(of_group, cluster.ranks());
    const double count = joined.of(members);
    if (count > 0.0) traffic += add_group(ranks, of_group, members, cluster, alike.backend, count);
  }
  return traffic;
}

/// What no kernel can find in the caches: a vector operator's tensors may be there from the operator before.
Bytes least_hbm(const Operator& op, const KernelDescription& kernel, const CacheSpec& cache, int xcds) {
  if (op.of_class().has_product()) return kernel.compulsory;
  const Bytes kept = cache.llc_size + cache.l2_size * static_cast<double>(xcds);
  return std::max(Bytes{0}, kernel.compulsory - kept);
}

/// Adds what a rank cannot avoid for the messages of \p script. \returns what it sends.
Bytes add_messages(RankWork& work, const Script& script) {
  Bytes sent;
  for_each_operation(script, [&](const Operation& operation) {
    const auto* exchange = std::get_if<Exchange>(&operation.work);
    if (exchange == nullptr) return;
    for (const Message& message : exchange->messages) {
      (message.sends ? work.collectives.out : work.collectives.in) += message.bytes;
      work.collectives.hbm += message.bytes;
      if (message.sends) sent += message.bytes;
    }
  });
  return sent;
}

/// What kernels cannot avoid, each unlike one found once.
class LeastKernels {
 public:
  struct Kernel {
    Seconds compute;  ///< flops at peak
    Bytes bytes;      ///< at HBM
  };
  explicit LeastKernels(const GpuSpec& gpu) : gpu_(gpu) {}

  /// \param op of \p operation
  const Kernel& of(const Program& program, const Operation& operation, const Operator& op) {
    return known_.of(operation.name, op, [&] {
      const KernelDescription kernel = describe(program.name_of(operation), op, gpu_);
      return Kernel{kernel.useful_flops / kernel.peak, least_hbm(op, kernel, gpu_.cache, gpu_.compute.xcds)};
    });
  }

 private:
  const GpuSpec& gpu_;
  OperatorValues<Kernel> known_;
};

/// What every rank that runs \p script cannot avoid in its kernels. Timed ones hold no CUs: only those of a
/// stream wait for each other.
RankWork kernels_of(const Program& program, const Script& script, LeastKernels& least) {
  RankWork work;
  Seconds longest;
  for (const std::vector<Operation>& stream : script.streams) {
    Seconds in_turn;
    for (const Operation& operation : stream) {
      checkpoint();
      if (const auto* timed = std::get_if<TimedKernel>(&operation.work)) in_turn += timed->duration;
      const Operator* op = kernel_of(operation);
      if (op == nullptr) continue;
      const LeastKernels::Kernel& kernel = least.of(program, operation, *op);
      in_turn += kernel.compute;
      work.compute += kernel.compute;
      work.kernels += kernel.bytes;
    }
    longest = std::max(longest, in_turn);
  }
  work.compute = std::max(work.compute, longest);
  return work;
}

/// What nobody can avoid.
struct AllWork {
  std::vector<RankWork> ranks;
  Bytes traffic;  ///< that all ranks send together
  bool fuses = false;
};

AllWork work_of(const Experiment& experiment, const Strategy& strategy) {
  const ClusterSpec& cluster = experiment.cluster;
  const Program& program = experiment.program;
  std::vector<RankWork> by_script;
  std::vector<Bytes> sent;  // in messages, by script
  LeastKernels kernels(cluster.gpu);
  for (const Script& script : program.scripts)
    sent.push_back(add_messages(by_script.emplace_back(kernels_of(program, script, kernels)), script));
  AllWork work;
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    const std::uint32_t number = program.script_number(rank);
    work.ranks.push_back(by_script[number]);
    work.traffic += sent[number];
  }
  const Joiners joiners(program);
  for (const AlikeCalls& alike : alike_calls(program, strategy)) {
    checkpoint();
    work.traffic += add_calls(work.ranks, program, alike, joiners, cluster);
    work.fuses = work.fuses || alike.backend == Backend::fused;
  }
  return work;
}

/// more + factor (more - few), of everything.
AllWork beyond(const AllWork& few, AllWork more, double factor) {
  const auto extend = [factor](auto& its, const auto& less) { its += factor * (its - less); };
  for (std::size_t rank = 0; rank < more.ranks.size(); ++rank) {
    RankWork& its = more.ranks[rank];
    const RankWork& less = few.ranks[rank];
    extend(its.compute, less.compute);
    extend(its.kernels, less.kernels);
    extend(its.collectives.out, less.collectives.out);
    extend(its.collectives.in, less.collectives.in);
    extend(its.collectives.hbm, less.collectives.hbm);
  }
  extend(more.traffic, few.traffic);
  return more;
}

AllWork whole_work(const Experiment& experiment, const Strategy& strategy) {
  AllWork work = work_of(experiment, strategy);
  if (!experiment.is_outline) return work;
  const LargerOutline larger = larger_outline(experiment);
  return beyond(work, work_of(larger.experiment, strategy), larger.beyond);
}

LowerBound bound_of(const AllWork& work, BytesPerSecond egress, BytesPerSecond hbm) {
  LowerBound bound;
  Seconds all_kernels;
  for (const auto& [compute, kernel_bytes, least] : work.ranks) {
    const Seconds kernels = std::max(compute, kernel_bytes / hbm);
    const Seconds collectives = std::max(std::max(least.out, least.in) / egress, least.hbm / hbm);
    bound.kernels = std::max(bound.kernels, kernels);
    bound.collectives = std::max(bound.collectives, collectives);
    bound.hbm = std::max(bound.hbm, (kernel_bytes + least.hbm) / hbm);
    bound.serial = std::max(bound.serial, kernels + collectives);
    all_kernels += kernels;
  }
  // Some rank has at least the average of what all must do together.
  const auto count = static_cast<double>(work.ranks.size());
  const Seconds average_traffic = work.traffic / count / egress;
  bound.collectives = std::max(bound.collectives, average_traffic);
  bound.serial = std::max({bound.serial, all_kernels / count + average_traffic, bound.together()});
  if (work.fuses) bound.serial = bound.together();
  return bound;
}

}  // namespace

LowerBound lower_bound(const Experiment& experiment) { return lower_bound(experiment, Strategy{}); }

LowerBound lower_bound(const Experiment& experiment, const Strategy& strategy) {
  const ClusterSpec& cluster = experiment.cluster;
  return bound_of(whole_work(experiment, strategy), raw_egress(cluster.network()), cluster.gpu.hbm.peak);
}

}}  // namespace c3::workloads
