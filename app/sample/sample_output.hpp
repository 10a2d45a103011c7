#pragma once
/// What c3sim sample prints.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/sampling/draw.hpp"
#include "workloads/sampling/invocations.hpp"
#include "workloads/sampling/seq_points.hpp"
#include "workloads/sampling/sequence_lengths.hpp"
#include "workloads/sampling/trials.hpp"

namespace c3 { inline namespace app {

struct SampledInput {
  std::string file;
  std::size_t invocations = 0;
  std::size_t kernels = 0;  ///< different names
  Seconds total;
};

struct SampledKernels {
  std::string file;
  Invocations invocations;
  SamplePlan plan;
  DrawnSample sample;
  std::uint64_t seed = 0;
};

std::string sampled_text(const SampledKernels& sampled);
std::string sampled_json(const SampledKernels& sampled);

/// A method over many seeds.
struct ComparedMethod {
  std::string_view method;
  std::size_t clusters = 0;
  std::size_t samples = 0;
  std::optional<double> bound;
  TrialErrors errors;
};

std::string comparison_text(const SampledInput& input, std::span<const ComparedMethod> methods);
std::string comparison_json(const SampledInput& input, std::span<const ComparedMethod> methods);

/// Iterations that a method chose, and what they say of another machine.
struct SampledEpoch {
  std::string_view method;
  EpochSample sample;
  std::optional<Seconds> other;  ///< the other machine's epoch, per iteration, as the sample has it
};

struct SampledLog {
  std::string file;
  double bound = 0.0;                 ///< asked for
  std::vector<SampledEpoch> methods;  ///< the first is SeqPoint
  std::string other_file;             ///< empty: none
  std::optional<Seconds> other_mean;  ///< mean iteration in the other machine's whole log
};

std::string epoch_text(const SampledLog& log);
std::string epoch_json(const SampledLog& log);

/// A strategy's epoch, of which a few lengths were simulated.
struct SampledStrategy {
  std::string name;
  EpochSample sample;
  /// Lengths that were simulated: the points, and those that show how time grows between.
  std::size_t lengths = 0;
  Seconds simulated;             ///< their times
  std::optional<Seconds> whole;  ///< time of all iterations, each length simulated
};

/// A training job whose sequences differ in length.
struct SampledJob {
  std::string experiment;
  std::int64_t sequences = 0;
  LengthBatches batches = LengthBatches::padded;
  std::int64_t batch = 0;                  ///< sequences of an iteration
  std::vector<std::int64_t> lengths = {};  ///< lengths of its iterations
  double padding = 0.0;                    ///< share of the computed tokens that no sequence has
  double bound = 0.0;                      ///< asked for
  std::vector<SampledStrategy> strategies = {};
};

std::string job_text(const SampledJob& job);
std::string job_json(const SampledJob& job);

}}  // namespace c3::app
