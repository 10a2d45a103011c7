#pragma once
/// \file
/// Operator lists as files: JSON, one operator a line.
///
/// ```text
/// {"format": "c3sim operators", "version": 2, "operators": [
/// {"rank": 0, "thread": 1, "class": "gemm", "name": "aten::mm", "dims": [[4, 8], [8, 2]], "types": ["float",
/// "float"],
///  "concrete": ["", ""], "gpu_time_us": 12.5, "kernels": 1, "host_us": 8.25, "after_wait": true},
/// {"rank": 0, "thread": 1, "class": "collective", "name": "record_param_comms", "wait": false, "kind":
/// "all_reduce",
///  "dtype": "float", "group": "0", "bytes": 4096, "group_size": 2, "sequence": 7}
/// ]}
/// ```
///
/// Keys without a value are left out, and so are "after_wait" and "with_host" (of a copy) where they are false;
/// a collective is known by "wait". Times are exact decimal microseconds. A later version adds keys or changes
/// what they mean: a reader refuses it. Version 1 has no "kernels", "host_us", "after_wait" and "with_host".

#include <string>

#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/json_splitter.hpp"

namespace c3 { inline namespace traces {

constexpr int kOperatorListVersion = 2;

std::string operator_list_text(const OperatorList& list);

/// \throws TraceError for what is not such a file, is of a later version, or has no "format" and "version"
/// before its operators: the message names the operator by its place
OperatorList read_operator_list(const std::string& file, const ByteSource& source);

}}  // namespace c3::traces
