#pragma once
/// Sampling while a program runs: which kernels need not be simulated again.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace sampling {

/// Durations of classes of kernels, as a run finds them, and the rule of STEM for how many of each make the
/// sum of all known: with N kernels of a class so far, of mean mu and deviation sigma,
///     n = S N sigma / sqrt(mu) / ((kFilledBound error sum N mu / t)^2 - 2 sum N sigma^2),
///     S = sum over classes of N sigma sqrt(mu),
/// the cheapest draws for that error. What is subtracted is not in STEM: kernels that are replayed and
/// those that the whole simulation has in their place vary by themselves, too, which counts where they are few.
/// t is Student's for the class's own draws, because sigma is estimated from them. n does not change where all
/// N grow alike, so that counts so far serve as well as those of the whole. At least kFewestDraws of each class
/// are simulated. Source: Chung et al., MICRO 2025 (methods/stem.cpp), made sequential here. Wrong when:
/// durations of a class drift after it is known.
class RunningSamples {
 public:
  static constexpr std::size_t kFewestDraws = 3;

  /// \param error of the sum of all durations, relative, above 0; \param confidence above 0, below 1
  RunningSamples(double error, double confidence);

  std::size_t add_class();
  /// Whether kernels of the class can be replayed.
  bool is_known(std::size_t number) const;
  /// A simulated duration of the class, chosen by \p key. \pre there is one
  Seconds draw(std::size_t number, std::uint64_t key) const;

  void add_simulated(std::size_t number, Seconds duration);
  void add_replayed(std::size_t number, Seconds duration);

  std::size_t simulated() const { return simulated_; }  ///< kernels
  std::size_t replayed() const { return replayed_; }
  Seconds replayed_time() const { return replayed_time_; }
  /// t standard errors of the sum of all durations against that of the whole simulation, which draws its
  /// own where kernels were replayed: t^2 sum over classes of R sigma^2 (R / n + 2), R of each replayed.
  Seconds expected_error() const;

 private:
  struct Class {
    std::vector<Seconds> drawn;
    double mean = 0.0, squares = 0.0;  ///< [s], [s^2] about the mean
    std::size_t replayed = 0;
    double spread = 0.0, total = 0.0, noise = 0.0;  ///< its parts of the sums below

    double deviation() const;
    double count() const { return static_cast<double>(drawn.size() + replayed); }
  };
  double quantile(std::size_t draws) const;  ///< t of so many
  void sum_up(Class& durations);

  double error_, confidence_;
  std::vector<double> quantiles_;  ///< t by degrees of freedom
  std::vector<Class> classes_;
  double spread_ = 0.0;  ///< sum of N sigma sqrt(mu) [s^1.5]
  double total_ = 0.0;   ///< sum of N mu [s]
  double noise_ = 0.0;   ///< sum of N sigma^2 [s^2]
  std::size_t simulated_ = 0, replayed_ = 0;
  Seconds replayed_time_;
};

}}  // namespace c3::sampling
