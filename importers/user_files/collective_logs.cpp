#include "importers/collective_times/json_tests.hpp"
#include "importers/collective_times/printed_tests.hpp"
#include "importers/logs/library_log.hpp"
#include "importers/logs/library_variables.hpp"
#include "importers/user_files/entries.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kCompare = "c3sim collective --table FILE --system auto";

bool is_tests_output(std::string_view text) {
  constexpr std::string_view kRcclCsv = "numCycle,collective,";  // rccl-tests -Z csv
  return text.starts_with(kRcclCsv) || is_json_of_tests(text) || has_printed_header(text);
}

bool is_log_alone(std::string_view text) { return !is_tests_output(text) && is_library_log(text); }

}  // namespace

constexpr FileFormat kTestsOutput{.name = "nccl-tests",
                                  .what = "output of nccl-tests or rccl-tests",
                                  .role = FileRole::log,
                                  .recognises = is_tests_output,
                                  .read = nullptr,
                                  .command = kCompare};

constexpr FileFormat kLibraryLog{.name = "nccl-log",
                                 .what = "a log of NCCL or RCCL (NCCL_DEBUG=INFO)",
                                 .role = FileRole::log,
                                 .recognises = is_log_alone,
                                 .read = nullptr,
                                 .command = kCompare};

constexpr FileFormat kVariables{.name = "nccl-environment",
                                .what = kLibraryEnvironment,
                                .role = FileRole::machine,
                                .recognises = is_library_environment,
                                .read = read_library_environment,
                                .command = "c3sim new --machine FILE --system NAME"};

}}  // namespace c3::importers
