// Random lives of a job on a model of a cluster: what must hold in each of them, whatever happens
// when.
//
// The operator of the model sees pods late, is killed between any two steps (which wipes what it
// remembers, and the next one's clock may be ahead or behind), loses replies, and meets nodes that
// turn pods away, init containers that fail, and people who delete pods and wipe the status. A
// model that is asked to loses its ledgers too, each time when the status has told what they held.
// Gangs are let in late by Volcano, and Kueue keeps pods that are deleted. Of large jobs people
// delete the list of replicas, without which no pod starts.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "operator/api/dialect.h"
#include "operator/base/random.h"
#include "operator/plan/budget.h"
#include "operator/plan/cluster_map.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

using std::chrono::seconds;

// The list of so many, of the longest names, is too long for each pod.
constexpr JobShape kLarge{.ps = 1, .workers = 120};
constexpr size_t kLongName = 48;

class Model {
 public:
  enum class Ledgers { kKept, kLost };
  Model(uint64_t seed, JobShape shape, Ledgers ledgers = Ledgers::kKept)
      : random_(seed), view_(NewJob(shape)), loses_ledgers_(ledgers == Ledgers::kLost) {
    view_.job.spec.backoff_limit = 3;
    if (shape.workers >= kLarge.workers) {
      view_.job.meta.name = std::string(kLongName, 'x');
      killed_percent_ = 1;
    }
    ChoosePolicies(view_.job);
    job_ = view_.job;
    foreign_ = PodOf(view_, Role::kWorker, 900);
    foreign_.owner_uid = "somebody";
    pods_[foreign_.meta.name] = foreign_;
  }

  void RandomLife(int rounds) {
    for (int i = 0; i < rounds && !Ended(); ++i) {
      if (Chance(70)) OperatorLooks();
      if (Chance(60)) SomethingHappensToAPod();
      if (Chance(5)) OperatorIsKilled();
      if (Chance(4)) SomebodyEditsTheJob();
      if (Chance(40)) GangIsLookedAt();
      if (Chance(3)) StatusIsWiped();
      if (Chance(2)) lists_.clear();  // By a person.
      if (loses_ledgers_ && Chance(10)) LedgerIsWiped();
      view_.now += seconds(random_.Below(20));
      Check();
    }
  }

  // Nothing bad happens any more: pods run, then complete, chief or worker 0 first or last. The
  // operator looks only when something has changed or when its plan said that it must.
  void CalmLife() {
    job_.spec.suspend = false;
    changed_ = true;
    for (int i = 0; i < 400 && !Settled(); ++i) {
      if (changed_ || (wake_at_.has_value() && *wake_at_ <= view_.now)) {
        changed_ = false;
        SyncView();
        OperatorLooks();
      }
      for (auto& [name, pod] : pods_) {
        if (pod.owner_uid != job_.meta.uid) continue;
        if (pod.phase == PodPhase::kPending) {
          Start(pod);
        } else if (pod.phase == PodPhase::kRunning && Chance(30)) {
          Finish(pod, 0);
        }
      }
      RemoveDeleted();
      if (view_.pod_group.has_value() && view_.pod_group->phase != "Inqueue") {
        view_.pod_group->phase = "Inqueue";
        changed_ = true;
      }
      view_.now += seconds(30);
      Check();
    }
    EXPECT_TRUE(Settled()) << "the job never ended, or nobody looked; message: "
                           << job_.status.message;
  }

  bool had_list() const { return !lists_made_.empty(); }

 private:
  void ChoosePolicies(Job& job) {
    constexpr RestartPolicy kPolicies[] = {RestartPolicy::kAlways, RestartPolicy::kOnFailure,
                                           RestartPolicy::kNever, RestartPolicy::kExitCode};
    if (Chance(30)) job.kind = JobKind::kTfJob;
    if (job.kind == JobKind::kTfJob && Chance(30)) job.spec.dynamic_worker = true;
    for (auto& [role, spec] : job.spec.roles) {
      if (Chance(40)) spec.restart_policy = kPolicies[random_.Below(4)];
    }
    if (Chance(20)) job.spec.restart_scope = RestartScope::kJob;
    if (Chance(20)) job.spec.success_policy = SuccessPolicy::kAllWorkers;
    if (Chance(20)) job.spec.pending_deadline_seconds = 60;
    if (Chance(10)) job.spec.active_deadline_seconds = 900;
    if (Chance(20)) job.spec.clean_pod_policy = CleanPodPolicy::kAll;
    constexpr GangScheduler kSchedulers[] = {GangScheduler::kVolcano, GangScheduler::kCoscheduling,
                                             GangScheduler::kKueue};
    if (Chance(40)) view_.gang.scheduler = kSchedulers[random_.Below(3)];
    if (view_.gang.scheduler == GangScheduler::kKueue) job.spec.scheduling.queue = "q";
  }
  // Volcano lets a gang in when it has room.
  void GangIsLookedAt() {
    std::optional<PodGroupView>& group = view_.pod_group;
    if (!group.has_value() || view_.gang.scheduler != GangScheduler::kVolcano) return;
    group->phase = group->phase.empty() ? "Pending" : "Inqueue";
    changed_ = true;
  }
  void SomebodyEditsTheJob() {
    if (Chance(50)) {
      job_.spec.suspend = !job_.spec.suspend;
    } else {
      job_.spec.roles[Role::kWorker].replicas = 1 + static_cast<int32_t>(random_.Below(4));
    }
  }
  bool Chance(uint64_t percent) { return random_.Below(100) < percent; }
  bool Ended() const { return job_.ledger.has_value() && job_.ledger->outcome.has_value(); }
  bool Settled() const {
    if (!Ended() || job_.status.state != *job_.ledger->outcome) return false;
    for (const auto& [name, pod] : pods_) {
      if (pod.owner_uid == job_.meta.uid && !HasEnded(pod)) return false;
    }
    if (view_.pod_group.has_value()) return false;
    return true;
  }

  void Touch(ObjectMeta& meta) {
    meta.resource_version = std::to_string(++version_);
    changed_ = true;
  }
  void Start(Pod& pod) {
    if (!pod.cluster_map.empty() && lists_.count(pod.cluster_map) == 0) {
      pod.waiting_reason = "CreateContainerConfigError";
      pod.waiting_message = "configmap \"" + pod.cluster_map.str() + "\" not found";
      return Touch(pod.meta);
    }
    pod.waiting_reason.clear();
    pod.waiting_message = "";
    // As a kubelet tells it: the main container has had no run before this one.
    if (pod.init != nullptr && !pod.last_exit_code.has_value()) {
      pod.last_exit_code = pod.init->last_exit_code;
    }
    pod.init.reset();
    pod.started = true;
    pod.phase = PodPhase::kRunning;
    pod.node = "node-" + std::to_string(random_.Below(3));
    pod.started_at = view_.now;
    Touch(pod.meta);
  }
  // The container ends; where the pod's policy says so, its node starts it again.
  void Finish(Pod& pod, int32_t exit_code) {
    const bool dispensable = IsDispensable(job_, *pod.role, pod.index);
    ++(dispensable ? ends_of_[pod.meta.name] : ends_of_training_);
    const std::string& policy = restart_policies_[pod.meta.uid];
    if (policy == "Always" || (policy == "OnFailure" && exit_code != 0)) {
      ++pod.restart_count;
      pod.last_exit_code = exit_code;
      return Touch(pod.meta);
    }
    pod.phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
    pod.exit_code = exit_code;
    pod.finished_at = view_.now;
    Touch(pod.meta);
  }

  // Nothing of it ever runs, through no fault of its own.
  void TurnAway(Pod& pod) {
    pod.phase = PodPhase::kFailed;
    pod.reason = "SomethingThatNoListHas";
    Touch(pod.meta);
  }
  // Before the main container starts; its node starts it again where the pod's policy says so.
  void FailInit(Pod& pod, int32_t exit_code) {
    const bool dispensable = IsDispensable(job_, *pod.role, pod.index);
    ++(dispensable ? ends_of_[pod.meta.name] : ends_of_training_);
    InitContainer init{.name = "fetch"};
    if (pod.init != nullptr) init = *pod.init;
    pod.started = true;
    if (restart_policies_[pod.meta.uid] == "Never") {
      init.exit_code = exit_code;
      pod.phase = PodPhase::kFailed;
    } else {
      init.last_exit_code = exit_code;
      ++init.restart_count;
      ++pod.restart_count;
    }
    pod.init = std::make_shared<InitContainer>(std::move(init));
    Touch(pod.meta);
  }

  void SomethingHappensToAPod() {
    if (pods_.size() < 2) return;
    auto found = std::next(pods_.begin(), static_cast<long>(random_.Below(pods_.size())));
    Pod& pod = found->second;
    if (pod.owner_uid != job_.meta.uid) return;
    constexpr int32_t kExitCodes[] = {0, 3, 137, 138, 143};
    if (pod.phase == PodPhase::kPending) {
      if (Chance(10) && pod.init == nullptr) return TurnAway(pod);
      if (Chance(10)) return FailInit(pod, kExitCodes[2 + random_.Below(3)]);
      return Start(pod);
    }
    switch (random_.Below(4)) {
      case 0:
        if (!HasEnded(pod)) Finish(pod, kExitCodes[random_.Below(5)]);
        break;
      case 1:
        pod.meta.deletion_time = view_.now;  // By a person or a drain.
        Touch(pod.meta);
        break;
      case 2:
        if (pod.meta.deletion_time.has_value()) Confirm(found);
        break;
      default:
        if (Chance(20)) pods_.erase(found);  // By force.
    }
  }

  // Its kubelet has stopped a pod that was deleted: it is gone, unless Kueue holds it.
  void Confirm(std::map<std::string, Pod>::iterator found) {
    Pod& pod = found->second;
    if (!pod.held_by_kueue) {
      pods_.erase(found);
      changed_ = true;
    } else if (pod.phase == PodPhase::kRunning) {
      pod.phase = PodPhase::kFailed;
      pod.exit_code = 143;
      pod.finished_at = view_.now;
      Touch(pod.meta);
    }
  }

  void RemoveDeleted() {
    for (auto item = pods_.begin(); item != pods_.end();) {
      const auto found = item++;
      if (found->second.meta.deletion_time.has_value()) Confirm(found);
    }
  }

  // What the watch does: remembers the last state of pods that it saw vanish.
  void SyncView() {
    std::map<std::string, Pod> seen;
    for (const Pod& pod : view_.pods) seen[pod.meta.uid] = pod;
    view_.pods.clear();
    for (const auto& [name, pod] : pods_) {
      view_.pods.push_back(pod);
      seen.erase(pod.meta.uid);
    }
    for (const auto& [uid, pod] : seen) view_.gone.push_back(pod);
    if (AnyLacks(view_.pods, view_.cluster_map)) view_.cluster_map.clear();
  }

  void OperatorIsKilled() {
    changed_ = true;  // The next one looks at all jobs first.
    constexpr uint64_t kSkew = 600;  // Seconds.
    if (Chance(20)) view_.now += seconds(random_.Below(2 * kSkew)) - seconds(kSkew);
    view_.gone.clear();
    view_.pods.clear();
    for (const auto& [name, pod] : pods_) view_.pods.push_back(pod);
    view_.cluster_map.clear();
  }

  // By `kubectl patch --subresource=status`, or by a restore that leaves it out.
  void StatusIsWiped() {
    if (!job_.ledger.has_value()) return;  // With both gone nobody knows anything any more.
    job_.status = {};
    changed_ = true;
  }

  // By `kubectl annotate taas.dev/ledger-`. What status had not told yet nobody can know, nor what
  // came before the newest restarts.
  void LedgerIsWiped() {
    if (!job_.ledger.has_value() || Ended()) return;
    const Ledger& ledger = *job_.ledger;
    if (job_.status.restarts != ledger.restarts || job_.status.history != ledger.history) return;
    if (job_.status.attempt != ledger.attempt) return;
    if (ledger.history.size() >= kRestartHistoryMax) return;
    job_.ledger.reset();
    view_.gone.clear();
    SyncView();
    changed_ = true;
  }

  void OperatorLooks() {
    if (Chance(60)) SyncView();
    view_.job = job_;
    const Plan plan = PlanJob(view_);
    wake_at_ = plan.wake_at;
    for (const Step& step : plan.steps) {
      if (Chance(killed_percent_)) return OperatorIsKilled();
      std::visit([this](const auto& s) { Execute(s); }, step);
    }
    if (!plan.steps.empty() || job_.status == plan.status) return;
    job_.status = plan.status;
    changed_ = true;
  }

  void Execute(const WriteLedger& step) {
    for (const auto& [cause, count] : counted_) {
      const auto found = step.ledger.restarts.find(cause);
      ASSERT_TRUE(found != step.ledger.restarts.end() && found->second >= count)
          << "a restart was forgotten";
    }
    counted_ = step.ledger.restarts;
    CheckBudgets(step.ledger);
    if (job_.ledger.has_value()) {
      if (Ended()) {
        ASSERT_EQ(step.ledger.outcome, job_.ledger->outcome) << "an outcome was changed";
        ASSERT_EQ(step.ledger.outcome_message, job_.ledger->outcome_message);
      }
      ASSERT_GE(step.ledger.attempt, job_.ledger->attempt);
      ASSERT_LE(step.ledger.history.size(), kRestartHistoryMax);
      for (const auto& [role, entries] : job_.ledger->replicas) {
        for (const auto& [index, entry] : entries) {
          const LedgerReplica& next = step.ledger.replicas.at(role).at(index);
          ASSERT_GE(next.pod_number, entry.pod_number);
          ASSERT_TRUE(next.completed || !entry.completed) << "a completion was forgotten";
        }
      }
    }
    job_.ledger = step.ledger;
    changed_ = true;
  }
  // No budget is granted anew, and none is used up by more than what ended.
  void CheckBudgets(const Ledger& next) {
    for (const auto& [role, entries] : next.replicas) {
      for (const auto& [index, entry] : entries) {
        const std::string name = PodName(job_, role, index);
        ASSERT_GE(entry.own_restarts, own_counted_[name]) << name << " may fail once more";
        ASSERT_LE(entry.own_restarts, ends_of_[name]) << name << " is charged with what was not";
        own_counted_[name] = entry.own_restarts;
      }
    }
    const int32_t used = UsedBudget(job_, next, Role::kPs, 0);
    ASSERT_LE(used, ends_of_training_) << "the training is charged with what was not its own";
    if (next.outcome_reason != kBackoffLimitExceeded || Ended()) return;
    const int32_t needed = job_.kind == JobKind::kTfJob ? std::max(1, *job_.spec.backoff_limit)
                                                        : *job_.spec.backoff_limit + 1;
    ASSERT_GE(ends_of_training_, needed) << "the job was given up too early";
  }

  void Execute(const CreateService& step) {
    view_.services[step.name] = OurService(view_);
    changed_ = true;
  }
  void Execute(const CreateConfigMap& step) {
    ASSERT_FALSE(Ended()) << "a list for an ended job was made";
    lists_.insert(step.name);
    lists_made_.insert(step.name);
    view_.cluster_map = step.name;
    changed_ = true;
  }
  void Execute(const DeleteService& step) {
    if (view_.services.erase(step.name) > 0) changed_ = true;
  }
  void Execute(const DeleteJob&) {}
  void Execute(const CreatePod& step) {
    const LedgerReplica& entry = job_.ledger->replicas.at(step.pod.role).at(step.pod.index);
    ASSERT_FALSE(Ended()) << "a pod of an ended job was made";
    ASSERT_FALSE(job_.ledger->suspended) << "a pod of a suspended job was made";
    ASSERT_FALSE(job_.ledger->released_until > view_.now) << "a pod of a released job was made";
    ASSERT_FALSE(entry.failed) << step.pod.name << " has failed for good and was made again";
    ASSERT_EQ(step.pod.labels.at("taas.dev/attempt"), std::to_string(job_.ledger->attempt));
    ASSERT_FALSE(entry.completed) << step.pod.name << " has completed and was made again";
    ASSERT_EQ(entry.pod_number, step.pod.pod_number) << "made before the ledger knew it";
    if (pods_.count(step.pod.name) > 0) return;  // 409: the view was old.
    const int64_t identity = step.pod.pod_number;
    if (view_.gang.scheduler == GangScheduler::kVolcano) {
      ASSERT_TRUE(view_.pod_group.has_value()) << step.pod.name << " is in no gang";
      ASSERT_EQ(view_.pod_group->phase, "Inqueue") << step.pod.name << " has no turn yet";
    }
    Pod pod = PodFromSpec(step.pod, "pod-" + std::to_string(++version_));
    ASSERT_TRUE(pod.cluster_map.empty() || lists_made_.count(pod.cluster_map) > 0)
        << step.pod.name << " was made before its list";
    const auto group = step.pod.labels.find("kueue.x-k8s.io/pod-group-name");
    pod.held_by_kueue = group != step.pod.labels.end();
    if (pod.held_by_kueue) JoinGroup(pod, group->second, step.pod.annotations);
    Touch(pod.meta);
    restart_policies_[pod.meta.uid] = step.pod.restart_policy;
    int64_t& last = last_number_[step.pod.name];
    ASSERT_TRUE(identity >= last || loses_ledgers_) << "pod numbers went backwards";
    last = identity;
    pods_[step.pod.name] = pod;
  }
  // Kueue counts members by what they say, which must be one number, and deletes those beyond it.
  void JoinGroup(const Pod& pod, const std::string& group,
                 const std::map<std::string, std::string>& annotations) {
    const int total = std::stoi(annotations.at("kueue.x-k8s.io/pod-group-total-count"));
    const auto known = totals_.insert({group, total}).first;
    ASSERT_EQ(known->second, total) << "two sizes of group " << group;
    std::map<std::string, std::string>& members = members_[group];
    members[pod.meta.name] = pod.meta.uid;
    ASSERT_LE(static_cast<int>(members.size()), total) << "too many pods in group " << group;
  }
  void Execute(const CreatePodGroup& step) {
    ASSERT_FALSE(view_.pod_group.has_value()) << "made twice";
    ASSERT_FALSE(Ended()) << "a gang of an ended job was made";
    ASSERT_FALSE(job_.ledger->suspended) << "a gang of a suspended job was made";
    view_.pod_group = PodGroupView{.uid = "group-" + std::to_string(++version_),
                                   .owner_uid = step.job_uid,
                                   .job = step.job_name,
                                   .min_member = SizeIn(step.spec),
                                   .spec = step.spec};
    changed_ = true;
  }
  void Execute(const UpdatePodGroup& step) {
    if (!view_.pod_group.has_value() || view_.pod_group->uid != step.uid) return;
    view_.pod_group->spec = step.spec;
    view_.pod_group->min_member = SizeIn(step.spec);
    changed_ = true;
  }
  void Execute(const DeletePodGroup& step) {
    if (view_.pod_group.has_value() && view_.pod_group->uid == step.uid) view_.pod_group.reset();
    changed_ = true;
  }
  static int32_t SizeIn(const std::string& spec) {
    const std::string key = "\"minMember\":";
    return std::stoi(spec.substr(spec.find(key) + key.size()));
  }
  void Execute(const ReleasePod& step) {
    const auto found = pods_.find(step.name);
    if (found == pods_.end() || found->second.meta.uid != step.uid) return;
    if (found->second.meta.resource_version != step.resource_version) return;
    ASSERT_EQ(found->second.owner_uid, job_.meta.uid) << "a foreign pod was let go";
    if (step.ends_group) {
      found->second.ends_group = true;
      return Touch(found->second.meta);
    }
    ASSERT_TRUE(found->second.meta.deletion_time.has_value()) << "let go, but not deleted";
    ASSERT_NE(found->second.phase, PodPhase::kRunning) << "let go while it runs";
    pods_.erase(found);
    changed_ = true;
  }
  void Execute(const Adopt&) { FAIL() << "nobody else made anything"; }
  void Execute(const DeletePod& step) {
    const auto found = pods_.find(step.name);
    if (found == pods_.end() || found->second.meta.uid != step.uid) return;
    ASSERT_EQ(found->second.owner_uid, job_.meta.uid) << "a foreign pod was deleted";
    if (found->second.meta.resource_version != step.resource_version) return;
    found->second.meta.deletion_time = view_.now;
    Touch(found->second.meta);
    if (Chance(50)) Confirm(found);
  }
  void Execute(const ReportConflict&) {}

  void Check() {
    ASSERT_EQ(pods_.count(foreign_.meta.name), 1u);
    if (!job_.ledger.has_value()) return;
    for (const auto& [name, pod] : pods_) {
      if (pod.owner_uid != job_.meta.uid) continue;
      ASSERT_LE(pod.pod_number, job_.ledger->replicas.at(*pod.role).at(pod.index).pod_number);
    }
  }

  SeededRandom random_;
  Snapshot view_;
  Job job_;
  Pod foreign_;
  std::map<std::string, Pod> pods_;
  // Lists of replicas: that are there, and that ever were.
  std::set<std::string> lists_;
  std::set<std::string> lists_made_;
  uint64_t killed_percent_ = 10;  // Of steps, so that a plan with many is sometimes followed.
  const bool loses_ledgers_;
  std::map<std::string, int64_t> last_number_;
  // Ends of containers: of dispensable replicas by name, and of all others.
  std::map<std::string, int32_t> ends_of_;
  int32_t ends_of_training_ = 0;
  // As the last ledger had it.
  std::map<RestartCause, int32_t> counted_;
  std::map<std::string, int32_t> own_counted_;
  std::map<std::string, std::string> restart_policies_;  // By uid of the pod.
  // Of Kueue's, by name: how many pods they have, and which.
  std::map<std::string, int> totals_;
  std::map<std::string, std::map<std::string, std::string>> members_;
  uint64_t version_ = 100;
  bool changed_ = true;  // Since the operator last looked.
  std::optional<Clock::WallTime> wake_at_;
};

void LiveAll(uint64_t lives, Model::Ledgers ledgers) {
  constexpr JobShape kShapes[] = {{.workers = 1},
                                  {.workers = 3, .evaluators = 1},
                                  {.chiefs = 1, .ps = 2, .workers = 2, .evaluators = 1}};
  constexpr uint64_t kLargeEvery = 20;
  const char* chosen = std::getenv("TAAS_SEED");
  const uint64_t first = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  const uint64_t last = chosen == nullptr ? lives : first;
  bool had_list = false;
  for (uint64_t seed = first; seed <= last; ++seed) {
    Model model(seed, seed % kLargeEvery == 0 ? kLarge : kShapes[seed % 3], ledgers);
    model.RandomLife(static_cast<int>(20 + seed % 200));
    model.CalmLife();
    had_list = had_list || model.had_list();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " (TAAS_SEED repeats it)";
  }
  EXPECT_TRUE(had_list || chosen != nullptr);
}

TEST(PlanPropertyTest, NoLifeOfAJobBreaksAPromiseAndEachOneEnds) {
  LiveAll(1000, Model::Ledgers::kKept);
}

// Symptom: a job whose ledger was lost failed, though neither it nor its evaluator had used up what
// they may.
TEST(PlanPropertyTest, NeitherALostStatusNorALostLedgerChangesWhatIsLeftOfABudget) {
  LiveAll(1000, Model::Ledgers::kLost);
}

}  // namespace
}  // namespace taas
