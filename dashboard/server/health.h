// How well a job is, from its pods before its phase: a job can be Running while a pod of it cannot
// start.
//
// Pure. Critical: somebody has to do something, or the job is over. Warning: it may go by itself,
// or costs time meanwhile.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const JobHealth health = HealthOf({.job = job, .pods = pods, .now = clock.WallNow()});

#ifndef DASHBOARD_SERVER_HEALTH_H_
#define DASHBOARD_SERVER_HEALTH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/server/watched.h"

namespace taas::dashboard {

enum class Level { kOk, kWarning, kCritical };
std::string_view LevelName(Level level);  // "ok", "warning", "critical"

struct Health {
  Level level = Level::kOk;
  std::string reason;  // "CrashLoop", …: HealthReason of dashboard/web; empty where it is ok.
};

// Where a replica is, as one word: "Pending", "Running", "Terminating", …
std::string_view PodState(const Pod& pod);
Health HealthOfPod(const Pod& pod, Clock::WallTime now);
// The cluster's own words on why a pod waits or failed; empty: it does not.
std::string WhyOfPod(const Pod& pod);

struct JobToJudge {
  const WatchedJob& job;
  const std::vector<std::shared_ptr<const WatchedPod>>& pods;
  Clock::WallTime now{};
  // Since when its step has been what it is; nothing: unknown.
  std::optional<Clock::WallTime> step_since;
  bool loss_rises = false;  // As training/loss_watch.h finds it.
};
Health HealthOf(const JobToJudge& judged);
// Whether its GPUs are held for nothing: it trains and its step stands still.
bool StandsStill(const JobToJudge& judged);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_HEALTH_H_
