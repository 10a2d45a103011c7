#pragma once
/// Messages between ranks in the `run` of a stream: `send`, `receive` and `exchange`.

#include <string>

#include "configs/toml/section.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace configs {

/// `send = { size = "64 MiB", to = 1, over = "pp" }`, or `receive` with `from`. \param key which of both
WrittenOperation read_message(Section& section, const std::string& key);

/// `exchange = { over = "pp", sends = [{ size = "64 MiB", to = 1 }], receives = [..] }`
WrittenOperation read_exchange(Section& section);

}}  // namespace c3::configs
