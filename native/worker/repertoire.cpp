#include "repertoire.hpp"

#include <algorithm>
#include <utility>

namespace tidewise::worker {

const std::vector<ServablePtr>& Repertoire::candidates(const LaneKey& lane) const {
  static const std::vector<ServablePtr> none;
  if (!lane.pin.empty()) {
    const auto found = servables_.find({lane.application, lane.pin});
    return found == servables_.end() ? none : found->second;
  }
  const auto found = choices_.find(lane.application);
  return found == choices_.end() ? none : found->second;
}

bool Repertoire::takes(const LaneKey& lane, double now) const {
  const auto& found = candidates(lane);
  return !found.empty() && release_time(found.front()->model, kNever) > now;
}

int Repertoire::plan_version(const std::string& application) const { return versions_.at(application); }

void Repertoire::decided(const Hosted& hosted, double now) {
  for (const Order& order : hosted.switches) {
    for (const ServablePtr& one : order.warm) servables_[{one->model.application, one->model.variant}] = {one};
    if (order.application.empty()) continue;
    choices_[order.application] = order.choices();
    versions_[order.application] = order.version;
  }
  serving_ = hosted.serving;
  std::vector<std::pair<Model, double>> release_at;
  for (const Model& model : hosted.leaving) release_at.emplace_back(model, release_time(model, now + linger));
  release_at_ = std::move(release_at);
}

std::vector<Model> Repertoire::release(double now, const std::function<bool(const Model&)>& needed,
                                       std::set<std::string> queued) {
  std::vector<Model> due, kept;
  for (const auto& [model, at] : release_at_)
    if (at <= now && !needed(model)) due.push_back(model);
  for (const Model& model : due) {
    release_at_.erase(std::find_if(release_at_.begin(), release_at_.end(),
                                   [&](const auto& one) { return one.first == model; }));
    const auto found = servables_.find({model.application, model.variant});
    if (found != servables_.end() && found->second.front()->model == model) servables_.erase(found);
    auto& left = choices_[model.application];
    left.erase(std::remove_if(left.begin(), left.end(), [&](const auto& one) { return one->model == model; }),
               left.end());
  }
  std::set<std::string> held = std::move(queued);
  held.insert(serving_);
  for (const auto& one : release_at_) held.insert(one.first.application);
  for (auto at = choices_.begin(); at != choices_.end();)
    at = !at->second.empty() && held.count(at->first) ? std::next(at) : choices_.erase(at);
  return due;
}

double Repertoire::next_release(double now) const {
  double next = kNever;
  for (const auto& one : release_at_)
    if (one.second > now) next = std::min(next, one.second);
  return next;
}

double Repertoire::release_time(const Model& model, double otherwise) const {
  for (const auto& one : release_at_)
    if (one.first == model) return one.second;
  return otherwise;
}

}  // namespace tidewise::worker
