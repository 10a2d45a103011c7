#pragma once
/// Kernels of a run that are replayed and not simulated: measure.estimate = "stem".

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collectives/collective_run.hpp"
#include "gpu/kernel_launch.hpp"
#include "gpu/kernel_times.hpp"
#include "workloads/execute/kernel_samples.hpp"
#include "workloads/experiment.hpp"
#include "workloads/program/operator_values.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// What runs on one GPU now: at most one operation of each stream.
class Company {
 public:
  explicit Company(std::size_t streams) : running_(streams) {}

  void begin_kernel(std::size_t stream, std::size_t number);  ///< of its operator
  void begin_timed(std::size_t stream, NameId name);          ///< a kernel of which only the time is known
  void begin_collective(std::size_t stream, const CollectiveRun& run);
  void end(std::size_t stream);

  /// A number for what each other stream runs, 0 for nothing: kernels by operator, collectives by kind, backend
  /// and whether all members have joined.
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
/// clock, within kClockStep, and end beside the same. Within that step a kernel's time follows the clock. What
/// will have become of its company a kernel takes from the last one of its name that began alike, or, of a name
/// that is new, from the last one of any. It is replayed where nothing of that is new beside it: what begins
/// beside a kernel wants slots from it, and such kernels are simulated. A replayed kernel whose company becomes
/// another after all keeps its time. Wrong when: what decides a kernel's time is none of this, such as what
/// caches hold from the kernel before.
class KernelReplay {
 public:
  /// \param error as Measure::estimate_error
  KernelReplay(double error, std::size_t streams);

  Company& company(int rank);
  /// Of \p what, which the operations of \p name compute.
  std::size_t number_of(NameId name, const Operator& what);
  struct Summary {
    std::size_t simulated = 0, replayed = 0;  ///< kernels
    std::size_t surprised = 0;                ///< replayed ones whose company became another than expected
    Seconds time, replayed_time, surprised_time;
    Seconds expected_error;  ///< RunningSamples::expected_error, of what this run replayed
  };
  Summary summary() const;

 private:
  friend class SampledKernel;

  static constexpr double kClockStep = 0.02;

  /// Kernels of one name in one situation.
  struct Place {
    KernelSamples::Begun* begun = nullptr;
    CompanyState last_end = {};  ///< what had become of the company of the last one
  };

  Place& place(NameId name, KernelSamples::Situation situation);

  std::size_t streams_;
  KernelSamples samples_;
  std::map<int, Company> companies_;  ///< by rank
  OperatorValues<std::size_t> numbers_;
  std::map<std::pair<NameId, KernelSamples::Situation>, Place> places_;
  Summary sum_;  ///< so far, without its errors
};

/// One launch of a kernel that may be replayed.
class SampledKernel final : public KernelTimes {
 public:
  /// \param number KernelReplay::number_of() its operator
  SampledKernel(KernelReplay& replay, int rank, std::size_t stream, const Operation& operation,
                std::size_t number);

  std::optional<Seconds> known(double speed) override;
  void ended(Seconds time) override;

 private:
  KernelReplay& replay_;
  const Company& company_;
  std::size_t stream_, number_;
  NameId name_;
  std::uint64_t draw_;
  KernelReplay::Place* place_ = nullptr;
  std::vector<std::uint64_t> beside_;
  CompanyState expected_;  ///< what is thought to become of that
  std::uint64_t changes_ = 0;
  double speed_ = 1.0;  ///< of arithmetic, when it began
  bool is_replayed_ = false;
};

}}  // namespace c3::workloads
