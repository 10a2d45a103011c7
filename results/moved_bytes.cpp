#include "results/moved_bytes.hpp"

namespace c3 { inline namespace results {

// HBM's use is all bytes and what is lost between them: reads are what is left of it.
void MovedBytes::add(Counted counted, Bytes bytes) {
  switch (counted) {
    case Counted::hbm:
      hbm_read += bytes;
      return;
    case Counted::hbm_written:
      hbm_written += bytes;
      hbm_read -= bytes;
      return;
    case Counted::hbm_lost:
      hbm_read -= bytes;
      return;
    case Counted::l2:
      l2 += bytes;
      return;
    case Counted::link:
      link += bytes;
      return;
    case Counted::nic:
      nic += bytes;
      return;
    case Counted::nothing:
      return;
  }
}

void MovedBytesAccount::resource_added(const ResourceInfo& info) {
  resources_.push_back({info.counted, info.gpu, info.of_gpu});
}

void MovedBytesAccount::started(ActivityId id, const ActivityInfo& info) {
  Open& open = open_[id];
  open.parent = info.parent;
  open.gpu = info.gpu;
  if (info.kind != ActivityKind::collective) return;
  const auto next = static_cast<std::uint32_t>(collectives_.size());
  open.collective = collective_index_.try_emplace({info.stream, std::string(info.name)}, next).first->second;
  if (open.collective == next) collectives_.emplace_back();
  collectives_[open.collective][info.gpu] = id;
}

ActivityId MovedBytesAccount::at_gpu_of(const Resource& resource, ActivityId id, const Open& open) const {
  if (open.collective == kNone || resource.gpu < 0 || resource.gpu == open.gpu) return id;
  const auto& members = collectives_[open.collective];
  const auto found = members.find(resource.gpu);
  return found == members.end() ? id : found->second;
}

void MovedBytesAccount::takes(ActivityId activity, ResourceId id, double amount) {
  const Resource& resource = resources_.at(id);
  if (resource.counted == Counted::nothing) return;
  for (auto found = open_.find(activity); found != open_.end(); found = open_.find(found->second.parent)) {
    const ActivityId here = at_gpu_of(resource, found->first, found->second);
    if (here != found->first) found = open_.find(here);
    found->second.moved.add(resource.counted, Bytes{amount * resource.of_gpu});
  }
}

MovedBytes MovedBytesAccount::finished(ActivityId id) {
  const auto node = open_.extract(id);
  if (node.empty()) return {};
  const Open& open = node.mapped();
  if (open.collective != kNone) {
    auto& members = collectives_[open.collective];
    const auto member = members.find(open.gpu);
    if (member != members.end() && member->second == id) members.erase(member);
  }
  return node.mapped().moved;
}

}}  // namespace c3::results
