#pragma once
/// Which work groups sit on which CU: LDS, registers and wave slots of every CU of a GPU.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/observer.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// CUs [begin, end) of every XCD: what a stream's CU mask leaves it.
struct CuRange {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

class ComputeUnits {
 public:
  explicit ComputeUnits(const ComputeSpec& spec);

  CuRange all() const { return {0, cus_per_xcd_}; }

  /// Puts a work group on the emptiest CU of \p range that has room. \returns the CU's number in its XCD, or
  /// -1.
  int place(int xcd, const WorkGroupNeeds& needs, CuRange range);
  /// As place(), on one of the CUs of \p range that belong to \p engine: those whose number is \p engine modulo
  /// \p engines.
  int place_in_engine(int xcd, const WorkGroupNeeds& needs, CuRange range, int engine, int engines);
  /// As place() up to \p most times, and appends where to \p cus.
  void place_all(int xcd, const WorkGroupNeeds& needs, CuRange range, std::int64_t most, std::vector<int>& cus);
  /// Puts \p groups work groups on a CU that has room for them.
  void put(int xcd, int cu, const WorkGroupNeeds& needs, int groups);
  /// Takes \p groups work groups off their CU. \p by is the activity that ends there, for dependency edges.
  void release(int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by, int groups = 1);
  /// \p by ended on a CU without having been put there.
  void note_end(int xcd, int cu, ActivityId by);

  int residents(int xcd, int cu) const { return at(xcd, cu).residents; }
  int computing(int xcd, int cu) const { return at(xcd, cu).computing; }  ///< residents that share arithmetic
  ActivityId last_released_by(int xcd, int cu) const { return at(xcd, cu).last; }
  /// CUs of \p range that hold work groups which only copy.
  int copying(CuRange range) const;
  int busy() const { return busy_; }                ///< CUs with at least one work group
  bool computes() const { return computing_ > 0; }  ///< whether some of them compute
  /// A CU with work groups, and what it has left.
  struct Occupied {
    std::size_t unit;
    double lds, registers;
    int waves, residents;
    auto operator<=>(const Occupied&) const = default;
  };
  std::vector<Occupied> occupied() const;
  std::uint64_t changes() const { return changes_; }  ///< work groups that came or went so far

 private:
  struct Unit {
    double lds, registers;  // free bytes
    int waves;              // free slots
    int residents = 0;
    int computing = 0;
    bool copies() const { return residents > 0 && computing == 0; }
    ActivityId last = kNoActivity;
  };
  std::size_t index(int xcd, int cu) const {
    return static_cast<std::size_t>(cu) * xcds_ + static_cast<std::size_t>(xcd);
  }
  const Unit& at(int xcd, int cu) const {
    const std::size_t unit = index(xcd, cu);
    return unit < units_.size() ? units_[unit] : unused_;
  }

  bool fits(const Unit& unit, const WorkGroupNeeds& needs) const {
    return unit.waves >= needs.waves && unit.lds >= needs.lds.value && unit.registers >= needs.registers.value;
  }
  /// The words, 64 CUs each, that tell which CUs of an XCD have so many residents.
  std::uint64_t* with_residents(int xcd, int residents) {
    return by_residents_.data() + level(xcd, residents) * words_;
  }
  int& count(int xcd, int residents) { return with_[level(xcd, residents)]; }
  std::size_t level(int xcd, int residents) const {
    return static_cast<std::size_t>(residents) * xcds_ + static_cast<std::size_t>(xcd);
  }
  int levels() const { return static_cast<int>(with_.size() / xcds_); }
  Unit& grown_to(int xcd, int cu);
  void add_level();
  int first_fit(int xcd, int residents, const WorkGroupNeeds& needs, CuRange range);
  void add_fits(int xcd, int residents, const WorkGroupNeeds& needs, CuRange range, std::int64_t most,
                std::vector<int>& cus);
  std::int64_t rounds_on(int xcd, std::span<const int> cus, const WorkGroupNeeds& needs,
                         std::int64_t most) const;
  void move(int xcd, int cu, int from, int to);

  int cus_per_xcd_;
  std::size_t xcds_;
  std::size_t words_;
  Unit unused_;                              ///< a CU that has never held a work group
  std::vector<Unit> units_;                  ///< by CU, then by XCD, up to the last that has held a work group
  std::vector<std::uint64_t> by_residents_;  ///< a bit for each CU, by number of residents, then by XCD
  std::vector<int> with_;    ///< CUs, by number of residents (as many as there were), then by XCD
  std::vector<int> fewest_;  ///< residents of the emptiest CU, by XCD
  std::vector<int> fits_;    ///< scratch
  int busy_ = 0;
  int copies_ = 0;     ///< work groups that only copy
  int computing_ = 0;  ///< the others
  std::uint64_t changes_ = 0;
};

}}  // namespace c3::gpu
