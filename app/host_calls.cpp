#include "app/host_calls.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/nearest_name.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace app {

CallCosts calls_of(const std::string& host) {
  if (host.empty()) return {};
  const std::vector<std::string> known = preset_names(PresetKind::host);
  if (std::ranges::find(known, host) == known.end()) {
    throw ConfigError({std::make_shared<const std::string>("--host"), 1, 1}, "host",
                      unknown_name("host preset", host, known));
  }
  return load_host(host).calls;
}

}}  // namespace c3::app
