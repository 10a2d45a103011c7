#include "workloads/explain/changed_family.hpp"

#include <utility>

namespace c3 { inline namespace workloads {
namespace {

class ChangedFamily final : public ProgramFamily {
 public:
  ChangedFamily(SharedFamily author, std::shared_ptr<const ProgramChange> change)
      : author_(std::move(author)), change_(std::move(change)) {}

  StepSize size() const override { return author_->size(); }
  std::int64_t layer_period() const override { return author_->layer_period(); }
  std::int64_t stages() const override { return author_->stages(); }
  std::int64_t fewest_micro_batches() const override { return author_->fewest_micro_batches(); }
  std::int64_t micro_batch_period() const override { return author_->micro_batch_period(); }
  std::shared_ptr<const ProgramFamily> at(const StepSize& size) const override {
    return std::make_shared<const ChangedFamily>(SharedFamily(author_->at(size)), change_);
  }
  void check(const ClusterSpec& cluster) const override { author_->check(cluster); }
  WrittenStep write(const ClusterSpec& cluster) const override {
    WrittenStep step = author_->write(cluster);
    (*change_)(step.program);
    return step;
  }
  bool writes_same(const ProgramFamily& other) const override {
    const auto* const changed = dynamic_cast<const ChangedFamily*>(&other);
    return changed != nullptr && changed->change_ == change_ && changed->author_ == author_;
  }

 private:
  SharedFamily author_;
  std::shared_ptr<const ProgramChange> change_;
};

}  // namespace

void change_program(Experiment& experiment, ProgramChange change) {
  change(experiment.program);
  if (!experiment.family) return;
  experiment.family = SharedFamily(std::make_shared<const ChangedFamily>(
      experiment.family, std::make_shared<const ProgramChange>(std::move(change))));
}

}}  // namespace c3::workloads
