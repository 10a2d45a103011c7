#pragma once
/// Kernels of a run that are replayed and not simulated: measure.estimate = "stem".

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "collectives/collective_run.hpp"
#include "gpu/kernel_times.hpp"
#include "workloads/program/program.hpp"
#include "workloads/sampling/running_samples.hpp"

namespace c3 { inline namespace workloads {

/// What runs on one GPU now: at most one operation of each stream.
class Company {
 public:
  explicit Company(std::size_t streams) : running_(streams) {}

  void begin_kernel(std::size_t stream, NameId name);
  void begin_collective(std::size_t stream, const CollectiveRun& run);
  void end(std::size_t stream);

  /// A number for what each other stream runs, 0 for nothing: kernels by name, collectives by kind, backend and
  /// whether all members have joined.
  std::vector<std::uint64_t> beside(std::size_t stream) const;
  std::uint64_t changes() const { return changes_; }  ///< operations that began or ended so far

 private:
  struct Running {
    std::uint64_t what = 0;
    const CollectiveRun* run = nullptr;
  };
  std::vector<Running> running_;
  std::uint64_t changes_ = 0;
};

/// Repeated kernels are simulated until RunningSamples knows what they take in their company; the rest last as
/// long as one of those did, as one flow with the bytes of all work groups (FluidRun).
///
/// Kernels are alike that have one operator and stream, begin beside the same company (Company) and at the same
/// clock of that company, within kClockStep. A kernel is replayed where those of its name that began so were
/// last left in the company with which they began: where a collective comes or goes meanwhile, kernels are
/// simulated. A replayed kernel whose company changes after all keeps its time; the result's bound widens by
/// all of that time. Wrong when: what decides a kernel's time is none of this, such as what caches hold from
/// the kernel before.
class KernelReplay {
 public:
  KernelReplay(std::size_t streams, double error);

  Company& company(int rank);

  struct Summary {
    std::size_t simulated = 0, replayed = 0;  ///< kernels
    std::size_t disturbed = 0;                ///< replayed ones whose company changed
    Seconds time, replayed_time, disturbed_time;
    Seconds expected_error;  ///< RunningSamples::expected_error
  };
  Summary summary() const;

 private:
  friend class SampledKernel;

  static constexpr double kClockStep = 0.02;
  static constexpr double kConfidence = 0.95;

  /// Of a kernel: what it computes and how it runs.
  struct Situation {
    std::size_t kernel = 0;  ///< number, of an operator or of an operator with a name
    std::size_t stream = 0;
    long clock = 0;  ///< logarithm of the speed of arithmetic, in steps
    std::vector<std::uint64_t> beside;
    auto operator<=>(const Situation&) const = default;
  };
  /// Kernels of one name in one situation.
  struct Place {
    std::size_t samples = 0;  ///< class in samples_
    bool is_calm = false;     ///< the last one ended in the company with which it began
  };
  struct Named {
    Operator what;
    std::size_t number, operator_number;
  };

  const Named& named(const Operation& operation, const Operator& what);
  Place& place(const Named& kernel, std::size_t stream, double speed, std::vector<std::uint64_t> beside);

  std::size_t streams_;
  RunningSamples samples_;
  std::map<int, Company> companies_;           ///< by rank
  std::map<NameId, std::deque<Named>> names_;  ///< the kernels of a name; stable addresses
  std::size_t kernels_ = 0;                    ///< numbered so far
  std::vector<Operator> operators_;            ///< by number
  std::map<Situation, Place> places_;
  std::map<Situation, std::size_t> classes_;
  std::size_t simulated_ = 0, disturbed_ = 0;
  Seconds time_, disturbed_time_;
};

/// One launch of a kernel that may be replayed.
class SampledKernel final : public KernelTimes {
 public:
  SampledKernel(KernelReplay& replay, int rank, std::size_t stream, const Operation& operation,
                const Operator& what);

  std::optional<Seconds> known(double speed) override;
  void ended(Seconds time) override;

 private:
  KernelReplay& replay_;
  const Company& company_;
  std::size_t stream_;
  const KernelReplay::Named& kernel_;
  std::uint64_t draw_;
  KernelReplay::Place* place_ = nullptr;
  std::vector<std::uint64_t> beside_;
  std::uint64_t changes_ = 0;
  bool is_replayed_ = false;
};

}}  // namespace c3::workloads
