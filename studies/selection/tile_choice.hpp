#pragma once
/// The part of `reproduce selection` that chooses rocBLAS's kernels of products.

#include <optional>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/selection/tile_table.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Chooses for each fifth of the sizes by what the other four fifths teach; all types, layouts and GPUs of a
/// product are on one side.
class TileChoice {
 public:
  explicit TileChoice(const TileTable& of);

  /// None where the table has too few sizes: its figures stay without a number then.
  void plan(Jobs& jobs);

  StudySection section(const PublishedFigures& published) const;

 private:
  /// The first three sequences that each way would choose, best first.
  using Choices = std::vector<std::vector<TokenSequence>>;

  void choose(const Rows& fitted, const Rows& held_out);
  void vote(const Rows& fitted, const Rows& held_out);
  std::vector<StudyLine> lines(const PublishedFigures& published, const std::string& way,
                               const std::string& label, const Choices& choices) const;
  StudyLine model(const PublishedFigures& published) const;

  const TileTable& of_;
  bool was_chosen_ = false;
  Choices learned_, shipped_, majority_, neighbours_;  ///< by problem
};

}}  // namespace c3::studies
