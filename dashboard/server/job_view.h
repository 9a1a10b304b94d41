// Jobs as the page gets them: JobRow and JobDetail of dashboard/web, in JSON.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is not known is left out.
//
//   rows.Put(job->key(), RowOf({.job = *job, .pods = pods, .now = now}).dump());

#ifndef DASHBOARD_SERVER_JOB_VIEW_H_
#define DASHBOARD_SERVER_JOB_VIEW_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "dashboard/server/health.h"
#include "dashboard/server/watched.h"

namespace taas::dashboard {

nlohmann::json RowOf(const JobToJudge& judged);

struct DetailToShow {
  JobToJudge judged;
  std::vector<std::shared_ptr<const WatchedEvent>> events;
  bool pods_visible = false;
  struct {
    bool update = false, remove = false, create = false, logs = false;
  } may;
};
nlohmann::json DetailOf(const DetailToShow& detail);

nlohmann::json ConditionsOf(const JobStatus& status);
// Also of a job that is gone.
nlohmann::json EventsOf(const std::vector<std::shared_ptr<const WatchedEvent>>& events,
                        const WatchedJob& job,
                        const std::vector<std::shared_ptr<const WatchedPod>>& pods);

// "worker-1", as the page calls a replica.
std::string ReplicaName(const WatchedJob& job, const Pod& pod);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_JOB_VIEW_H_
