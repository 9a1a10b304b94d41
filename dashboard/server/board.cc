#include "dashboard/server/board.h"

#include <utility>

#include "dashboard/http/secret_text.h"
#include "dashboard/server/catching_executor.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// Of texts that are kept for others who ask for the same until the next change.
constexpr size_t kMadeMax = 64;

// Different at each start: numbers of an earlier process are not ours.
std::string MakeEpoch(Random& random) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string epoch;
  for (uint64_t bits = random.Next(), i = 0; i < 12; ++i, bits >>= 4) epoch += kDigits[bits & 15];
  return epoch;
}

}  // namespace

Board::Board(KubeTransport& transport, Executor& executor, Random& random,
             ClusterCache::Options options, Witness witness)
    : executor_(executor),
      witness_(std::move(witness)),
      rows_(MakeEpoch(random)),
      cache_(std::make_unique<ClusterCache>(
          transport, executor, random, std::move(options),
          ClusterCache::Calls{.job = [this](const std::string& key) { OnJob(key); },
                              .job_gone = [this](const auto& job) { OnJobGone(job); },
                              .gpus =
                                  [this] {
                                    pending_.gpus = true;
                                    Gather();
                                  }})),
      watch_(transport, executor, [this] {
        pending_.cluster = true;
        Gather();
      }) {}

Board::~Board() {
  if (flush_timer_ != 0) executor_.Cancel(flush_timer_);
  if (review_timer_ != 0) executor_.Cancel(review_timer_);
}

void Board::Start() {
  cache_->Start();
  watch_.Start();
  Review();
}

void Board::OnJob(const std::string& key) {
  pending_.jobs.insert(key);
  Gather();
}

void Board::OnJobGone(const ClusterCache::JobPtr& job) {
  steps_.erase(job->meta.uid);
  loss_rises_.erase(job->meta.uid);
  if (witness_.gone) witness_.gone(*job);
}

void Board::NoteMaps() {
  pending_.gpus = true;
  Gather();
}

void Board::NoteLoss(const WatchedJob& job, bool rises) {
  rises ? void(loss_rises_.insert(job.meta.uid)) : void(loss_rises_.erase(job.meta.uid));
  OnJob(job.key());
}

void Board::Gather() {
  if (flush_timer_ != 0) return;
  flush_timer_ = executor_.PostAfter(kGather, [this] {
    flush_timer_ = 0;
    Flush();
  });
}

void Board::Flush() {
  // A table that grows while the first lists come in would look like jobs that are being made.
  if (!synced_ && cache_->synced()) {
    synced_ = true;
    pending_.cluster = true;
    pending_.gpus = true;
    for (const auto& job : cache_->Jobs()) pending_.jobs.insert(job->key());
  }
  if (!synced_) return Gather();
  Changes changes = std::exchange(pending_, {});
  const uint64_t before = rows_.last();
  // One job that nothing can be made of must not keep the others from being shown.
  for (const std::string& key : changes.jobs) {
    RunCaught("a look at job " + key, [&] { Look(key); });
  }
  changes.rows = rows_.last() != before;
  made_rows_.clear();
  made_details_.clear();
  // A listener may go while it is told.
  const std::set<Listener*> listeners = listeners_;
  for (Listener* listener : listeners) {
    if (listeners_.count(listener) == 0) continue;
    RunCaught("telling of changes", [&] { listener->OnChanges(changes); });
  }
}

void Board::Look(const std::string& key) {
  const ClusterCache::JobPtr job = cache_->FindJob(key);
  if (job == nullptr) return rows_.Remove(key);
  if (job->status.progress.has_value()) {
    const int64_t step = job->status.progress->step;
    const auto [at, added] = steps_.try_emplace(job->meta.uid);
    if (added || at->second.step != step) at->second = {step, executor_.clock().WallNow()};
  }
  const auto pods = cache_->PodsOf(*job);
  rows_.Put(key, {.uid = job->meta.uid, .ns = job->meta.ns, .kind = job->kind},
            DumpJson(RowOf(Judge(*job, pods))));
  if (witness_.changed) witness_.changed(*job);
}

void Board::Review() {
  for (const auto& job : cache_->Jobs()) {
    if (!job->ended()) pending_.jobs.insert(job->key());
  }
  Gather();
  review_timer_ = executor_.PostAfter(kReviewEvery, [this] { Review(); });
}

std::optional<Clock::WallTime> Board::StepSince(const WatchedJob& job) const {
  const auto found = steps_.find(job.meta.uid);
  if (found == steps_.end()) return std::nullopt;
  return found->second.since;
}

JobToJudge Board::Judge(const WatchedJob& job,
                        const std::vector<ClusterCache::PodPtr>& pods) const {
  return {.job = job,
          .pods = pods,
          .now = executor_.clock().WallNow(),
          .step_since = StepSince(job),
          .loss_rises = job.status.state == JobState::kRunning &&
                        loss_rises_.count(job.meta.uid) > 0};
}

std::set<std::string> Board::Namespaces() const {
  std::set<std::string> out;
  for (const auto& [ns, jobs] : rows_.namespaces()) out.insert(ns);
  return out;
}

std::string Board::ClusterStateNow() const {
  const ClusterWatch::State& state = watch_.state();
  Json out = {{"connected", state.connected && synced_},
              {"now", FormatRfc3339(executor_.clock().WallNow())}};
  if (state.since.has_value()) out["since"] = FormatRfc3339(*state.since);
  if (!state.message.empty()) {
    out["message"] = state.message;
  } else if (!synced_) {
    out["message"] = "the first lists of jobs and pods have not arrived yet";
  }
  return DumpJson(out);
}

SharedText Board::JobsEvent(uint64_t number, const SightPtr& sight) {
  for (const MadeRows& made : made_rows_) {
    if (made.number == number && (made.sight == sight || *made.sight == *sight)) return made.text;
  }
  const std::string data = rows_.Since(number, *sight);
  std::string text;
  if (!data.empty()) {
    text = "id: " + rows_.CursorOf(rows_.last()) + "\nevent: jobs\ndata: " + data + "\n\n";
  }
  SharedText shared = Shared(std::move(text));
  if (made_rows_.size() < kMadeMax) made_rows_.push_back({number, sight, shared});
  return shared;
}

SharedText Board::DetailEvent(const std::string& key, const Sight& sight,
                              const JobRights& rights) {
  const ClusterCache::JobPtr job = cache_->FindJob(key);
  if (job == nullptr || !sight.MaySee(job->kind, job->meta.ns)) return Shared("null");
  const bool pods_visible = sight.pods.Has(job->meta.ns);
  for (const MadeDetail& made : made_details_) {
    if (made.key == key && made.pods == pods_visible && made.rights == rights) return made.text;
  }
  const auto pods = cache_->PodsOf(*job);
  DetailToShow detail{.judged = Judge(*job, pods), .pods_visible = pods_visible};
  if (rights.events) detail.events = cache_->EventsOf(*job, pods);
  detail.may = {rights.update, rights.remove, rights.create, rights.logs};
  SharedText shared = Shared(DumpJson(DetailOf(detail)));
  if (made_details_.size() < kMadeMax) made_details_.push_back({key, pods_visible, rights, shared});
  return shared;
}

}  // namespace taas::dashboard
