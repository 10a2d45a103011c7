#pragma once
/// What kernels were found to take in their situations, by runs of one strategy.

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "workloads/sampling/running_samples.hpp"

namespace c3 { inline namespace workloads {

/// What else runs on a GPU: a number for each of its streams, 0 for nothing (Company), and last of all how many
/// operations have begun or ended there.
using CompanyState = std::vector<std::uint64_t>;

/// Durations of kernels by situation, as they would be at boost clock if all of a kernel followed it. Runs
/// learn from one another, one after the other: of other sizes of the same step, under the same strategy,
/// isolation and seed.
class KernelSamples {
 public:
  /// How a kernel begins: what it computes, and beside what.
  struct Situation {
    std::size_t kernel = 0;  ///< number_of() its operator
    std::size_t stream = 0;
    long clock = 0;                     ///< logarithm of the speed of arithmetic, in steps
    std::vector<std::uint64_t> beside;  ///< CompanyState of its begin, without the count
    auto operator<=>(const Situation&) const = default;
  };
  /// Kernels that began alike.
  struct Begun {
    CompanyState last_end = {};                       ///< what had become of the company of the last one
    std::map<CompanyState, std::size_t> by_end = {};  ///< numbers of classes, by what became of their company
  };

  /// \param error that replayed kernels may make of the sum of all kernels' times, relative, at 95 %
  explicit KernelSamples(double error) : samples_(error, kConfidence) {}

  /// Equal operators have equal numbers.
  std::size_t number_of(const Operator& what);
  /// Of one address, which stays.
  Begun& begun(const Situation& situation);

  /// Whether kernels of \p begun whose company becomes \p end can be replayed.
  bool is_known(const Begun& begun, const CompanyState& end) const;
  /// A simulated duration of one of them, chosen by \p key. \pre is_known()
  Seconds draw(const Begun& begun, const CompanyState& end, std::uint64_t key) const;

  /// A kernel was simulated, and took \p time; its company became \p end.
  void add_simulated(Begun& begun, const CompanyState& end, Seconds time);
  /// A kernel was replayed as one whose company becomes \p expected; it became \p end.
  void add_replayed(Begun& begun, const CompanyState& end, const CompanyState& expected, Seconds time);

  Seconds replayed_time() const { return samples_.replayed_time(); }
  Seconds expected_error() const { return samples_.expected_error(); }

 private:
  static constexpr double kConfidence = 0.95;

  sampling::RunningSamples samples_;
  std::vector<Operator> operators_;  ///< by number
  std::map<Situation, Begun> situations_;
};

}}  // namespace c3::workloads
