#include "app/reproduce/t3/sublayers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/reproduce/collectives/headed_table.hpp"
#include "configs/nearest_name.hpp"

namespace c3 {
namespace {

constexpr std::array<std::string_view, 9> kColumns = {"group", "model",    "hidden",   "layers", "tokens",
                                                      "tp",    "sublayer", "k_hidden", "pass"};
constexpr std::array<std::string_view, 2> kGroups = {"main", "large"};
constexpr std::array<std::string_view, 4> kNames = {"OP", "FC-2", "FC-1", "IP"};
constexpr std::array<std::string_view, 2> kPasses = {"backward", "forward"};

/// One line of the file.
class SublayerReader {
 public:
  SublayerReader(const HeadedTable& table, const HeadedTable::Row& row) : table_(table), row_(row) {}

  Sublayer read() const {
    constexpr double kMostGpus = 256;
    constexpr double kLargest = 16'777'216;
    Sublayer sublayer{.group = one_of("group", kGroups),
                      .model = std::string(cell("model")),
                      .hidden = whole("hidden", kLargest),
                      .layers = whole("layers", kLargest),
                      .tokens = whole("tokens", kLargest),
                      .tp = static_cast<int>(whole("tp", kMostGpus)),
                      .name = one_of("sublayer", kNames),
                      .k_hidden = whole("k_hidden", kLargest),
                      .forward = one_of("pass", kPasses) == "forward"};
    if (sublayer.model.empty()) fail("model", "is missing");
    if (sublayer.tp < 2) fail("tp", "must be at least 2: there is nothing to reduce");
    if (sublayer.hidden * sublayer.k_hidden % sublayer.tp != 0)
      fail("tp", fmt::format("does not divide {} x {}", sublayer.k_hidden, sublayer.hidden));
    return sublayer;
  }

 private:
  std::string_view cell(std::string_view column) const {
    return row_.cells[table_.need({column}, "of every sub-layer")];
  }

  [[noreturn]] void fail(std::string_view column, const std::string& reason) const {
    throw table_.error(row_, cell(column), column, reason);
  }

  template <std::size_t N>
  std::string one_of(std::string_view column, const std::array<std::string_view, N>& names) const {
    if (std::ranges::find(names, cell(column)) == names.end())
      fail(column, unknown_name(column, cell(column), std::vector<std::string>(names.begin(), names.end())));
    return std::string(cell(column));
  }

  std::int64_t whole(std::string_view column, double largest) const {
    const std::optional<double> value = number_in(cell(column));
    if (!value || *value < 1 || *value > largest || *value != std::floor(*value))
      fail(column, fmt::format("must be a whole number from 1 to {:.0f}, not '{}'", largest, cell(column)));
    return static_cast<std::int64_t>(*value);
  }

  const HeadedTable& table_;
  const HeadedTable::Row& row_;
};

}  // namespace

std::string Sublayer::id() const { return in_lower_case(fmt::format("{}.tp{}.{}", model, tp, name)); }

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
      list.sublayers.push_back(SublayerReader(table, row).read());
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
  for (StreamSpec& stream : base.streams) {
    for (Operation& operation : stream.operations) {
      if (auto* gemm = std::get_if<GemmShape>(&operation.work)) *gemm = sublayer.gemm();
      if (auto* call = std::get_if<CollectiveCall>(&operation.work)) {
        call->bytes = sublayer.partial_sums();
        call->dtype = DType::fp16;
      }
    }
  }
  return base;
}

}  // namespace c3
