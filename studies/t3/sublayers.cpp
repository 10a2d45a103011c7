#include "studies/t3/sublayers.hpp"

#include <fmt/format.h>

#include <array>

#include "base/small_letters.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::array<std::string_view, 9> kColumns = {"group", "model",    "hidden",   "layers", "tokens",
                                                      "tp",    "sublayer", "k_hidden", "pass"};
constexpr std::array<std::string_view, 2> kGroups = {"main", "large"};
constexpr std::array<std::string_view, 4> kNames = {"OP", "FC-2", "FC-1", "IP"};
constexpr std::array<std::string_view, 2> kPasses = {"backward", "forward"};

Sublayer read_sublayer(const CheckedRow& row) {
  constexpr std::int64_t kMostGpus = 256;
  constexpr std::int64_t kLargest = 16'777'216;
  Sublayer sublayer{.group = std::string(kGroups.at(row.one_of("group", kGroups))),
                    .model = row.text("model"),
                    .hidden = row.whole("hidden", kLargest),
                    .layers = row.whole("layers", kLargest),
                    .tokens = row.whole("tokens", kLargest),
                    .tp = static_cast<int>(row.whole("tp", kMostGpus)),
                    .name = std::string(kNames.at(row.one_of("sublayer", kNames))),
                    .k_hidden = row.whole("k_hidden", kLargest),
                    .forward = kPasses.at(row.one_of("pass", kPasses)) == "forward"};
  if (sublayer.tp < 2) row.fail("tp", "must be at least 2: there is nothing to reduce");
  if (sublayer.hidden * sublayer.k_hidden % sublayer.tp != 0)
    row.fail("tp", fmt::format("does not divide {} x {}", sublayer.k_hidden, sublayer.hidden));
  return sublayer;
}

}  // namespace

std::string Sublayer::id() const { return in_small_letters(fmt::format("{}.tp{}.{}", model, tp, name)); }

GemmShape Sublayer::gemm() const {
  return {.m = tokens, .n = hidden, .k = k_hidden * hidden / tp, .dtype = DType::fp16};
}

Bytes Sublayer::partial_sums() const {
  return element_size(DType::fp16) * (static_cast<double>(tokens) * static_cast<double>(hidden));
}

SublayerList read_sublayers(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const std::string_view column : kColumns)
    table.need({column}, "of every sub-layer");
  SublayerList list{.sublayers = {}, .broken = table.broken()};
  for (const HeadedTable::Row& row : table.rows()) {
    try {
      list.sublayers.push_back(read_sublayer(CheckedRow(table, row, "of every sub-layer")));
    } catch (const ConfigError& error) {
      list.broken.emplace_back(error.what());
    }
  }
  if (list.sublayers.empty() && list.broken.empty())
    throw table.header_error("sublayer", "no sub-layer below the header");
  return list;
}

Experiment experiment_of(Experiment base, const Sublayer& sublayer) {
  base.name = sublayer.id();
  base.cluster.node.gpus = sublayer.tp;
  for (std::vector<Operation>& stream : base.program.scripts.front().streams) {
    for (Operation& operation : stream) {
      if (shape_of<GemmShape>(operation) != nullptr) operation.work = sublayer.gemm();
    }
  }
  for (Call& call : base.program.calls) {
    call.what.bytes = sublayer.partial_sums();
    call.what.dtype = DType::fp16;
  }
  return base;
}

}}  // namespace c3::studies
