// Unlike quantities cannot be added.

#include "engine/units.hpp"

c3::Bytes sum(c3::Bytes bytes, [[maybe_unused]] c3::Seconds seconds) {
#ifdef MUST_NOT_COMPILE
  return bytes + seconds;
#endif
  return bytes + bytes;
}
