#pragma once
/// Whether every message that is sent is received.

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// The n-th message that a rank sends to another over a communicator meets the n-th that the other receives
/// from it: both must be of the same bytes, and on streams of the same name. \throws InfeasibleError, naming
/// both ranks
void check_messages(const Program& program, int ranks);

}}  // namespace c3::workloads
