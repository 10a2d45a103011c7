#pragma once
/// What each mechanism alone, and all together, make of the error of the given products in BF16.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/kernels/taken_rows.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class MechanismsPart {
 public:
  explicit MechanismsPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  /// What stands beside tiles, waves and bytes: none, one, or all.
  struct Variant {
    std::string_view id, label;
    bool warm = false;      ///< operands that earlier calls left in the caches
    bool governed = false;  ///< the power limit
    bool family = false;    ///< coefficients of the architecture instead of the default ones
  };
  static const std::array<Variant, 5> kVariants;

  /// Large products of one GPU.
  struct Table {
    std::string_view gpu;
    std::vector<TakenRow> rows;
    std::array<std::vector<Seconds>, 5> predicted = {};  ///< by variant
  };

  void predict(Table& table, std::size_t variant) const;

  std::vector<Table> tables_;
};

}}  // namespace c3::studies
