/// Any bytes as a PyTorch execution trace, and behind a line "---" as the Kineto trace that it is joined with:
/// reported on, and written
/// and read as an operator list, or refused with a TraceError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/source_of.hpp"
#include "workloads/traces/execution/execution_reader.hpp"
#include "workloads/traces/execution/execution_report.hpp"
#include "workloads/traces/execution/kineto_join.hpp"
#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"
#include "workloads/traces/execution/operator_times.hpp"
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
    const c3::KinetoJoin join = c3::join_with_kineto(kinetos.front(), executions.front());
    c3::complete_from(executions.front(), join, kinetos.front());
    std::vector<c3::Rank> ranks;
    ranks.emplace_back(std::move(kinetos.front()));
    c3::make_report(ranks);
    c3::OperatorList list;
    list.ranks.push_back(c3::list_operators(executions.front(), 0));
    c3::add_times(list.ranks.front(), executions.front(), ranks.front(), join);
    const std::string text = c3::operator_list_text(c3::obfuscated(list));
    if (c3::operator_list_text(c3::read_operator_list("list", c3::source_of(text))) != text) std::abort();
  } catch (const c3::TraceError&) {
    return 0;
  }
  return 0;
}
