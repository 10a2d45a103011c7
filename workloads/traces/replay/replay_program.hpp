#pragma once
/// \file
/// A recorded run as a program that the simulator runs.

#include "workloads/program/program.hpp"
#include "workloads/traces/replay/rank_roles.hpp"
#include "workloads/traces/replay/recorded_run.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace traces {

/// The program of a cluster of \p ranks: one stream for each stream of the trace, in every rank; hosts with the
/// threads of the recording. Work is timed in situ, and a collective of several ranks lasts as recorded from
/// the arrival of the last one. Ranks that were not recorded do nothing; where one rank was recorded, all do
/// what it did and meet in its collectives, of which a modelled one has no waiting. Copies and memsets are
/// timed kernels, as they share no link here. Work that \p model chooses is a kernel of its shape, or an
/// ordinary call; work whose time is in another's then takes none. All keep the lags of their starts. \throws
/// InfeasibleError for a recorded rank that the cluster has not Wrong when: modelled work is launched otherwise
/// on another GPU (more kernels, or fewer); work is in the time of a kernel that the GPU cannot run (it then
/// takes none, and the kernel its recorded time); members join a collective on unlike streams, of which it
/// takes the last rank's policy.
Program replay_program(const RecordedRun& run, int ranks, const ReplayModel& model = {});
/// The same where \p roles say which recorded rank each rank of the cluster repeats. Recorded ranks that did
/// the same at the same dates share a script.
Program replay_program(const RecordedRun& run, const RankRoles& roles, const ReplayModel& model = {});

}}  // namespace c3::traces
