#pragma once
/// \file
/// One event of a Kineto trace, from JSON to texts.

#include <string_view>

#include "workloads/traces/json_tree.hpp"

namespace c3 { inline namespace traces {

/// Values as texts: strings without quotation marks and escapes, numbers as they are spelled, arrays as JSON.
/// Empty: the event does not have the key. Views are valid until the next event is parsed.
struct EventTexts {
  std::string_view phase, category, name, start, duration, process, thread;
  // Fields inside "args":
  std::string_view correlation, external_id, record_id, device, stream;
  std::string_view dims, types, concrete;
  std::string_view collective, dtype, group, group_description, ranks, in_split, out_split;
  std::string_view in_elements, out_elements, group_size, sequence;
  std::string_view waited_stream, record_correlation;
};

class EventParser {
 public:
  /// \throws JsonSyntaxError if the event is no JSON object
  const EventTexts& parse(std::string_view json);

 private:
  JsonTree tree_{2};  // the event and its "args"; arrays in those stay JSON
  EventTexts texts_;
};

}}  // namespace c3::traces
