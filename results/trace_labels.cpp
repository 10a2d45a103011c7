#include "results/trace_labels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/build_info.hpp"

namespace c3 {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kKinetoSchemaVersion = 1;
constexpr const char* kProcessGroup = "0";  // PyTorch's name of the default group

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
    case DType::fp32:
      return {"f32", "Float", size};
  }
  throw std::logic_error("element_type: unknown data type");
}

/// Bytes that one rank contributes.
Bytes input_bytes(const CollectiveCall& call, int ranks) {
  switch (call.kind) {
    case CollectiveKind::all_gather:
      return call.bytes / static_cast<double>(ranks);
    case CollectiveKind::all_to_all:
      return call.bytes;
  }
  throw std::logic_error("input_bytes: unknown collective");
}

Json all_ranks(int ranks) {
  std::vector<int> list(static_cast<std::size_t>(ranks));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

}  // namespace

CollectiveLabel collective_label(const CollectiveCall& call, const StreamPolicy& policy, int ranks) {
  const auto type = element_type(call.dtype);
  const auto elements = [&](Bytes bytes) { return std::llround(bytes / type.size); };
  const Json args = {{"Collective name", name_of(call.kind)},
                     {"In msg nelems", elements(input_bytes(call, ranks))},
                     {"Out msg nelems", elements(call.bytes)},
                     {"Group size", ranks},
                     {"dtype", type.torch},
                     {"Process Group Name", kProcessGroup}};
  const auto algorithm = policy.algorithm.value_or(default_algorithm(policy.backend));
  return {.name = fmt::format("{}_{}_{}_{}", policy.backend == Backend::cu ? "ncclDevKernel" : "ncclMemcpy",
                              camel_case(name_of(call.kind)), type.nccl, upper_case(name_of(algorithm))),
          .args = args.dump(),
          .backend = policy.backend};
}

std::string trace_header(const Experiment& experiment, const Strategy& strategy, int rank) {
  const auto& gpu = experiment.cluster.gpu;
  const int ranks = experiment.cluster.node.gpus;
  const Json device = {{"id", rank},
                       {"name", gpu.name},
                       {"totalGlobalMem", std::llround(gpu.hbm.size.value)},
                       {"numSms", gpu.compute.cus()}};
  const Json group = {
      {"pg_name", kProcessGroup}, {"pg_desc", "default_pg"}, {"pg_size", ranks}, {"ranks", all_ranks(ranks)}};
  const Json header = {
      {"schemaVersion", kKinetoSchemaVersion},
      {"deviceProperties", Json::array({device})},
      {"distributedInfo",
       {{"backend", "nccl"},
        {"rank", rank},
        {"world_size", ranks},
        {"represented_ranks", experiment.measure.fold ? ranks : 1},
        {"pg_count", 1},
        {"pg_config", Json::array({group})}}},
      {"otherData",
       {{"software", "c3sim"},
        {"software_version", build_info().version},
        {"experiment", experiment.name},
        {"strategy", strategy.name},
        {"system", experiment.cluster.name},
        {"folded", experiment.measure.fold
                       ? fmt::format("all {} ranks do the same at the same time; rank 0 stands for them", ranks)
                       : "no: a file for every rank"}}},
      {"displayTimeUnit", "ns"}};
  constexpr int kIndent = 2;
  return header.dump(kIndent);
}

}  // namespace c3
