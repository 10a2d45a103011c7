#pragma once

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// Where the time beyond ideal went. Shapley values of giving each kernel a private copy of one resource. The
/// parts add up to the median time less the longest median alone; with draws, both of the draw that has the
/// median.
struct LossSplit {
  Seconds dispatch;     ///< waiting behind another kernel's work groups
  Seconds cus;          ///< CUs given to the other side, and its clock
  Seconds cache;        ///< L2 and LLC pollution
  Seconds hbm;          ///< HBM bandwidth shared
  Seconds links;        ///< interconnect shared
  Seconds interaction;  ///< the rest: what no private copy removes

  Seconds total() const { return dispatch + cus + cache + hbm + links + interaction; }
};

}}  // namespace c3::workloads
