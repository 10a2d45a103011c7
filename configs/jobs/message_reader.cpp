#include "configs/jobs/message_reader.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "configs/fields/operation_keys.hpp"
#include "configs/toml/rank_list.hpp"

namespace c3 { inline namespace configs {
namespace {

/// `{ size = "64 MiB", to = 1 }`, or `from` of what is received.
Message read_one(Section& section, bool sends) {
  constexpr int kFarthest = kMostRanks;
  Message message{.bytes = {}, .sends = sends};
  message.bytes = section.bytes("size");
  message.offset = static_cast<int>(section.integer(sends ? "to" : "from", -kFarthest, kFarthest));
  section.explain(kMessageKeys);
  return message;
}

}  // namespace

WrittenOperation read_message(Section& section, const std::string& key) {
  Section entry = section.table(key);
  const Message message = read_one(entry, key == "send");
  const std::string over = entry.slug("over");
  entry.explain(kMessageKeys);
  entry.finish();
  return {fmt::format("{} {}", key, over), WrittenExchange{over, {message}}};
}

WrittenOperation read_exchange(Section& section) {
  constexpr std::size_t kMostMessages = 4096;
  Section entry = section.table("exchange");
  WrittenExchange exchange{.over = entry.slug("over"), .messages = {}};
  for (const bool sends : {true, false}) {
    const std::string_view key = sends ? "sends" : "receives";
    if (!entry.has(key)) continue;
    for (Section& message : entry.tables(key, kMostMessages)) {
      exchange.messages.push_back(read_one(message, sends));
      message.finish();
    }
  }
  entry.explain(kMessageKeys);
  if (exchange.messages.empty()) entry.refuse("sends", "an exchange needs `sends`, `receives`, or both");
  entry.finish();
  return {"exchange " + exchange.over, std::move(exchange)};
}

}}  // namespace c3::configs
