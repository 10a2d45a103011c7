#include "studies/goldyloc/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gpu/kernel_time.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kClasses = 5;  // degrees 1, 2, 4, 8, 16; between two of them the higher one's
constexpr int kSteps = 1000;         // converged: four times as many change what is kept by 0.1 % at most
constexpr double kRate = 0.5;
constexpr double kPenalty = 1e-4;

std::size_t class_of(int degree) {
  return std::min<std::size_t>(kClasses - 1, static_cast<std::size_t>(std::ceil(std::log2(degree))));
}

}  // namespace

Features features_of(const ReadyProducts& products, const TunedKernels& kernels, const GpuSpec& gpu) {
  const GemmShape& shape = products.shape;
  Features features;
  for (const std::int64_t extent : {shape.m, shape.n, shape.k, std::int64_t{products.parallel}})
    features.push_back(std::log2(static_cast<double>(extent)));
  for (const auto& [part, kernel] : kernels) {
    features.push_back(std::log2(static_cast<double>(kernel.work_groups) / gpu.compute.cus()));
    features.push_back(std::log2(work_groups_per_cu(gpu.compute, kernel.needs, kernel.name)));
    features.push_back(std::log2(time_alone(kernel, gpu).waves));
  }
  return features;
}

DegreePredictor::DegreePredictor(std::span<const DegreeSample> samples) {
  const std::size_t size = samples.front().features.size();
  const auto count = static_cast<double>(samples.size());
  mean_.assign(size, 0.0);
  deviation_.assign(size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (const DegreeSample& sample : samples)
      mean_[i] += sample.features[i] / count;
    for (const DegreeSample& sample : samples)
      deviation_[i] += std::pow(sample.features[i] - mean_[i], 2.0) / count;
    deviation_[i] = std::sqrt(std::max(deviation_[i], 1e-12));
  }
  std::vector<Features> inputs;
  for (const DegreeSample& sample : samples)
    inputs.push_back(scaled(sample.features));
  weights_.assign(kClasses, Features(size + 1, 0.0));
  std::vector<Features> before = weights_;  // where steps end; weights_ are ahead of that by the momentum
  for (int step = 0; step < kSteps; ++step) {
    std::vector<Features> gradient(kClasses, Features(size + 1, 0.0));
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const std::vector<double> odds = probabilities(inputs[s], samples[s].degrees);
      double expected = 0.0;
      for (std::size_t d = 0; d < odds.size(); ++d)
        expected += odds[d] * std::log(samples[s].times[d]);
      for (std::size_t d = 0; d < odds.size(); ++d) {
        const double slope = odds[d] * (std::log(samples[s].times[d]) - expected) / count;
        Features& row = gradient[class_of(samples[s].degrees[d])];
        for (std::size_t i = 0; i <= size; ++i)
          row[i] += slope * inputs[s][i];
      }
    }
    const double momentum = step / (step + 3.0);
    for (std::size_t c = 0; c < kClasses; ++c) {
      for (std::size_t i = 0; i <= size; ++i) {
        const double weight = weights_[c][i] - kRate * (gradient[c][i] + kPenalty * weights_[c][i]);
        weights_[c][i] = weight + momentum * (weight - std::exchange(before[c][i], weight));
      }
    }
  }
  weights_ = std::move(before);
}

Features DegreePredictor::scaled(const Features& features) const {
  Features result(features.size() + 1, 1.0);
  for (std::size_t i = 0; i < features.size(); ++i)
    result[i] = (features[i] - mean_[i]) / deviation_[i];
  return result;
}

std::vector<double> DegreePredictor::probabilities(const Features& scaled, std::span<const int> degrees) const {
  std::vector<double> odds;
  for (const int degree : degrees) {
    const Features& row = weights_[class_of(degree)];
    odds.push_back(std::inner_product(row.begin(), row.end(), scaled.begin(), 0.0));
  }
  const double largest = std::ranges::max(odds);
  for (double& score : odds)
    score = std::exp(score - largest);
  const double sum = std::accumulate(odds.begin(), odds.end(), 0.0);
  for (double& score : odds)
    score /= sum;
  return odds;
}

int DegreePredictor::pick(const Features& features, std::span<const int> degrees) const {
  const std::vector<double> odds = probabilities(scaled(features), degrees);
  return degrees[static_cast<std::size_t>(std::ranges::max_element(odds) - odds.begin())];
}

}}  // namespace c3::studies
