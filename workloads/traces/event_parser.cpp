#include "workloads/traces/event_parser.hpp"

#include <algorithm>

#include <simdjson.h>

namespace c3::inline traces {
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

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == ','))
    token.remove_suffix(1);
  return token;
}

/// \throws simdjson::simdjson_error
std::string_view text_of(simdjson::ondemand::value value) {
  switch (value.type()) {
    case simdjson::ondemand::json_type::string: {
      std::string_view text;
      if (value.get_string().get(text) == simdjson::SUCCESS) return text;
      // An escape that stands for no character, such as half of a surrogate pair: as it is spelled.
      text = trimmed(value.raw_json_token());
      return text.substr(1, text.size() - 2);
    }
    case simdjson::ondemand::json_type::array:
      return simdjson::ondemand::array(value.get_array()).raw_json();
    case simdjson::ondemand::json_type::object:
      return simdjson::ondemand::object(value.get_object()).raw_json();
    default:
      return trimmed(value.raw_json_token());
  }
}

}  // namespace

struct EventParser::Library {
  simdjson::ondemand::parser parser;

  void read_arguments(simdjson::ondemand::object arguments, EventTexts& texts) {
    for (auto field : arguments) {
      const TextMember member = member_of(kArguments, field.unescaped_key());
      if (member != nullptr) texts.*member = text_of(field.value());
    }
  }

  void read(simdjson::padded_string_view json, EventTexts& texts) {
    simdjson::ondemand::document document = parser.iterate(json);
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "args") {
        simdjson::ondemand::value value = field.value();
        if (value.type() == simdjson::ondemand::json_type::object) read_arguments(value.get_object(), texts);
      } else if (const TextMember member = member_of(kFields, key); member != nullptr) {
        texts.*member = text_of(field.value());
      }
    }
  }
};

EventParser::EventParser() : library_(std::make_unique<Library>()) {}
EventParser::~EventParser() = default;

const EventTexts& EventParser::parse(std::string_view json) {
  buffer_.resize(json.size() + simdjson::SIMDJSON_PADDING);
  bool is_ascii = true;
  std::ranges::transform(json, buffer_.begin(), [&](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    is_ascii = is_ascii && byte < 0x80;
    return byte < ' ' ? ' ' : letter;
  });
  if (!is_ascii && !simdjson::validate_utf8(buffer_.data(), json.size())) {
    std::ranges::replace_if(
        buffer_, [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; }, '?');
  }
  texts_ = {};
  try {
    library_->read(simdjson::padded_string_view(buffer_.data(), json.size(), buffer_.size()), texts_);
  } catch (const simdjson::simdjson_error& error) {
    throw EventSyntaxError(error.what());
  }
  return texts_;
}

}  // namespace c3::traces
