// Bytes over a rate are a duration; a rate over bytes is not.

#include "engine/units.hpp"

c3::Seconds duration(c3::Bytes bytes, c3::BytesPerSecond rate) {
#ifdef MUST_NOT_COMPILE
  return rate / bytes;
#endif
  return bytes / rate;
}
