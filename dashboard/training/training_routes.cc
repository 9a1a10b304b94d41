#include "dashboard/training/training_routes.h"

#include "dashboard/http/problem.h"
#include "dashboard/server/job_routes.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

Json RankJson(const RankTime& time) {
  return {{"replica", time.name()},
          {"compute", time.compute},
          {"wait", time.wait},
          {"exchange", time.exchange},
          {"hidden", time.hidden},
          {"bytesPerStep", time.bytes_per_step}};
}

int64_t StepOf(const Json& checkpoint) {
  const auto step = checkpoint.is_object() ? checkpoint.find("step") : checkpoint.end();
  return step != checkpoint.end() && step->is_number() ? step->get<int64_t>() : -1;
}

// What was last seen says more than that the job has succeeded, if it is of the same step.
Json Checkpoints(const WatchedJob& job, const CheckpointList& list, const std::string& recorded) {
  Json out = CheckpointsJson(job, list);
  using From = CheckpointList::From;
  if (out.is_null() || (list.from != From::kNobody && list.from != From::kStatus)) return out;
  const Json kept = Json::parse(recorded, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || !kept.contains("newest") || !kept["newest"].is_array()) return out;
  const Json& newest = kept["newest"];
  const int64_t last = list.newest.empty() ? -1 : list.newest[0].step;
  if (newest.empty()) return out;
  if (last <= StepOf(newest[0])) out["newest"] = Json::array();
  for (const Json& one : newest) out["newest"].push_back(one);
  out["from"] = "history";
  return out;
}

}  // namespace

std::string TrainingText(const WatchedJob& job, const TrainingFacts& facts) {
  Json out = Json::object();
  const ReportReply& reply = facts.reply;
  if (reply.report.has_value()) {
    out["source"] = reply.source;
    const RankTimes& times = reply.report->rank_times;
    for (const RankTime& time : times.ranks) out["ranks"].push_back(RankJson(time));
    if (!times.slowest.empty()) out["slowest"] = times.slowest;
  } else if (!reply.message.empty()) {
    out["message"] = reply.message;
  }
  Json checkpoints = Checkpoints(job, facts.checkpoints, facts.recorded);
  if (!checkpoints.is_null()) out["checkpoints"] = std::move(checkpoints);
  if (facts.model.has_value()) out["model"] = ModelOfferJson(*facts.model);
  return DumpJson(out);
}

void TrainingRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "jobs/*/*/*/training", [this](ApiCall call) { Training(std::move(call)); });
}

void TrainingRoutes::Training(ApiCall call) {
  WithJob(context_.board, context_.access, std::move(call),
          [this](ApiCall call, ClusterCache::JobPtr job) {
            const auto respond = [call](std::string text) {
              call.respond(JsonResponse(std::move(text)));
            };
            // Of a job that is over nobody answers, and nobody has to.
            if (job->ended()) return OfOneThatIsOver(job, respond);
            const auto pods = context_.board.cache().PodsOf(*job);
            context_.reports.Fetch(*job, pods, [this, job, pods, respond](const auto& reply) {
              context_.checkpoints.Fetch(*job, pods, [this, job, reply, respond](const auto& list) {
                Complete(job, {.reply = reply, .checkpoints = list}, respond);
              });
            });
          });
}

void TrainingRoutes::OfOneThatIsOver(const ClusterCache::JobPtr& job,
                                     std::function<void(std::string text)> respond) {
  context_.checkpoints.Fetch(*job, {}, [this, job, respond = std::move(respond)](
                                           const CheckpointList& list) {
    context_.models.Find(*job, [this, job, list, respond](const auto& model) {
      TrainingFacts facts{.checkpoints = list};
      if (model.ok()) facts.model = *model;
      Complete(job, std::move(facts), respond);
    });
  });
}

void TrainingRoutes::Complete(const ClusterCache::JobPtr& job, TrainingFacts facts,
                              std::function<void(std::string text)> respond) {
  const CheckpointList::From from = facts.checkpoints.from;
  const bool known =
      from == CheckpointList::From::kTrainer || from == CheckpointList::From::kFolder;
  if (known || job->checkpoint_dir.empty() || context_.recorded == nullptr) {
    return respond(TrainingText(*job, facts));
  }
  context_.recorded(job->meta.uid, [job, facts = std::move(facts), respond = std::move(respond)](
                                       const std::string& recorded) mutable {
    facts.recorded = recorded;
    respond(TrainingText(*job, facts));
  });
}

}  // namespace taas::dashboard
