#pragma once
/// Where the work groups of a grid go, found once for grids and states of a GPU that are alike.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "gpu/compute_units.hpp"

namespace c3 { inline namespace gpu {

/// The work groups of one grid that a GPU holds at once.
struct GridPlacement {
  /// A CU, and how many of them are there.
  struct Slot {
    int xcd, cu, groups;
  };
  std::vector<Slot> slots;
  std::vector<std::int64_t> in_xcd;  ///< work groups, by XCD
  int most_on_a_cu = 0;

  /// Adds a work group on each of \p cus of \p xcd, in which a CU may come several times.
  void add(int xcd, std::span<const int> cus);

 private:
  std::vector<int> groups_on_;  ///< scratch: by CU of an XCD
};

/// A step of training launches the same kernels thousands of times, on GPUs that hold nothing or the same
/// channels of collectives.
class KnownPlacements {
 public:
  struct Placement : GridPlacement {
    int beside_copies = 0;  ///< slots on CUs that held work groups, all of which only copy
  };

  /// Those that fit of \p work_groups, dealt to the XCDs in turn, as ComputeUnits::place_all places them on
  /// each. \pre nobody computes on \p units
  std::shared_ptr<const Placement> of(const ComputeUnits& units, int xcds, const WorkGroupNeeds& needs,
                                      CuRange range, std::int64_t work_groups);

 private:
  using Grid = std::tuple<double, double, int, int, int, std::int64_t, std::vector<ComputeUnits::Occupied>>;
  std::map<Grid, std::shared_ptr<const Placement>> found_;
};

}}  // namespace c3::gpu
