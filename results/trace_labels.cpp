#include "results/trace_labels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "results/build_info.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/program/joiners.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr int kKinetoSchemaVersion = 1;

/// "all_gather" is AllGather in NCCL's kernel names.
std::string camel_case(std::string_view words) {
  std::string text;
  bool starts_word = true;
  for (const char c : words) {
    if (c != '_') text += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts_word = c == '_';
  }
  return text;
}

std::string upper_case(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// A collective of a given size in bytes moves bytes.
struct ElementType {
  std::string_view nccl = "u8";
  std::string_view torch = "Byte";
  Bytes size = Bytes{1};
};

ElementType element_type(const std::optional<DType>& dtype) {
  if (!dtype) return {};
  const auto size = element_size(*dtype);
  switch (*dtype) {
    case DType::bf16:
      return {"bf16", "BFloat16", size};
    case DType::fp16:
      return {"f16", "Half", size};
    case DType::fp8:
      return {"f8e4m3", "Float8_e4m3fn", size};
    case DType::fp4:
      return {"f4e2m1", "Float4_e2m1fn_x2", size};
    case DType::fp32:
      return {"f32", "Float", size};
  }
  throw std::logic_error("element_type: unknown data type");
}

Json group_config(const ProcessGroups& groups) {
  Json config = Json::array();
  for (const auto& ranks : groups.all()) {
    const std::size_t number = config.size();
    config.push_back({{"pg_name", std::to_string(number)},
                      {"pg_desc", groups.description(number)},
                      {"pg_size", ranks.size()},
                      {"ranks", ranks}});
  }
  return config;
}

/// ncclDevKernel_AllReduce_Sum_bf16_RING_SIMPLE: how NCCL names its kernels, and readers tell communication.
std::string kernel_name(const CollectiveCall& call, Backend backend, const CollectiveMethod& method,
                        std::string_view element) {
  const bool on_channels = backend == Backend::cu;
  return fmt::format("{}_{}{}_{}_{}{}", on_channels ? "ncclDevKernel" : "ncclMemcpy",
                     camel_case(name_of(call.kind)), reduces(call.kind) ? "_Sum" : "", element,
                     upper_case(name_of(method.algorithm)),
                     on_channels ? "_" + upper_case(name_of(method.protocol)) : "");
}

/// What member \p index of an all-to-all with a size for each pair sends and receives, as c10d writes it.
void add_splits(Json& args, const CollectiveCall& call, std::size_t index, std::size_t members, Bytes element) {
  std::vector<long long> in, out;
  for (std::size_t other = 0; other < members; ++other) {
    in.push_back(std::llround(call.sends[index * members + other] / element));
    out.push_back(std::llround(call.sends[other * members + index] / element));
  }
  args["In split size"] = fmt::format("[{}]", fmt::join(in, ", "));
  args["Out split size"] = fmt::format("[{}]", fmt::join(out, ", "));
  args["In msg nelems"] = std::accumulate(in.begin(), in.end(), 0LL);
  args["Out msg nelems"] = std::accumulate(out.begin(), out.end(), 0LL);
}

/// The label of a call in one group; for an all-to-all with a size for each pair, the label of member \p index.
CollectiveLabel label_of(const CollectiveCall& call, const StreamPolicy& policy, const Experiment& experiment,
                         const ProcessGroups& groups, std::size_t index) {
  const std::vector<int> ranks = members_of(call, experiment.cluster.ranks());
  const int members = static_cast<int>(ranks.size());
  const auto type = element_type(call.dtype);
  const auto elements = [&](Bytes bytes) { return std::llround(bytes / type.size); };
  Json args = {{"Collective name", name_of(call.kind)},
               {"In msg nelems", elements(input_bytes(call, members))},
               {"Out msg nelems", elements(output_bytes(call, members))},
               {"Group size", members},
               {"dtype", type.torch},
               {"Process Group Name", std::to_string(groups.number_of(ranks))}};
  constexpr int kMostListed = 30;  // PyTorch's limit
  if (members <= kMostListed) args["Process Group Ranks"] = fmt::format("[{}]", fmt::join(ranks, ", "));
  if (call.kind == CollectiveKind::all_to_all_v) add_splits(args, call, index, ranks.size(), type.size);
  const CollectiveMethod method = method_of(call, policy, experiment.cluster);
  return {.name = kernel_name(call, policy.backend, method, type.nccl),
          .args = args.dump(),
          .backend = policy.backend};
}

}  // namespace

ProcessGroups::ProcessGroups(const Experiment& experiment) {
  std::vector<int> all(static_cast<std::size_t>(experiment.cluster.ranks()));
  std::iota(all.begin(), all.end(), 0);
  add(all, "default_pg");
  std::vector<RankGroups> seen;  // few, of many members
  for (const CallId number : calls_by_stream(experiment.program)) {
    const CollectiveCall& call = experiment.program.calls[number].what;
    if (call.groups && std::ranges::find(seen, *call.groups) != seen.end()) continue;
    if (call.groups) seen.push_back(*call.groups);
    const std::string description =
        fmt::format("groups of {} from {}", member_count(call, experiment.cluster.ranks()), groups_.size());
    for (const CollectiveCall& of_group : calls_by_group(call, experiment.cluster.ranks()))
      add(members_of(of_group, experiment.cluster.ranks()), description);
  }
}

void ProcessGroups::add(const std::vector<int>& ranks, const std::string& description) {
  if (!numbers_.emplace(ranks, groups_.size()).second) return;
  groups_.push_back(ranks);
  descriptions_.push_back(description);
}

CollectiveLabel message_label(Backend backend) {
  const Json args = {{"Collective name", "send_receive"}, {"Group size", 2}};
  return {.name = backend == Backend::cu ? "ncclDevKernel_SendRecv" : "ncclMemcpy_SendRecv",
          .args = args.dump(),
          .backend = backend};
}

CollectiveLabels::CollectiveLabels(const CollectiveCall& call, const StreamPolicy& policy,
                                   const Experiment& experiment, const ProcessGroups& groups, bool folded)
    : groups_(call.groups), has_splits_(call.kind == CollectiveKind::all_to_all_v) {
  for (const CollectiveCall& of_group : calls_by_group(call, experiment.cluster.ranks())) {
    const std::vector<int> members = members_of(of_group, experiment.cluster.ranks());
    if (has_splits_ && members_.empty()) members_ = members;
    for (std::size_t index = 0; index < (has_splits_ ? members.size() : 1); ++index)
      labels_.push_back(label_of(of_group, policy, experiment, groups, index));
    if (folded) break;
  }
}

const CollectiveLabel& CollectiveLabels::of(int rank) const {
  const auto group = groups_ ? static_cast<std::size_t>(group_number(*groups_, rank)) : 0;
  if (!has_splits_) return labels_[group];
  const std::vector<int> members = groups_ ? group_of(*groups_, rank) : members_;
  const auto place = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  return labels_.at(group * members.size() + place);
}

namespace {

/// [first, last] of each range of ranks for which that of \p rank's file stands.
Json represented(const RankPartition& simulated, int rank) {
  Json ranges = Json::array();
  const RankRanges alike = simulated.ranges().at(static_cast<std::size_t>(simulated.class_of(rank)));
  for (const auto& [first, end] : alike)
    ranges.push_back(Json::array({first, end - 1}));
  return ranges;
}

std::string folding_text(const RankPartition& simulated, int rank) {
  const int ranks = simulated.ranks();
  if (simulated.classes() == ranks) return "no: a file for every rank";
  if (simulated.classes() == 1)
    return fmt::format("all {} ranks do the same at the same time; rank 0 stands for them", ranks);
  return fmt::format("{} ranks in {} classes, a file each; rank {} stands for {} alike", ranks,
                     simulated.classes(), rank, simulated.alike(rank));
}

}  // namespace

std::string trace_header(const Experiment& experiment, const ProcessGroups& process_groups,
                         const Strategy& strategy, const RankPartition& simulated, int rank,
                         const std::string& shortened) {
  const auto& gpu = experiment.cluster.gpu;
  const int ranks = experiment.cluster.ranks();
  const Json device = {{"id", rank},
                       {"name", gpu.name},
                       {"totalGlobalMem", std::llround(gpu.hbm.size.value)},
                       {"numSms", gpu.compute.cus()}};
  const Json groups = group_config(process_groups);
  // What c3sim says of itself comes early: by it a later command knows the file (files/written_files.hpp).
  Json header = {{"schemaVersion", kKinetoSchemaVersion},
                 {"otherData",
                  {{"software", "c3sim"},
                   {"software_version", build_info().version},
                   {"experiment", experiment.name},
                   {"strategy", strategy.name},
                   {"system", experiment.cluster.name},
                   {"starts", "release"},
                   {"folded", folding_text(simulated, rank)}}},
                 {"deviceProperties", Json::array({device})},
                 {"distributedInfo",
                  {{"backend", "nccl"},
                   {"rank", rank},
                   {"world_size", ranks},
                   {"represented_ranks", simulated.alike(rank)},
                   {"represented_rank_ranges", represented(simulated, rank)},
                   {"pg_count", groups.size()},
                   {"pg_config", groups}}},
                 {"displayTimeUnit", "ns"}};
  if (!shortened.empty()) header["otherData"]["shortened"] = shortened + "; c3sim run --exact simulates all";
  constexpr int kIndent = 2;
  return header.dump(kIndent);
}

}}  // namespace c3::results
