// Unlike quantities cannot be ordered.

#include "engine/units.hpp"

bool before([[maybe_unused]] c3::Bytes bytes, c3::Seconds seconds) {
#ifdef MUST_NOT_COMPILE
  return bytes < seconds;
#endif
  return seconds < seconds;
}
