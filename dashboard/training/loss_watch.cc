#include "dashboard/training/loss_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using Losses = std::vector<double>;

constexpr double kManyTimes = 4;
constexpr double kAbsurd = 20;
constexpr double kMostlyRight = 0.5;
// Of the first value: less is noise.
constexpr double kFall = 0.2;
constexpr size_t kTogetherMin = 3;
constexpr size_t kTogetherMax = 15;

double MedianOf(Losses::const_iterator begin, size_t count) {
  Losses some(begin, begin + static_cast<Losses::difference_type>(count));
  const auto middle = some.begin() + static_cast<Losses::difference_type>(count / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

// Of each point and its neighbours before it.
Losses SmoothOf(const Losses& losses) {
  const size_t together = std::clamp(losses.size() / 10, kTogetherMin, kTogetherMax);
  Losses smooth;
  for (size_t i = together; i <= losses.size(); ++i) {
    smooth.push_back(
        MedianOf(losses.begin() + static_cast<Losses::difference_type>(i - together), together));
  }
  return smooth;
}

bool RisesForLong(const Losses& smooth, double first) {
  const auto quarter = static_cast<Losses::difference_type>(std::max<size_t>(
      smooth.size() / 4, kTogetherMin));
  if (2 * quarter >= static_cast<Losses::difference_type>(smooth.size())) return false;
  const auto lately = smooth.end() - quarter;
  const double best = *std::min_element(smooth.begin(), lately);
  const double fall = first - best;
  if (fall < kFall * std::abs(first)) return false;
  return *std::min_element(lately, smooth.end()) > best + fall / 2;
}

}  // namespace

bool LossRises(const Losses& losses, const Losses& accuracies) {
  if (losses.size() < kLossPointsMin) return false;
  const double first = losses.front();
  const Losses smooth = SmoothOf(losses);
  if (!std::isfinite(first) || !std::isfinite(smooth.back())) return true;
  if (first > 0 && smooth.back() > kManyTimes * first) return true;
  const bool mostly_wrong = accuracies.size() >= kLossPointsMin &&
                            SmoothOf(accuracies).back() < kMostlyRight;
  if (mostly_wrong && smooth.back() > kAbsurd) return true;
  return RisesForLong(smooth, first);
}

Losses CurveOf(std::string_view answer, const std::string& name) {
  const Json parsed = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  Losses values;
  const Json::json_pointer place("/series/" + name);
  if (!parsed.is_object() || !parsed.contains(place) || !parsed[place].is_array()) return values;
  for (const Json& point : parsed[place]) {
    if (point.is_array() && point.size() == 3 && point[2].is_number()) {
      values.push_back(point[2].get<double>());
    }
  }
  return values;
}

LossWatch::~LossWatch() {
  if (timer_ != 0) context_.executor.Cancel(timer_);
}

void LossWatch::Tick() {
  timer_ = context_.executor.PostAfter(kTick, [this] { Tick(); });
  if (!context_.watched()) return;
  const Clock::Time now = context_.executor.clock().Now();
  for (auto& [uid, seen] : seen_) seen.there = false;
  std::vector<std::pair<Clock::Time, JobPtr>> due;
  for (const JobPtr& job : context_.jobs()) {
    const auto& progress = job->status.progress;
    const bool trains = job->status.state == JobState::kRunning && progress.has_value() &&
                        progress->loss.has_value();
    const auto found = seen_.find(job->meta.uid);
    if (found != seen_.end()) found->second.there = trains;
    if (!trains) continue;
    const Clock::Time at = found == seen_.end() ? Clock::Time() : found->second.at;
    if (found == seen_.end() || now - at >= kEvery) due.emplace_back(at, job);
  }
  std::erase_if(seen_, [](const auto& entry) { return !entry.second.there; });
  // Those that were looked at longest ago first.
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (due.size() > kJobsPerTick) due.resize(kJobsPerTick);
  for (const auto& [at, job] : due) Look(job);
}

void LossWatch::Look(const JobPtr& job) {
  seen_[job->meta.uid].at = context_.executor.clock().Now();
  context_.fetch(*job, [this, job, alive = std::weak_ptr<bool>(alive_)](const std::string& answer) {
    if (alive.lock() == nullptr) return;
    const auto found = seen_.find(job->meta.uid);
    if (found == seen_.end()) return;
    const std::vector<double> losses = CurveOf(answer, "loss");
    // Of one that does not answer now what was found holds.
    if (losses.empty()) return;
    const bool rises = LossRises(losses, CurveOf(answer, "accuracy"));
    if (std::exchange(found->second.rises, rises) != rises) context_.tell(*job, rises);
  });
}

}  // namespace taas::dashboard
