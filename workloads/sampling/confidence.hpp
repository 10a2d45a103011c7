#pragma once

namespace c3 { inline namespace sampling {

/// z such that a normal variable lies within z standard deviations of its mean with probability \p confidence:
/// 1.96 for 0.95. \param confidence above 0 and below 1
double normal_quantile(double confidence);

/// t such that Student's variable of so many \p degrees of freedom, at least 1, lies within +-t with
/// probability \p confidence: 4.30 for 0.95 and 2 degrees.
double student_quantile(double confidence, int degrees);

/// Probability that Student's variable of so many \p degrees of freedom, at least 1, lies within +-\p t.
double student_probability(double t, int degrees);

/// How many draws make the mean of a population with this relative deviation known within \p error, relative,
/// with probability \p confidence: (z variation / error)^2, by the central limit theorem. Not rounded.
double draws_needed(double variation, double error, double confidence);

}}  // namespace c3::sampling
