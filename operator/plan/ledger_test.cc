#include "operator/plan/ledger.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

Pod Ended(const Snapshot& now, Role role, int32_t index, int32_t exit_code, int32_t number = 1) {
  return PodOf(now, role, index,
               {.phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed,
                .number = number,
                .exit_code = exit_code});
}

TEST(LedgerTest, ANewJobGetsAnEntryForEveryReplica) {
  const LedgerChange change = AdvanceLedger(NewJob({.chiefs = 1, .ps = 2, .workers = 3}));
  EXPECT_EQ(change.ledger.replicas.at(Role::kChief).size(), 1u);
  EXPECT_EQ(change.ledger.replicas.at(Role::kPs).size(), 2u);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).size(), 3u);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).at(2).pod_number, 1);
  EXPECT_FALSE(change.ledger.outcome.has_value());
}

TEST(LedgerTest, ARetryableFailureCountsItsCauseAndNamesTheNextPod) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), Ended(now, Role::kWorker, 1, 137)};
  const LedgerChange change = AdvanceLedger(now);
  EXPECT_EQ(change.ledger.restarts.at(RestartCause::kKilled), 1);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).at(0).pod_number, 1);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).at(1).pod_number, 2);
  ASSERT_EQ(change.notes.size(), 1u);
  EXPECT_THAT(change.notes[0].message, HasSubstr("worker-1 gets pod 2 (killed): exit code 137"));
}

TEST(LedgerTest, APermanentFailureEndsTheJobAndQuotesTheProcess) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), Ended(now, Role::kWorker, 1, 1)};
  now.pods[1].termination_message = R"({"message":"open /data/x: No such file or directory"})";
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kFailed);
  EXPECT_EQ(ledger.outcome_reason, "ReplicaFailed");
  EXPECT_EQ(ledger.outcome_message,
            "worker-1 failed for good: exit code 1: open /data/x: No such file or directory");
  EXPECT_TRUE(ledger.restarts.empty());
}

// Symptom: a tenant's label made the next pod's number negative, and no pod could be made any more;
// or its own pod was taken for an older one, and made and deleted several times a second.
TEST(LedgerTest, ANumberBeyondAllIsBelievedOnlyOfThePodThatTheLedgerSpeaksOf) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 1)};
  now.pods[0].pod_number = now.pods[1].pod_number = kCountMax + 1;
  now.pods[1].role.reset();  // It is known by its name.
  now.job.ledger->replicas[Role::kWorker][1].pod_number = kCountMax + 1;
  now.gone = {now.pods[0], now.pods[0]};
  now.gone[0].pod_number = kCountMax;
  TakeIncredibleNumbers(now);
  EXPECT_EQ(now.pods[0].pod_number, 0);
  EXPECT_EQ(now.pods[1].pod_number, kCountMax + 1);
  EXPECT_EQ(now.gone[0].pod_number, kCountMax);
  EXPECT_EQ(now.gone[1].pod_number, 0);
  now.job.ledger.reset();
  TakeIncredibleNumbers(now);
  EXPECT_EQ(now.pods[1].pod_number, 0);
}

// Symptom: whoever wrote 2147483647 into a status that the ledger was rebuilt from made pods with
// negative numbers, which no API server takes.
TEST(LedgerTest, NumbersOfAStatusAreBelievedUpToALimitAndOneMoreFits) {
  Snapshot now = NewJob({.workers = 1});
  now.job.status.start_time = now.now;
  now.job.status.attempt = INT32_MAX;
  now.job.status.restarts[RestartCause::kKilled] = INT32_MAX;
  now.job.status.history = {{.role = Role::kWorker, .index = 0, .pod_number = INT32_MAX}};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.attempt, kCountMax);
  EXPECT_EQ(ledger.restarts.at(RestartCause::kKilled), kCountMax);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, kCountMax + 1);
}

TEST(LedgerTest, AnOutcomeIsFinal) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->outcome = JobState::kSucceeded;
  now.pods = {Ended(now, Role::kWorker, 0, 1)};
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
  now.job.spec.roles[Role::kWorker].replicas = 2;
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
}

TEST(LedgerTest, ACompletedReplicaStaysCompletedWhenItsPodIsGone) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), Ended(now, Role::kWorker, 1, 0)};
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_TRUE(EntryOf(now, Role::kWorker, 1).completed);
  now.gone = {now.pods[1]};
  now.pods.pop_back();
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
}

TEST(LedgerTest, APodThatCompletedAndVanishedBetweenTwoLooksHasCompleted) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.gone = {Ended(now, Role::kWorker, 1, 0)};
  EXPECT_TRUE(AdvanceLedger(now).ledger.replicas.at(Role::kWorker).at(1).completed);
}

TEST(LedgerTest, ADeletedPodIsPreemptedNotTheUsersErrorAndStartsWithoutDelay) {
  Snapshot now = StartedJob({.workers = 2});
  now.job.spec.backoff_limit = 0;
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].meta.deletion_time = now.now;
  now.gone = {PodOf(now, Role::kWorker, 1)};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.restarts, (std::map<RestartCause, int32_t>{{RestartCause::kPreempted, 2}}));
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(1).pod_number, 2);
  EXPECT_FALSE(ledger.replicas.at(Role::kWorker).at(1).not_before.has_value());
  EXPECT_FALSE(ledger.outcome.has_value());
}

TEST(LedgerTest, APodThatIsMissingButWasNeverSeenIsNotCounted) {
  Snapshot now = StartedJob({.workers = 1});
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
}

TEST(LedgerTest, OnlyUserErrorsCountTowardsTheBackoffLimit) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.backoff_limit = 1;
  now.job.ledger->restarts = {{RestartCause::kKilled, 100}, {RestartCause::kUserError, 1}};
  now.pods = {Ended(now, Role::kWorker, 0, 137)};
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  now.pods = {Ended(now, Role::kWorker, 0, 138)};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kFailed);
  EXPECT_EQ(ledger.outcome_reason, "BackoffLimitExceeded");
  EXPECT_EQ(ledger.restarts.at(RestartCause::kUserError), 1);
}

TEST(LedgerTest, AReplicaThatFailsQuicklyWaitsLongerEachTimeAndALongRunForgives) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).quick_failures = 3;
  now.pods = {Ended(now, Role::kWorker, 0, 137)};
  LedgerReplica entry = AdvanceLedger(now).ledger.replicas.at(Role::kWorker).at(0);
  EXPECT_EQ(entry.quick_failures, 4);
  EXPECT_EQ(entry.not_before, now.now + seconds(4));
  now.pods[0].started_at = now.now - minutes(10);
  entry = AdvanceLedger(now).ledger.replicas.at(Role::kWorker).at(0);
  EXPECT_EQ(entry.quick_failures, 0);
  EXPECT_FALSE(entry.not_before.has_value());
}

struct DelayCase {
  const char* name;
  int32_t failures;
  int64_t want;
};
class RestartDelayTest : public testing::TestWithParam<DelayCase> {};
TEST_P(RestartDelayTest, DoublesFromOneSecondToFiveMinutes) {
  EXPECT_EQ(RestartDelay(GetParam().failures).count(), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, RestartDelayTest,
                         testing::Values(DelayCase{"None", 0, 0}, DelayCase{"First", 1, 0},
                                         DelayCase{"Second", 2, 1}, DelayCase{"Third", 3, 2},
                                         DelayCase{"LastBelowLimit", 10, 256},
                                         DelayCase{"FirstAtLimit", 11, 300},
                                         DelayCase{"FarBeyondLimit", 2'000'000'000, 300}),
                         [](const auto& info) { return std::string(info.param.name); });

// Symptom: what a leader whose clock was an hour ahead had noted held up restarts, and the pods of
// a released job, for an hour under the next one.
TEST(LedgerTest, TimesOfALeaderWhoseClockWasAheadHoldNoLongerThanTheirDelays) {
  Snapshot now = StartedJob({.workers = 1});
  const std::chrono::hours ahead{3};
  Ledger& ledger = *now.job.ledger;
  ledger.start_time = ledger.pending_since = now.now + ahead;
  ledger.released_until = now.now + ahead;
  ledger.bad_nodes = {{"node-a", now.now + ahead}};
  EntryOf(now, Role::kWorker, 0).not_before = now.now + ahead;
  now.job.spec.pending_deadline_seconds = 60;
  const Ledger next = AdvanceLedger(now).ledger;
  EXPECT_EQ(next.start_time, now.now);
  EXPECT_EQ(next.released_until, now.now + kReleaseDelayMax);
  EXPECT_EQ(next.bad_nodes[0].since, now.now);
  const auto not_before = next.replicas.at(Role::kWorker).at(0).not_before;
  EXPECT_TRUE(!not_before.has_value() || *not_before <= now.now + kRestartDelayMax + seconds(1));
  // It is written once.
  now.job.ledger = next;
  now.now += seconds(1);
  EXPECT_EQ(AdvanceLedger(now).ledger, next);
}

TEST(LedgerTest, AnEndThatIsStillToComeIsNow) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->outcome = JobState::kFailed;
  now.job.ledger->outcome_time = now.now + std::chrono::hours(3);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_time, now.now);
  now.job.ledger->outcome_time = now.now + seconds(2);
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
}

// Symptom: a job whose ledger had outgrown the annotations of an object stood still for ever, after
// hours of work.
TEST(LedgerTest, AJobWhoseLedgerCouldOutgrowItsRoomIsRefusedAtItsFirstLookWithTheNumberThatFits) {
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    Snapshot now = NewJob({.ps = 1, .workers = 10'000});
    now.job.kind = kind;
    now.job.spec.dynamic_worker = kind == JobKind::kTfJob;  // A small TF_CONFIG.
    const Ledger refused = AdvanceLedger(now).ledger;
    EXPECT_EQ(refused.outcome_reason, "TooManyReplicas");
    const std::string& message = refused.outcome_message;
    const size_t at = message.rfind(" of role worker fit, and 10000 are asked for)");
    ASSERT_NE(at, std::string::npos) << message;
    const int32_t fit = std::stoi(message.substr(message.rfind('(') + 1));
    EXPECT_GT(fit, 1000);
    now.job.spec.roles[Role::kWorker].replicas = fit;
    EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
    now.job.spec.roles[Role::kWorker].replicas = fit + 1;
    EXPECT_TRUE(AdvanceLedger(now).ledger.outcome.has_value());
  }
}

TEST(LedgerTest, OtherAnnotationsTakeTheLedgersRoom) {
  Snapshot now = NewJob({.workers = 500});
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  now.job.other_annotation_bytes = 220'000;
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "TooManyReplicas");
  // Where they leave none, fewer replicas would not help.
  now.job.other_annotation_bytes = 260'000;
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  // One that has begun goes on.
  now.job.other_annotation_bytes = 0;
  now.job.ledger = AdvanceLedger(now).ledger;
  now.job.other_annotation_bytes = 220'000;
  EXPECT_EQ(AdvanceLedger(now).flaw, "");
  now.job.spec.roles[Role::kWorker].replicas = 600;
  EXPECT_THAT(AdvanceLedger(now).flaw, HasSubstr("use fewer replicas"));
}

TEST(LedgerTest, APodOfALostNodeIsReplacedThoughItNeverEnded) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].node_lost = true;
  EXPECT_EQ(AdvanceLedger(now).ledger.restarts.at(RestartCause::kNodeLost), 1);
}

TEST(LedgerTest, TheChiefsSuccessIsTheJobsOnceTheOthersHaveEnded) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1});
  now.pods = {Ended(now, Role::kChief, 0, 0), PodOf(now, Role::kPs, 0)};
  LedgerChange change = AdvanceLedger(now);
  EXPECT_FALSE(change.ledger.outcome.has_value());
  EXPECT_TRUE(change.ledger.replicas.at(Role::kChief).at(0).completed);
  EXPECT_EQ(change.wake_at, now.now + kTrainerFinishGrace);
  now.pods[1] = Ended(now, Role::kPs, 0, 0);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome, JobState::kSucceeded);
}

TEST(LedgerTest, ReplicasThatDoNotEndByThemselvesAreWaitedForHalfAMinuteOnly) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1});
  now.pods = {Ended(now, Role::kChief, 0, 0), PodOf(now, Role::kPs, 0)};
  now.now += kTrainerFinishGrace;
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome, JobState::kSucceeded);
}

TEST(LedgerTest, AWorkerThatIsHurtAfterTheChiefsSuccessNeitherRestartsNorFailsTheJob) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 2});
  now.pods = {Ended(now, Role::kChief, 0, 0), Ended(now, Role::kWorker, 0, 1),
              Ended(now, Role::kWorker, 1, 137)};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kSucceeded);
  EXPECT_TRUE(ledger.restarts.empty());
}

TEST(LedgerTest, WithoutAChiefWorker0DecidesAndNoOtherWorkerDoes) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), Ended(now, Role::kWorker, 1, 0)};
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  now.pods[0] = Ended(now, Role::kWorker, 0, 0);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome, JobState::kSucceeded);
}

TEST(LedgerTest, AWipedLedgerIsRebuiltFromStatusAndPods) {
  Snapshot now = NewJob({.workers = 2});
  now.job.status.restarts = {{RestartCause::kKilled, 4}};
  now.pods = {PodOf(now, Role::kWorker, 0, {.number = 5}), Ended(now, Role::kWorker, 1, 0)};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 5);
  EXPECT_TRUE(ledger.replicas.at(Role::kWorker).at(1).completed);
  EXPECT_EQ(ledger.restarts.at(RestartCause::kKilled), 4);
}

// Symptom: a job whose ledger was lost and whose status somebody had edited failed at once, because
// its deadline was over since the year 1.
TEST(LedgerTest, AWipedLedgerTakesNoStartBeforeTheJobWasCreatedNorInTheFuture) {
  Snapshot now = NewJob({.workers = 1});
  now.job.spec.active_deadline_seconds = 1000;
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.job.meta.creation_time = now.now - seconds(100);
  for (const auto& [told, believed] : {std::pair(-10'000, -100), {-50, -50}, {10'000, 0}}) {
    now.job.status.start_time = now.now + seconds(told);
    const Ledger ledger = AdvanceLedger(now).ledger;
    EXPECT_EQ(ledger.start_time, now.now + seconds(believed)) << told;
    EXPECT_FALSE(ledger.outcome.has_value()) << told;
  }
}

// Symptom: the pod of a replica that had been scaled away just before the ledger was lost stayed.
TEST(LedgerTest, AWipedLedgerKnowsThePodsOfReplicasThatWereScaledAway) {
  Snapshot now = NewJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 3, {.number = 2})};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(3).pod_number, 3);
}

TEST(LedgerTest, AWipedLedgerOfAnEndedJobDoesNotStartItAgain) {
  Snapshot now = NewJob({.workers = 1});
  now.job.status.state = JobState::kFailed;
  now.job.status.conditions = {{.type = "Failed", .status = true, .reason = "R", .message = "m"}};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kFailed);
  EXPECT_EQ(ledger.outcome_reason, "R");
}

TEST(LedgerTest, OnTheLocalClusterPortsAreWantedBeforeThereIsALedger) {
  Snapshot now = NewJob({.ps = 1, .workers = 1});
  now.addresses.scheme = AddressScheme::kLoopback;
  now.free_ports = {20001};
  EXPECT_EQ(AdvanceLedger(now).ports_wanted, 4);
  now.free_ports = {20001, 20002, 20003, 20004};
  const LedgerChange change = AdvanceLedger(now);
  EXPECT_EQ(change.ports_wanted, 0);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).at(0).port, 20003);
  EXPECT_EQ(change.ledger.replicas.at(Role::kWorker).at(0).status_port, 20004);
}

Snapshot LoopbackJob() {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 1});
  now.addresses.scheme = AddressScheme::kLoopback;
  EntryOf(now, Role::kChief, 0).port = 1001;
  EntryOf(now, Role::kChief, 0).status_port = 1002;
  EntryOf(now, Role::kWorker, 0).port = 1003;
  EntryOf(now, Role::kWorker, 0).status_port = 1004;
  now.free_ports = {2001, 2002};
  now.pods = {PodOf(now, Role::kChief, 0), PodOf(now, Role::kWorker, 0)};
  for (Pod& pod : now.pods) pod.bootstrap = "127.0.0.1:1001";
  return now;
}

TEST(LedgerTest, AReplicaWhosePortWasTakenGetsNewOnesAndTheOthersStay) {
  Snapshot now = LoopbackJob();
  now.pods[1] = Ended(now, Role::kWorker, 0, 138);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).port, 2001);
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0), EntryOf(now, Role::kChief, 0));
}

TEST(LedgerTest, PodsThatKnowTheChiefUnderAnOldAddressAreReplacedWithoutACause) {
  Snapshot now = LoopbackJob();
  now.pods[0] = Ended(now, Role::kChief, 0, 138);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).port, 2001);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).port, 1003);
  EXPECT_EQ(ledger.restarts, (std::map<RestartCause, int32_t>{{RestartCause::kUserError, 1}}));
}

// Symptom: all pods waited for a main replica that listened on the port it had before.
TEST(LedgerTest, AfterAWipedLedgerOnTheLocalClusterEveryPodIsReplacedTheMainReplicasToo) {
  Snapshot now = LoopbackJob();
  now.job.ledger.reset();
  now.free_ports = {2001, 2002, 2003, 2004};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).port, 2001);
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 2);
  EXPECT_TRUE(ledger.restarts.empty());
}

TEST(LedgerTest, AReplicaThatGaveUpWaitingForAPendingChiefIsNotCounted) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 1});
  now.job.spec.backoff_limit = 0;
  now.pods = {PodOf(now, Role::kChief, 0, {.phase = PodPhase::kPending}),
              Ended(now, Role::kWorker, 0, 138)};
  EntryOf(now, Role::kWorker, 0).quick_failures = 1;
  LedgerChange change = AdvanceLedger(now);
  EXPECT_FALSE(change.ledger.outcome.has_value());
  EXPECT_TRUE(change.ledger.restarts.empty());
  const LedgerReplica entry = change.ledger.replicas.at(Role::kWorker).at(0);
  EXPECT_EQ(entry.pod_number, 2);
  EXPECT_EQ(entry.not_before, now.now + seconds(1));
  EXPECT_THAT(change.notes.at(0).message, HasSubstr("it waited for the main replica"));
  now.pods[0] = PodOf(now, Role::kChief, 0);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
}

TEST(LedgerTest, AScaledDownReplicaIsRetiredWithoutACauseAndComesBackWithANewNumber) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 1)};
  now.job.spec.roles[Role::kWorker].replicas = 1;
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(1).pod_number, 2);
  EXPECT_TRUE(ledger.restarts.empty());
  now.job.ledger = ledger;
  EXPECT_EQ(AdvanceLedger(now).ledger, ledger);
}

TEST(LedgerTest, AJobThatCannotRunIsRefusedWithASentence) {
  Snapshot now = NewJob({.workers = 1});
  now.job.meta.name = std::string(60, 'a');
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "NameTooLong");
  EXPECT_EQ(AdvanceLedger(NewJob({.workers = 4000})).ledger.outcome_reason, "TooManyReplicas");
  EXPECT_EQ(AdvanceLedger(NewJob({.ps = 1})).ledger.outcome_reason, "InvalidSpec");
}

}  // namespace
}  // namespace taas
