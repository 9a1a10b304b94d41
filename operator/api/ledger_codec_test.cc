#include "operator/api/ledger_codec.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;

Clock::WallTime At(int64_t second) { return Clock::WallTime(seconds(1'800'000'000 + second)); }

Ledger FullLedger() {
  Ledger ledger;
  ledger.attempt = 3;
  ledger.token = "0123456789abcdef0123456789ABCDEF";
  ledger.start_time = At(1) + nanoseconds(5);
  ledger.suspended = true;
  ledger.pending_since = At(2);
  ledger.releases = 2;
  ledger.released_until = At(3) + nanoseconds(999'999'999);
  ledger.ran_attempt = 2;
  ledger.released_because = "worker-1 is unschedulable: 0/3 nodes have 2 GPUs";
  ledger.finishing_since = At(4);
  ledger.group = {.attempt = 3, .replicas = 5, .pods = 4};
  ledger.taken_over = At(4) + nanoseconds(3);
  ledger.history = {{.role = Role::kEvaluator,
                     .index = 1,
                     .attempt = 2,
                     .pod_number = 4,
                     .cause = RestartCause::kNodeLost,
                     .exit_code = 137,
                     .message = "gone",
                     .node = "node-a",
                     .time = At(5) + nanoseconds(7)},
                    {.role = Role::kPs, .cause = RestartCause::kKilled, .time = At(6)}};
  ledger.bad_nodes = {{"node-a", At(5) + nanoseconds(9)}, {"node-b", At(6)}};
  ledger.restarts = {{RestartCause::kUserError, 1},  {RestartCause::kOutOfMemory, 2},
                     {RestartCause::kKilled, 3},     {RestartCause::kPreempted, 4},
                     {RestartCause::kNodeLost, 5},   {RestartCause::kBadNode, 6}};
  ledger.replicas[Role::kChief][0] = {.pod_number = 2, .completed = true};
  ledger.replicas[Role::kEvaluator][0] = {.pod_number = 4, .first_pod = 3, .failed = true};
  ledger.replicas[Role::kWorker][11] = {.pod_number = 9,
                                        .first_pod = 8,
                                        .failed = true,
                                        .restarts_in_place = 7,
                                        .own_restarts = 5,
                                        .quick_failures = 3,
                                        .not_before = At(5) + nanoseconds(123'456'789),
                                        .port = 20001,
                                        .status_port = 20002};
  ledger.replicas[Role::kPs] = {};
  ledger.outcome = JobState::kFailed;
  ledger.outcome_reason = "PermanentError";
  ledger.outcome_message = "open /data: \"no such file\"";
  ledger.outcome_remark = "no replica trained";
  ledger.outcome_time = At(6) + nanoseconds(1);
  return ledger;
}

TEST(LedgerTest, IsReadBackAsItWasToTheNanosecond) {
  const auto back = DecodeLedger(EncodeLedger(FullLedger()));
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(*back, FullLedger());
  EXPECT_EQ(DecodeLedger(EncodeLedger(Ledger())).value(), Ledger());
}

// Release 0.1.0 wrote this. It stands on users' jobs: a later operator reads it, and an earlier one
// what a later one wrote, so it grows and never changes.
constexpr char kOf010[] = R"({
  "attempt": 3, "startTime": "2027-01-15T08:00:01.000000005Z", "suspended": true,
  "pendingSince": "2027-01-15T08:00:02Z", "releases": 2,
  "releasedUntil": "2027-01-15T08:00:03.999999999Z",
  "releasedBecause": "worker-1 is unschedulable: 0/3 nodes have 2 GPUs",
  "finishingSince": "2027-01-15T08:00:04Z",
  "group": {"attempt": 3, "replicas": 5, "pods": 4},
  "takenOver": "2027-01-15T08:00:04.000000003Z",
  "history": [
    {"role": "evaluator", "index": 1, "attempt": 2, "podNumber": 4, "cause": "nodeLost",
     "exitCode": 137, "message": "gone", "node": "node-a",
     "time": "2027-01-15T08:00:05.000000007Z"},
    {"role": "ps", "index": 0, "attempt": 1, "podNumber": 1, "cause": "killed",
     "time": "2027-01-15T08:00:06Z"}],
  "restarts": {"userError": 1, "outOfMemory": 2, "killed": 3, "preempted": 4, "nodeLost": 5,
               "badNode": 6},
  "replicas": {
    "chief": {"0": {"pod": 2, "completed": true}},
    "ps": {},
    "worker": {"11": {"pod": 9, "firstPod": 8, "failed": true, "restartsInPlace": 7,
                      "ownRestarts": 5, "quickFailures": 3,
                      "notBefore": "2027-01-15T08:00:05.123456789Z",
                      "avoidNodes": ["node-a", "node-b"], "port": 20001, "statusPort": 20002}},
    "evaluator": {"0": {"pod": 4, "firstPod": 3, "failed": true}}},
  "outcome": "Failed", "outcomeReason": "PermanentError",
  "outcomeMessage": "open /data: \"no such file\"",
  "outcomeTime": "2027-01-15T08:00:06.000000001Z"})";

TEST(LedgerTest, WhatTheFirstReleaseWroteIsReadAndWrittenAsItWasMeant) {
  const auto ledger = DecodeLedger(kOf010);
  ASSERT_THAT(ledger, IsOk());
  Ledger then = FullLedger();
  then.ran_attempt = 0;
  then.token.clear();
  then.bad_nodes.clear();
  then.outcome_remark.clear();
  EXPECT_EQ(*ledger, then);
  // Nodes are avoided by the job since, not by each replica.
  Json written = Json::parse(kOf010);
  written["replicas"]["worker"]["11"].erase("avoidNodes");
  EXPECT_EQ(Json::parse(EncodeLedger(then)), written);
}

TEST(LedgerTest, EachFieldOfTheStructIsOneThatIsWritten) {
  // A field that is added to the structs and not to the codec is lost when the operator restarts:
  // then this does not compile, and the number of members below is to grow with the codec.
  const auto& [attempt, token, start, suspended, pending, releases, until, ran, because, finishing,
               group, taken_over, history, bad_nodes, restarts, replicas, outcome, reason,
               message, remark, time] = FullLedger();
  EXPECT_EQ(Json::parse(EncodeLedger(FullLedger())).size(), 21u);
  [[maybe_unused]] const auto& [pod, first, completed, failed, in_place, own, quick, not_before,
                                port, status_port] =
      replicas.at(Role::kWorker).at(11);
  Json all = Json::parse(EncodeLedger(FullLedger()))["replicas"]["worker"]["11"];
  EXPECT_EQ(all.size(), 9u) << all;  // And `completed`, which goes with no failure.
}

TEST(LedgerTest, ACauseOfALaterReleaseIsLeftOutOfTheHistory) {
  const auto ledger = DecodeLedger(
      R"({"history": [{"role": "ps", "cause": "hang"}, {"role": "ps", "cause": "killed"}]})");
  ASSERT_THAT(ledger, IsOk());
  ASSERT_EQ(ledger->history.size(), 1u);
  EXPECT_EQ(ledger->history[0].cause, RestartCause::kKilled);
}

TEST(LedgerTest, AReplicaAtItsBeginningTakesFewBytes) {
  Ledger ledger;
  for (int32_t i = 0; i < 1000; ++i) ledger.replicas[Role::kWorker][i] = {};
  EXPECT_LT(EncodeLedger(ledger).size(), 17'000u);
  EXPECT_EQ(DecodeLedger(EncodeLedger(ledger)).value(), ledger);
}

struct BadLedger {
  const char* name;
  const char* text;
  const char* words;
};

class BadLedgerTest : public testing::TestWithParam<BadLedger> {};

TEST_P(BadLedgerTest, NamesTheField) {
  EXPECT_THAT(DecodeLedger(GetParam().text),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().words)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadLedgerTest,
    testing::Values(BadLedger{"NoJson", "{", "not JSON"}, BadLedger{"NoObject", "3", "JSON object"},
                    BadLedger{"Index", R"({"replicas": {"ps": {"1x": {}}}})", "ps.1x"},
                    BadLedger{"NegativeIndex", R"({"replicas": {"ps": {"-1": {}}}})", "ps.-1"},
                    BadLedger{"Pod", R"({"replicas": {"ps": {"1": {"pod": "a"}}}})", "ps.1.pod"},
                    BadLedger{"PodBeyondAll", R"({"replicas": {"ps": {"1": {"pod": 2147483647}}}})",
                              "ps.1.pod: 2147483647 is not a count up to 300000000"},
                    BadLedger{"NegativeAttempt", R"({"attempt": -1})", "attempt: -1 is not"},
                    BadLedger{"RestartsBeyondAll", R"({"restarts": {"killed": 2147483647}})",
                              "restarts.killed: 2147483647 is not"},
                    BadLedger{"Role", R"({"replicas": {"ps": []}})", "replicas.ps"},
                    BadLedger{"Group", R"({"group": {"pods": "5"}})", "group.pods"},
                    BadLedger{"GroupBeyondAll", R"({"group": {"attempt": 2147483647}})",
                              "group.attempt: 2147483647 is not"},
                    BadLedger{"BadNode", R"({"badNodes": ["a"]})", "badNodes[0]"},
                    BadLedger{"History", R"({"history": {}})", "history"},
                    BadLedger{"Record", R"({"history": [{"role": "cook"}]})", "history[0].role"},
                    BadLedger{"Suspended", R"({"suspended": "no"})", "suspended"},
                    BadLedger{"Outcome", R"({"outcome": "Done"})", "outcome"},
                    BadLedger{"Time", R"({"outcomeTime": "noon"})", "outcomeTime"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LedgerTest, APortThatCannotBeIsNone) {
  const auto ledger = DecodeLedger(
      R"({"replicas": {"ps": {"0": {"port": 70000, "statusPort": -1}, "1": {"port": 2222}}}})");
  ASSERT_THAT(ledger, IsOk());
  EXPECT_EQ(ledger->replicas.at(Role::kPs).at(0).port, 0);
  EXPECT_EQ(ledger->replicas.at(Role::kPs).at(0).status_port, 0);
  EXPECT_EQ(ledger->replicas.at(Role::kPs).at(1).port, 2222);
}

TEST(LedgerTest, ATokenThatCannotBeIsNone) {
  for (const std::string& token : {std::string(kJobTokenMax + 1, 'a'), std::string("a b"),
                                   std::string("$(HOME)"), std::string()}) {
    const auto ledger = DecodeLedger(Json{{"token", token}}.dump());
    ASSERT_THAT(ledger, IsOk());
    EXPECT_EQ(ledger->token, "");
  }
}

TEST(LedgerTest, FieldsOfALaterReleaseAreIgnored) {
  EXPECT_EQ(DecodeLedger(R"({"attempt": 2, "later": 1, "restarts": {"hang": 4}})").value(),
            (Ledger{.attempt = 2}));
}

}  // namespace
}  // namespace taas
