#pragma once
/// A kernel as cohorts of work groups (see run_kernel).

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "engine/event.hpp"
#include "engine/random.hpp"
#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace gpu {

class CohortRun final : public DispatchClient, public ComputeClient {
 public:
  CohortRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity);

  Event& done() { return done_; }
  Seconds began() const { return began_; }  ///< date at which its first work groups were placed
  void on_placed(int xcd, std::span<const int> cus) override;
  double arithmetic_asked(int groups) override;
  void on_shares_changed(int xcd) override;

 private:
  struct Cohort {
    int xcd = 0;
    std::uint64_t number = 0;  ///< since the kernel's start
    std::vector<int> cus;
    std::int64_t block = 0, end_block = 0;  ///< of a persistent kernel: those of its first work groups
    int round = 0;                          ///< tiles that each of these has done
    ActivityId before = kNoActivity;        ///< on these CUs, of this kernel
    std::int64_t first = 0;                 ///< of its work groups, among those of the XCD
    Seconds placed;                         ///< date
    Bytes loads;                            ///< of one work group, from HBM
    double stores_to_hbm = 1.0;             ///< share of its stores
    Bytes in_flight;                        ///< of one work group, as its CU is shared at dispatch
    double cus_taken = 0.0;                 ///< from the kernel, at dispatch
    double after_others = 1.0;              ///< KernelDescription::after_others where it is, at dispatch
    ArithmeticShare share;                  ///< of its CUs, now
    std::optional<FlowId> steady = {};      ///< while it computes
  };

  Cohort* add_cohort(int xcd, std::span<const int> cus);
  Task run_cohort(Cohort* cohort);
  /// Tiles that the blocks of a cohort go on with.
  std::int64_t take_tiles(const Cohort& cohort);
  /// Its blocks go on with their next tiles; those for which there is none leave their CU.
  void go_on(const Cohort& cohort, ActivityId activity);
  ActivityId begin(const Cohort& cohort);
  int computing_beside(const Cohort& cohort) const;  ///< work groups of any kernel on its fullest CU
  /// Its siblings on the fullest CU and what other kernels leave them. While work groups wait to be placed, the
  /// mean over its CUs: those that end early make room. Then the CU that leaves least, which ends last.
  ArithmeticShare share_of(const Cohort& cohort) const;
  double latency_of_load() const { return gpu_.spec().hbm.latency.value; }  ///< [s]
  double slower(const Cohort& cohort) const;         ///< than at the kernel's clock, at speed 1
  Seconds compute_time(const Cohort& cohort) const;  ///< of the work groups on its fullest CU, at speed 1
  /// Of a cohort's work groups from the first loads, or from their end when something must be there first.
  std::span<const BoundTerm> steady_laws(const Cohort& cohort);
  /// The same with nobody else on its CUs, where its arithmetic takes \p computing at speed 1.
  BoundLaw law_alone(const Cohort& cohort, Seconds computing) const;
  /// \p fastest [1/s] bounds it.
  FlowSpec load_flow(const Cohort& cohort, const Traffic& traffic, double share, double fastest,
                     ActivityId activity);
  FlowSpec steady_flow(const Cohort& cohort, const Traffic& traffic, ActivityId activity);
  /// Its stores until they are served.
  Task store(const Cohort* cohort, double to_hbm);
  FlowSpec store_flow(const Cohort& cohort, double to_hbm);
  StoreBurst burst_of(const Cohort& cohort) const;
  /// The cohort's activity ends here, when its CUs but the first \p kept are free again; its stores belong to
  /// the kernel.
  void leave(const Cohort& cohort, ActivityId activity, std::size_t kept = 0);
  Cohort* take_record();

  Gpu& gpu_;
  Simulation& simulation_;
  Dispatcher& dispatcher_;
  const KernelDescription& kernel_;
  KernelLaunch launch_;
  ActivityId activity_;
  RandomStream random_;
  std::size_t cohort_size_;
  std::int64_t resident_ = 0;
  std::int64_t most_resident_ = 0;  ///< at once, so far
  /// Work groups whose stores are on their way. Those of as many as were ever resident are at HBM, all others
  /// wait in the last cache: more do not ask for more of HBM. When it is full of all kernels' stores
  /// (Memory::storing), work groups that end keep their CUs until their own are served.
  std::int64_t storing_ = 0;
  std::int64_t left_;
  std::int64_t placed_ = 0;
  Seconds began_;
  std::int64_t dealt_ = 0;  ///< tiles that a persistent kernel's counter still has
  std::vector<std::int64_t> placed_in_xcd_;
  std::uint64_t started_ = 0;
  std::optional<Traffic> asked_for_;  ///< of a work group, when it first met another kernel on a CU
  std::deque<Cohort> records_;        ///< stable addresses
  std::vector<Cohort*> free_records_;
  std::vector<Cohort*> computing_;  ///< in their steady phase
  std::vector<Demand> demands_;     ///< scratch
  std::vector<BoundTerm> laws_;     ///< scratch
  Event done_;
};

}}  // namespace c3::gpu
