#pragma once
/// Convolutions of a find-db as choices among MIOpen's kernels.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/calibration/row_groups.hpp"
#include "gpu/selection/kernel_selector.hpp"
#include "gpu/spec.hpp"
#include "studies/convolutions/find_db.hpp"
#include "studies/selection/growing/selector_training.hpp"
#include "studies/study_part.hpp"

namespace c3 { inline namespace studies {

inline constexpr std::array kConvolutionPasses = {ConvolutionPass::forward, ConvolutionPass::data,
                                                  ConvolutionPass::weight};

/// A convolution with the kernels that its find-db lists: the four fastest, as a rule.
struct SolverProblem {
  ConvolutionShape shape;
  std::uint64_t layer = 0;  ///< equal for all batches, types and passes of a layer
  std::vector<float> features;
  std::string kind;
  std::vector<int> tokens;                 ///< of the listed kernels
  std::vector<double> times;               ///< ms, by place in `tokens`
  std::vector<ConvolutionSolver> solvers;  ///< what the listed kernels are here, by place in `tokens`

  std::size_t best() const;
  double least() const { return times[best()]; }
  int winner() const { return tokens[best()]; }
};

/// Problems of one GPU.
struct SolverTable {
  std::string name;   ///< "MI100"
  std::string words;  ///< in ids of figures: "mi100"
  GpuSpec gpu;        ///< as in a find-db
  std::vector<SolverProblem> problems;
  std::array<std::vector<std::string>, 3> tokens;  ///< names of kernels, by pass and number
};

/// Reads the table without features, which \p jobs add. \param table outlives the jobs
void read_solver_table(const FindDb& db, SolverTable& table, Jobs& jobs);

/// Trained on those of \p rows that have \p pass. Beside the listed kernels it may choose others that the table
/// has for the kind: of these is known that they take longer than the last one listed.
KernelSelector solver_selector(const SolverTable& table, const Rows& rows, ConvolutionPass pass,
                               const TrainingOptions& options);

/// Chooses for each fifth of a GPU's layers by what the other four fifths teach; all batches, types and
/// passes of a layer are on one side. If a table has too few layers, its figures stay without a number.
/// \param table outlives it
std::unique_ptr<StudyPart> solver_choice(const SolverTable& table);

/// What configs/selection/ has: few trees, so that its table is short.
inline constexpr TrainingOptions kShippedSolvers{.trees = 80, .rate = 0.25};

}}  // namespace c3::studies
