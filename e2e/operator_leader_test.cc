// Two processes of taas-operator on a real kube-apiserver, of which one leads: hand-overs of every
// kind while a job runs, and writes that come too late.

#include <signal.h>

#include <map>

#include "absl/strings/str_split.h"
#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/lease_watchdog.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kLeasesPath[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
// Shorter than the defaults, so that a test need not wait for so long; long enough for a machine
// that does everything else at the same time.
constexpr auto kLease = 8s;
const std::vector<std::string> kFlags = {"--leader-elect",          "--lease-name=election",
                                         "--lease-seconds=8",       "--lease-renew-seconds=5",
                                         "--lease-retry-seconds=1"};

class OperatorLeaderTest : public OperatorFixture {
 protected:
  // The first, another user than all others, leads and the second stands by.
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(BeginServer(kKubeApiServer));
    // Slow, so that it can be met in the middle of its work.
    flags_ = kFlags;
    flags_.push_back("--api-writes=1");
    ASSERT_NO_FATAL_FAILURE(StartOperator(server_->other_kubeconfig()));
    flags_ = kFlags;
    ASSERT_TRUE(Await([&] { return !Holder().empty(); }));
    first_ = std::move(operator_);
    first_holder_ = Holder();
    ASSERT_NO_FATAL_FAILURE(StartSecond());
  }

  void StartSecond() {
    ASSERT_NO_FATAL_FAILURE(StartOperator());
    second_ = std::move(operator_);
  }

  json Lease() { return Call("GET", std::string(kLeasesPath) + "/election"); }
  std::string Holder() { return Lease().value("/spec/holderIdentity"_json_pointer, ""); }
  int64_t Transitions() { return Lease().value("/spec/leaseTransitions"_json_pointer, int64_t{0}); }
  bool AwaitNextLeader() {
    return Await([&] {
      const std::string holder = Holder();
      return !holder.empty() && holder != first_holder_;
    });
  }

  // One chief and two workers that run, and what they are.
  void StartJob(const std::string& clean_pod_policy = "Running") {
    json job = json::parse(R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
      "metadata":{"name":"mnist"},"spec":{"roles":{"chief":{},"worker":{"replicas":2}}}})");
    job["spec"]["cleanPodPolicy"] = clean_pod_policy;
    for (json& role : job["spec"]["roles"]) {
      role["template"] =
          json::parse(R"({"spec":{"containers":[{"name":"trainer","image":"own/image:1"}]}})");
    }
    const json created = Call("POST", kTrainingJobsPath, job.dump());
    ASSERT_EQ(created["kind"], "TrainingJob") << created.dump(1);
    for (const std::string& pod : kPods) {
      ASSERT_TRUE(AwaitPod(pod));
      Run(pod);
      made_[pod] = Pod(pod);
      EXPECT_EQ(EpochOf(made_[pod]), "1");
    }
    ASSERT_TRUE(AwaitState("Running")) << Status().dump(1);
  }
  json Status() {
    return Call("GET", std::string(kTrainingJobsPath) + "/mnist").value("status", json::object());
  }
  bool AwaitState(const std::string& state) {
    return Await([&] { return Status().value("state", "") == state; });
  }
  static std::string EpochOf(const json& object) {
    return object.value("/metadata/annotations/taas.dev~1epoch"_json_pointer, "");
  }
  static std::string UidOf(const json& object) {
    return object.value("/metadata/uid"_json_pointer, "");
  }

  // What the first one asked of the API server since that time, but for its lease. One that was
  // writing when it froze may have sent a head: the body does not follow, or a precondition fails,
  // and the server refuses what it has.
  enum class Refused { kLeftOut, kToo };
  std::vector<std::string> WritesOfTheFirstSince(const std::string& time,
                                                 Refused refused = Refused::kLeftOut) {
    std::vector<std::string> writes;
    const auto log = files_.ReadAll(server_->audit_log());
    EXPECT_THAT(log, IsOk());
    const std::vector<std::string> lines =
        absl::StrSplit(log.value_or(""), '\n', absl::SkipEmpty());
    for (const std::string& line : lines) {
      const json entry = json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!entry.is_object()) continue;  // Still being written.
      // Times of one length, in UTC: later is greater.
      const int code = entry.value("/responseStatus/code"_json_pointer, 0);
      const bool meant = entry["user"]["username"] == "other" &&
                         entry["requestReceivedTimestamp"].get<std::string>() > time &&
                         entry.value("/objectRef/resource"_json_pointer, "") != "leases" &&
                         (code < 400 || refused == Refused::kToo);
      if (!meant) continue;
      writes.push_back(entry["verb"].get<std::string>() + " " +
                       entry["requestURI"].get<std::string>() + " " + std::to_string(code));
    }
    return writes;
  }

  // The job is hurt now; whoever leads from now on makes the successor, and nothing else.
  void Hurt() { End("mnist-worker-1", 137); }
  void ExpectOnlyTheSuccessorIsNew() {
    ASSERT_TRUE(AwaitSuccessor("mnist-worker-1", UidOf(made_["mnist-worker-1"])));
    const json successor = Pod("mnist-worker-1");
    EXPECT_EQ(successor["metadata"]["labels"]["taas.dev/pod-number"], "2");
    EXPECT_EQ(EpochOf(successor), "2");
    made_["mnist-worker-1"] = successor;
    ExpectNothingIsNew();
  }
  void ExpectNothingIsNew() {
    EXPECT_EQ(NamesOf(kPodsPath, "mnist"), kPods);
    for (const auto& [name, pod] : made_) EXPECT_EQ(UidOf(Pod(name)), UidOf(pod)) << name;
  }
  void LiveToTheEnd() {
    Run("mnist-worker-1");
    ASSERT_TRUE(AwaitState("Running")) << Status().dump(1);
    for (const std::string& pod : kPods) End(pod, 0, R"({"message":"done","step":2000})");
    ASSERT_TRUE(AwaitState("Succeeded")) << Status().dump(1);
    EXPECT_EQ(Status()["restarts"], json::parse(R"({"killed":1})"));
    ExpectNothingIsNew();
  }

  // The first one stands still with `job`, of so many workers, half made; `first_made` is where its
  // first objects are.
  void FreezeInTheMiddle(const char* jobs_path, const json& job, const char* first_made,
                         size_t workers) {
    ASSERT_EQ(Call("POST", jobs_path, job.dump())["kind"], job["kind"]);
    ASSERT_TRUE(Await([&] { return !NamesOf(first_made, "large").empty(); }));
    ASSERT_THAT(first_->Signal(SIGSTOP), IsOk());
    ASSERT_LT(NamesOf(kPodsPath, "large").size(), workers) << "it was done before it was frozen";
    ASSERT_TRUE(AwaitNextLeader());
    ASSERT_THAT(first_->Signal(SIGCONT), IsOk());
    const auto code = first_->Wait(kPatience);
    ASSERT_THAT(code, IsOk());
    EXPECT_EQ(*code, kLeaseLostExitCode);
    ASSERT_TRUE(Await([&] { return NamesOf(kPodsPath, "large").size() == workers; }));
    const std::string taken_over = Lease()["spec"]["acquireTime"];
    EXPECT_THAT(WritesOfTheFirstSince(taken_over), IsEmpty());
    EXPECT_THAT(WritesOfTheFirstSince(""), Contains(HasSubstr("create")));
  }

  const std::vector<std::string> kPods = {"mnist-chief-0", "mnist-worker-0", "mnist-worker-1"};
  std::unique_ptr<Process> first_;
  std::unique_ptr<Process> second_;
  std::string first_holder_;
  std::map<std::string, json> made_;  // By name, as they were seen last.
};

TEST_F(OperatorLeaderTest, OneThatIsStoppedHandsOverAtOnceAndTheJobGoesOn) {
  ASSERT_NO_FATAL_FAILURE(StartJob());
  EXPECT_EQ(Holder(), first_holder_);
  const Clock::Time begun = clock_.Now();
  ASSERT_THAT(first_->Signal(SIGTERM), IsOk());
  ASSERT_TRUE(AwaitNextLeader());
  EXPECT_LT(clock_.Now() - begun, kLease / 2) << "it was waited for as if it had crashed";
  const auto code = first_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, 0);
  EXPECT_EQ(Transitions(), 2);
  Hurt();
  ASSERT_NO_FATAL_FAILURE(ExpectOnlyTheSuccessorIsNew());
  ASSERT_NO_FATAL_FAILURE(LiveToTheEnd());
}

TEST_F(OperatorLeaderTest, OneThatIsKilledIsFollowedWhenItsLeaseIsOver) {
  ASSERT_NO_FATAL_FAILURE(StartJob());
  ASSERT_THAT(first_->Signal(SIGKILL), IsOk());
  ASSERT_THAT(first_->Wait(kPatience), IsOk());
  const Clock::Time begun = clock_.Now();
  Hurt();
  ASSERT_TRUE(AwaitNextLeader());
  EXPECT_GT(clock_.Now() - begun, kLease - 2s) << "its lease was not respected";
  ASSERT_NO_FATAL_FAILURE(ExpectOnlyTheSuccessorIsNew());
  ASSERT_NO_FATAL_FAILURE(LiveToTheEnd());
}

// What has left a late process by the time it ends, in the words of the process: its writes of what
// it saw before it froze.
TEST_F(OperatorLeaderTest, OneThatWasFrozenForLongerThanItsLeaseWritesNothingMoreAndEnds) {
  ASSERT_NO_FATAL_FAILURE(StartJob(/*clean_pod_policy=*/"None"));
  const json seen_job = Call("GET", std::string(kTrainingJobsPath) + "/mnist");
  ASSERT_THAT(first_->Signal(SIGSTOP), IsOk());
  Hurt();
  ASSERT_TRUE(AwaitNextLeader());
  ASSERT_NO_FATAL_FAILURE(ExpectOnlyTheSuccessorIsNew());
  // The job changes while the first one wakes up and sees it.
  Run("mnist-worker-1");
  ASSERT_THAT(first_->Signal(SIGCONT), IsOk());
  const auto code = first_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, kLeaseLostExitCode);
  EXPECT_EQ(Transitions(), 2);
  ExpectNothingIsNew();
  EXPECT_THAT(WritesOfTheFirstSince(Lease()["spec"]["acquireTime"], Refused::kToo), IsEmpty());

  // A delete and a patch that had left it.
  json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  options["preconditions"] = {
      {"uid", UidOf(made_["mnist-worker-1"])},
      {"resourceVersion", made_["mnist-worker-1"]["metadata"]["resourceVersion"]}};
  EXPECT_EQ(Call("DELETE", std::string(kPodsPath) + "/mnist-worker-1", options.dump())["code"],
            409);
  const json patch = {
      {"metadata", {{"resourceVersion", seen_job["metadata"]["resourceVersion"]}}},
      {"status", {{"state", "Failed"}}}};
  EXPECT_EQ(Patch(std::string(kTrainingJobsPath) + "/mnist/status", patch)["code"], 409);
  // A create that had left it: of the pod that is there, and of one whose time is over.
  json late = made_["mnist-worker-0"];
  for (const char* theirs : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
    late["metadata"].erase(theirs);
  }
  late.erase("status");
  late["spec"].erase("nodeName");
  EXPECT_EQ(EpochOf(late), "1");
  EXPECT_EQ(Call("POST", kPodsPath, late.dump())["reason"], "AlreadyExists");
  End("mnist-chief-0", 0, R"({"message":"done","step":2000})");
  ASSERT_TRUE(AwaitState("Succeeded")) << Status().dump(1);
  ExpectNothingIsNew();  // The user wants to keep what ran at the end.
  const std::string worker = std::string(kPodsPath) + "/mnist-worker-0";
  Call("DELETE", worker, R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0})");
  ASSERT_TRUE(Await([&] { return Pod("mnist-worker-0")["kind"] == "Status"; }));
  ASSERT_EQ(Call("POST", kPodsPath, late.dump())["kind"], "Pod");
  EXPECT_TRUE(Await([&] { return Pod("mnist-worker-0")["kind"] == "Status"; }))
      << Pod("mnist-worker-0").dump(1);
  EXPECT_EQ(UidOf(Pod("mnist-worker-1")), UidOf(made_["mnist-worker-1"])) << "of this leader";
  EXPECT_EQ(Status()["state"], "Succeeded");
}

// Most of its creates wait their turn in the process while it stands still.
TEST_F(OperatorLeaderTest, OneThatWasFrozenWhileItMadePodsMakesNoneOfTheRest) {
  constexpr int kWorkers = 200;
  json job = json::parse(R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
      "metadata":{"name":"large"},"spec":{"roles":{"worker":{"template":{"spec":{"containers":[
        {"name":"trainer","image":"own/image:1"}]}}}}}})");
  job["spec"]["roles"]["worker"]["replicas"] = kWorkers;
  FreezeInTheMiddle(kTrainingJobsPath, job, kPodsPath, kWorkers);
}

// Of a TFJob each replica has a service, which is made before the first pod.
TEST_F(OperatorLeaderTest, OneThatWasFrozenWhileItMadeServicesLeavesTheRestToTheNext) {
  constexpr int kWorkers = 60;
  json job = json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"large"},"spec":{"tfReplicaSpecs":{"Worker":{"restartPolicy":"ExitCode",
        "template":{"spec":{"containers":[{"name":"tensorflow","image":"own/image:1"}]}}}}}})");
  job["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] = kWorkers;
  FreezeInTheMiddle(kTfJobsPath, job, kServicesPath, kWorkers);
  EXPECT_EQ(NamesOf(kServicesPath, "large").size(), kWorkers);
}

TEST_F(OperatorLeaderTest, ALeaseThatIsDeletedOrEditedByHandEndsItsHolderAndTheNextIsAbove) {
  ASSERT_NO_FATAL_FAILURE(StartJob());
  // What others keep in the object is no reason.
  Patch(std::string(kLeasesPath) + "/election", {{"metadata", {{"labels", {{"team", "ml"}}}}}});
  clock_.SleepUntil(clock_.Now() + 3s);
  EXPECT_FALSE(first_->ExitCode().has_value());
  EXPECT_EQ(Lease()["metadata"]["labels"]["team"], "ml");
  EXPECT_EQ(Holder(), first_holder_);

  Call("DELETE", std::string(kLeasesPath) + "/election");
  auto code = first_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, kLeaseLostExitCode);
  ASSERT_TRUE(AwaitNextLeader());
  EXPECT_EQ(Transitions(), 2) << "above the one that was deleted";

  first_ = std::move(second_);
  first_holder_ = Holder();
  ASSERT_NO_FATAL_FAILURE(StartSecond());
  Patch(std::string(kLeasesPath) + "/election", {{"spec", {{"holderIdentity", "by hand"}}}});
  code = first_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, kLeaseLostExitCode);
  ASSERT_TRUE(Await([&] {
    const std::string holder = Holder();
    return holder != "by hand" && holder != first_holder_ && !holder.empty();
  }));
  EXPECT_EQ(Transitions(), 3);
  ExpectNothingIsNew();
}

// Whoever may edit pods can write a later epoch on one; that must not stop the operator.
TEST_F(OperatorLeaderTest, AForgedEpochStopsNobody) {
  ASSERT_NO_FATAL_FAILURE(StartJob());
  Patch(std::string(kPodsPath) + "/mnist-chief-0",
        {{"metadata", {{"annotations", {{"taas.dev/epoch", "99"}}}}}});
  Hurt();
  ASSERT_TRUE(AwaitSuccessor("mnist-worker-1", UidOf(made_["mnist-worker-1"])));
  EXPECT_FALSE(first_->ExitCode().has_value());
  EXPECT_EQ(EpochOf(Pod("mnist-worker-1")), "1");
}

}  // namespace
}  // namespace taas
