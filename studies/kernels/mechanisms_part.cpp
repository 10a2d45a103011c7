#include "studies/kernels/mechanisms_part.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "configs/presets/coefficient_file.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/protocol.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kEvery = 5;  // row of a table, odd for tables in pairs: a fifth says the same

std::vector<TakenRow> large_in_bf16(const std::vector<TakenRow>& rows) {
  std::vector<TakenRow> found;
  std::size_t seen = 0;
  for (const TakenRow& row : rows) {
    const bool wanted =
        row.shape.dtype == DType::bf16 && row.collector != Collector::vllm && is_large(row.shape);
    if (wanted && seen++ % kEvery == 0) found.push_back(row);
  }
  return found;
}

/// What one line of a variant is of.
struct Selection {
  std::string_view id, label, gpu;
  Repetition repetition;
  double most_flops;
};
constexpr double kAny = 1e300;
constexpr std::array kSelections = {
    Selection{"h100", "H100", "h100-sxm", Repetition::six, kAny},
    Selection{"h100.small", "H100, below 10 GFLOP", "h100-sxm", Repetition::six, 10e9},
    Selection{"b200", "B200, burst", "b200-sxm", Repetition::six, kAny},
    Selection{"b200.small", "B200, burst, below 10 GFLOP", "b200-sxm", Repetition::six, 10e9},
    Selection{"b200.sustained", "B200, one second", "b200-sxm", Repetition::one_second, kAny}};

}  // namespace

const std::array<MechanismsPart::Variant, 5> MechanismsPart::kVariants = {
    Variant{.id = "none", .label = "none"}, Variant{.id = "warm", .label = "warm operands alone", .warm = true},
    Variant{.id = "governor", .label = "power limit alone", .governed = true},
    Variant{.id = "family", .label = "coefficients of the family alone", .family = true},
    Variant{.id = "all", .label = "all", .warm = true, .governed = true, .family = true}};

MechanismsPart::MechanismsPart(const std::filesystem::path& kernels) {
  tables_.push_back({"h100-sxm", large_in_bf16(read_taken(kernels / "gemm_h100_sxm.csv"))});
  tables_.push_back(
      {"b200-sxm", large_in_bf16(read_taken_pairs(kernels / "gemm_b200_burst_and_sustained.csv"))});
}

void MechanismsPart::predict(Table& table, std::size_t variant) const {
  const Variant& of = kVariants.at(variant);
  GpuSpec gpu = in_burst(table.gpu);
  if (!of.governed) gpu.governor.board = {};
  if (!of.family) {
    KernelCoefficients coefficients = gpu.kernels;
    apply(load_coefficients("matrix_gemm", shipped_coefficients("matrix_gemm")), "", gpu.hbm.technology,
          coefficients);
    set_coefficients(gpu, coefficients);
  }
  std::vector<Seconds>& predicted = table.predicted.at(variant);
  for (TakenRow row : table.rows) {
    row.finds_warm = of.warm;
    predicted.push_back(taken_time(row, gpu));
  }
}

void MechanismsPart::plan(Jobs& jobs) {
  for (Table& table : tables_) {
    for (std::size_t variant = 0; variant < kVariants.size(); ++variant)
      jobs.emplace_back([this, &table, variant] { predict(table, variant); });
  }
}

StudyReport MechanismsPart::sections(const PublishedFigures& published) const {
  StudySection section;
  section.heading =
      "Products in BF16, m, n and k at least 512, with each mechanism alone and with all: mean absolute error";
  for (const Selection& of : kSelections) {
    for (std::size_t variant = 0; variant < kVariants.size(); ++variant) {
      Comparison comparison;
      for (const Table& table : tables_) {
        for (std::size_t i = 0; table.gpu == of.gpu && i < table.rows.size(); ++i) {
          const TakenRow& row = table.rows[i];
          if (row.repetition != of.repetition || flops_of(row.shape) >= of.most_flops) continue;
          comparison.add({row.measured, table.predicted.at(variant)[i], block_of(row.shape)}, {});
        }
      }
      section.lines.push_back(
          comparison.line(published.find(fmt::format("mechanism.{}.{}", of.id, kVariants.at(variant).id)),
                          FigureKind::fitted, fmt::format("{}: {}", of.label, kVariants.at(variant).label)));
    }
  }
  section.notes = {
      fmt::format("Every {}th row. Without its family's coefficients a GPU has the default ones.", kEvery)};
  return {section};
}

}}  // namespace c3::studies
