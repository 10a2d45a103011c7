#pragma once
/// Why a run takes as long as it does, as far as one run can know.

#include <string>
#include <vector>

#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// Lines about the strategy with the least median, shares of its time on an average GPU:
/// - "time": kernels by class, exposed communication, idle time, and what the model's flops take at the peak;
/// - "exposed": exposed communication by kind, and how much of each waits for members that have not come;
/// - "next", where there is one strategy only, so that recommend() has nothing to say: the largest part
///   without kernels, if it is a tenth of the time, else the largest class of kernels, and which verbs tell
///   more.
/// Empty where the times of classes of ranks are not known. Wrong when: kernels run beside one another, whose
/// times by class then add up to more than the time in which any runs; classes are shares of that sum.
/// Whether what is not waiting is latency or bandwidth, and what causes waiting, takes other runs (c3sim
/// explain).
std::vector<std::string> run_words(const StudyResult& study);

}}  // namespace c3::results
