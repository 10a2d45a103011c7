/// Any bytes as a PyTorch execution trace, and behind a line "---" as the Kineto trace that it is joined with:
/// reported on, or refused with a TraceError.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/source_of.hpp"
#include "workloads/traces/execution/execution_reader.hpp"
#include "workloads/traces/execution/execution_report.hpp"
#include "workloads/traces/execution/kineto_join.hpp"
#include "workloads/traces/execution/rank_match.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/trace_error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  try {
    std::vector<c3::ExecutionTrace> executions;
    executions.push_back(c3::read_execution_trace("et_0.json", c3::source_of(c3::take_part(rest))));
    c3::make_report(executions);
    if (rest.empty()) return 0;
    std::vector<c3::Trace> kinetos;
    kinetos.push_back(c3::read_kineto("kineto_0.json", c3::source_of(rest)));
    if (c3::match_ranks(kinetos, executions).front() == c3::kNoIndex) return 0;
    c3::complete_from(executions.front(), kinetos.front());
    std::vector<c3::Rank> ranks;
    ranks.emplace_back(std::move(kinetos.front()));
    c3::make_report(ranks);
  } catch (const c3::TraceError&) {
    return 0;
  }
  return 0;
}
