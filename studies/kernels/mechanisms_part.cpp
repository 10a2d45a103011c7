#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "configs/presets/coefficient_file.hpp"
#include "studies/kernels/levels.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/taken_rows.hpp"

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

/// What stands beside tiles, waves and bytes: none, one, or all.
struct Variant {
  std::string_view id, label;
  bool warm = false;      ///< operands that earlier calls left in the caches
  bool governed = false;  ///< the power limit
  bool family = false;    ///< coefficients of the architecture instead of the default ones
};
constexpr std::array kVariants = {
    Variant{.id = "none", .label = "none"}, Variant{.id = "warm", .label = "warm operands alone", .warm = true},
    Variant{.id = "governor", .label = "power limit alone", .governed = true},
    Variant{.id = "family", .label = "coefficients of the family alone", .family = true},
    Variant{.id = "all", .label = "all", .warm = true, .governed = true, .family = true}};

/// What one line of a variant is of.
struct Selection {
  std::string_view id, label;
  std::size_t table;  ///< H100's, B200's
  Repetition repetition;
  double most_flops;
};
constexpr double kAny = 1e300;
constexpr std::array kSelections = {
    Selection{"h100", "H100", 0, Repetition::six, kAny},
    Selection{"h100.small", "H100, below 10 GFLOP", 0, Repetition::six, 10e9},
    Selection{"b200", "B200, burst", 1, Repetition::six, kAny},
    Selection{"b200.small", "B200, burst, below 10 GFLOP", 1, Repetition::six, 10e9},
    Selection{"b200.sustained", "B200, one second", 1, Repetition::one_second, kAny}};

class MechanismsPart : public StudyPart {
 public:
  explicit MechanismsPart(const std::filesystem::path& kernels) {
    tables_[0].fill(large_in_bf16(read_taken(kernels / "gemm_h100_sxm.csv")));
    tables_[1].fill(large_in_bf16(read_taken_pairs(kernels / "gemm_b200_burst_and_sustained.csv")));
  }

  void plan(Jobs& jobs) override {
    for (std::size_t table = 0; table < tables_.size(); ++table) {
      for (std::size_t variant = 0; variant < kVariants.size(); ++variant)
        jobs.emplace_back([this, table, variant] {
          predict(tables_.at(table).at(variant), table == 0 ? "h100-sxm" : "b200-sxm", kVariants.at(variant));
        });
    }
  }

  StudyReport sections(const PublishedFigures& published) const override {
    StudySection section{
        .heading =
            "Products in BF16, m, n and k at least 512, with each mechanism alone and with all: mean "
            "absolute error",
        .notes = {fmt::format("Every {}th row. Without its family's coefficients a GPU has the default ones.",
                              kEvery)}};
    for (const Selection& selection : kSelections) {
      for (std::size_t variant = 0; variant < kVariants.size(); ++variant)
        section.lines.push_back(mean_error(
            published.find(fmt::format("mechanism.{}.{}", selection.id, kVariants.at(variant).id)),
            fmt::format("{}: {}", selection.label, kVariants.at(variant).label),
            tables_.at(selection.table).at(variant), [&](const TakenRow& row) {
              return row.repetition == selection.repetition && flops_of(row.shape) < selection.most_flops;
            }));
    }
    return {section};
  }

 private:
  static void predict(std::vector<TakenRow>& rows, std::string_view name, const Variant& variant) {
    GpuSpec gpu = in_burst(name);
    if (!variant.governed) gpu.governor.board = {};
    if (!variant.family) {
      KernelCoefficients coefficients = gpu.kernels;
      apply(load_coefficients("matrix_gemm", shipped_coefficients("matrix_gemm")), "", gpu.hbm.technology,
            coefficients);
      set_coefficients(gpu, coefficients);
    }
    for (TakenRow& row : rows) {
      row.finds_warm = variant.warm;
      row.predicted = taken_time(row, gpu);
    }
  }

  std::array<std::array<std::vector<TakenRow>, kVariants.size()>, 2> tables_;  ///< the rows, by variant
};

}  // namespace

std::unique_ptr<StudyPart> mechanisms_part(const std::filesystem::path& kernels) {
  return std::make_unique<MechanismsPart>(kernels);
}

}}  // namespace c3::studies
