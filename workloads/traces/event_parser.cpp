#include "workloads/traces/event_parser.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace traces {
namespace {

using TextMember = std::string_view EventTexts::*;

struct Field {
  std::string_view key;
  TextMember member;
};

constexpr std::array kFields{
    Field{"ph", &EventTexts::phase},   Field{"cat", &EventTexts::category}, Field{"name", &EventTexts::name},
    Field{"ts", &EventTexts::start},   Field{"dur", &EventTexts::duration}, Field{"pid", &EventTexts::process},
    Field{"tid", &EventTexts::thread},
};

constexpr std::array kArguments{
    Field{"correlation", &EventTexts::correlation},
    Field{"External id", &EventTexts::external_id},
    Field{"external id", &EventTexts::external_id},  // files of 2021
    Field{"Record function id", &EventTexts::record_id},
    Field{"device", &EventTexts::device},
    Field{"stream", &EventTexts::stream},
    Field{"Input Dims", &EventTexts::dims},
    Field{"Input dims", &EventTexts::dims},  // files of 2021
    Field{"Input type", &EventTexts::types},
    Field{"Concrete Inputs", &EventTexts::concrete},
    Field{"Collective name", &EventTexts::collective},
    Field{"dtype", &EventTexts::dtype},
    Field{"Process Group Name", &EventTexts::group},
    Field{"Process Group Description", &EventTexts::group_description},
    Field{"Process Group Ranks", &EventTexts::ranks},
    Field{"In split size", &EventTexts::in_split},
    Field{"Out split size", &EventTexts::out_split},
    Field{"In msg nelems", &EventTexts::in_elements},
    Field{"Out msg nelems", &EventTexts::out_elements},
    Field{"Group size", &EventTexts::group_size},
    Field{"Seq", &EventTexts::sequence},
    Field{"wait_on_stream", &EventTexts::waited_stream},
    Field{"wait_on_cuda_event_record_corr_id", &EventTexts::record_correlation},
};

template <std::size_t N>
TextMember member_of(const std::array<Field, N>& fields, std::string_view key) {
  const auto* const found = std::ranges::find(fields, key, &Field::key);
  return found == fields.end() ? nullptr : found->member;
}

}  // namespace

const EventTexts& EventParser::parse(std::string_view json) {
  const JsonView event = tree_.parse(json);
  if (!event.is(JsonKind::object)) throw JsonSyntaxError("the value is of another type");
  texts_ = {};
  for (const JsonView member : event) {
    if (member.key() == "args") {
      for (const JsonView argument : member) {
        const TextMember place = member_of(kArguments, argument.key());
        if (place != nullptr) texts_.*place = argument.text();
      }
    } else if (const TextMember place = member_of(kFields, member.key()); place != nullptr) {
      texts_.*place = member.text();
    }
  }
  return texts_;
}

}}  // namespace c3::traces
