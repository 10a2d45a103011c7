#pragma once
/// What c3sim sample prints.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workloads/sampling/draw.hpp"
#include "workloads/sampling/invocations.hpp"
#include "workloads/sampling/seq_points.hpp"
#include "workloads/sampling/trials.hpp"

namespace c3::inline app {

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
  std::optional<Seconds> other_mean;  ///< of an iteration of the other machine's whole log
};

std::string epoch_text(const SampledLog& log);
std::string epoch_json(const SampledLog& log);

}  // namespace c3::app
