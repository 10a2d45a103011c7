#pragma once
/// \file
/// One event of a Kineto trace, from JSON to texts. The only user of simdjson.

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace c3::inline traces {

/// The event is no JSON object.
class EventSyntaxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Values as texts: strings without quotation marks and escapes, numbers as they are spelled, arrays as JSON.
/// Empty: the event does not have the key. Views are valid until the next event is parsed.
struct EventTexts {
  std::string_view phase, category, name, start, duration, process, thread;
  // In "args":
  std::string_view correlation, external_id, device, stream;
  std::string_view dims, types, concrete;
  std::string_view collective, dtype, group, group_description, ranks, in_split, out_split;
  std::string_view in_elements, out_elements, group_size, sequence;
  std::string_view waited_stream, record_correlation;
};

class EventParser {
 public:
  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  /// Raw control characters count as spaces and bytes that are not UTF-8 as question marks: names of kernels
  /// hold such. \throws EventSyntaxError in the words of the JSON library
  const EventTexts& parse(std::string_view json);

 private:
  struct Library;  ///< what needs simdjson's header
  std::unique_ptr<Library> library_;
  std::string buffer_;
  EventTexts texts_;
};

}  // namespace c3::traces
