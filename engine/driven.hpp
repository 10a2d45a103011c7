#pragma once
/// What an engine loop drives: something that happens at dates.

#include "engine/units.hpp"

namespace c3 { inline namespace engine {

class Driven {
 public:
  Driven() = default;
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  virtual Seconds now() const = 0;
  /// \returns the date [s] of what happens next; infinity when nothing will.
  virtual double next_date() = 0;
  /// Moves to \p date (now() <= date <= next_date()) and runs what is due.
  virtual void advance_to(double date) = 0;

 protected:
  ~Driven() = default;
};

}}  // namespace c3::engine
