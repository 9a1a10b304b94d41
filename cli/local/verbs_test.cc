// The verbs against a real API server and node: the local cluster without its operator, whose part
// the tests play, so that every state of a job can be had.

#include <cstdlib>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/taas_app.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/cluster/local_cluster.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = 60s;
constexpr char kJobs[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs/";
constexpr char kTfJobs[] = "/apis/kubeflow.org/v1/namespaces/default/tfjobs/";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";

std::string RealPath(const char* path) {
  char* real = ::realpath(path, nullptr);
  const std::string out = real != nullptr ? real : path;
  std::free(real);
  return out;
}

class VerbsTest : public testing::Test {
 protected:
  VerbsTest() : dir_(testing::TempDir() + "/verbsXXXXXX") {
    EXPECT_NE(::mkdtemp(dir_.data()), nullptr);
    auto cluster = localkube::LocalCluster::Start({.dir = dir_ + "/d",
                                                   .fake_gpus = {.count = 4, .gibibytes = 80},
                                                   .trainer_path = "/bin/false",
                                                   .shim_path = RealPath("cli/taas")});
    EXPECT_THAT(cluster, IsOk());
    cluster_ = *std::move(cluster);
  }
  ~VerbsTest() override {
    cluster_.reset();
    EXPECT_THAT(localkube::EndAllRuns(disk_, clock_, localkube::PodDirs(dir_ + "/d/pods"), 0ms),
                IsOk());
    EXPECT_EQ(localkube::KillLeftovers(disk_, dir_), 0) << "processes were left";
  }

  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return RunTaas(std::move(arguments), io_, nullptr);
  }
  localkube::ApiCalls Api() { return localkube::ApiCalls(cluster_->server().api()); }
  Json Get(const std::string& path) {
    const auto text = Api().Get(path);
    return text.ok() ? Json::parse(*text) : Json();
  }
  void Submit(const std::string& name, const std::string& kind) {
    ASSERT_EQ(Run({"submit", "--detach", "--kind", kind, "--name", name, "--image", "own", "--ps",
                   "1", "--workers", "2", "--", "/bin/sh", "-c", "true"}),
              0)
        << err_.str();
  }
  // As the operator would.
  void SetStatus(const std::string& path, const Json& status) {
    const auto text = Api().Get(path);
    ASSERT_THAT(text, IsOk());
    Json job = Json::parse(*text);
    job["status"] = status;
    ASSERT_THAT(Api().Put(path + "/status", job.dump()), IsOk());
  }
  void MakePod(const std::string& job_path, const std::string& replica, const std::string& script,
               const std::string& gpus) {
    const Json job = Get(job_path);
    const std::string role = replica.substr(0, replica.find('-'));
    const std::string name = job["metadata"]["name"].get<std::string>() + "-" + replica;
    const Json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", name},
          {"labels",
           {{"taas.dev/job-name", job["metadata"]["name"]},
            {"taas.dev/role", role},
            {"taas.dev/index", replica.substr(role.size() + 1)}}},
          {"ownerReferences",
           Json::array({{{"apiVersion", job["apiVersion"]},
                         {"kind", job["kind"]},
                         {"name", job["metadata"]["name"]},
                         {"uid", job["metadata"]["uid"]},
                         {"controller", true}}})}}},
        {"spec",
         {{"restartPolicy", "Never"},
          {"containers",
           Json::array({{{"name", "trainer"},
                         {"image", "own"},
                         {"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}},
                         {"command", {"/bin/sh", "-c", script}}}})}}}};
    ASSERT_THAT(Api().Post(kPods, pod.dump()), IsOk());
  }
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + 5ms);
    }
  }
  std::string Phase(const std::string& pod) {
    const Json json = Get(std::string(kPods) + "/" + pod);
    return json.is_null() ? "gone" : json.value("/status/phase"_json_pointer, "");
  }

  RealClock clock_;
  PosixFileSystem disk_;
  std::string dir_;
  std::unique_ptr<localkube::LocalCluster> cluster_;
  std::ostringstream out_, err_;
  CommandIo io_{.out = out_, .err = err_, .env = [this](const std::string& name) {
                  return name == "KUBECONFIG" ? std::optional<std::string>(dir_ + "/d/kubeconfig")
                                              : std::nullopt;
                }};
};

TEST_F(VerbsTest, SubmitMakesAJobOfEitherKindAndListShowsBoth) {
  Submit("ours", "trainingjob");
  EXPECT_THAT(err_.str(), HasSubstr("trainingjob.taas.dev/ours created"));
  Submit("theirs", "tfjob");
  EXPECT_EQ(Get(std::string(kJobs) + "ours")["spec"]["roles"]["worker"]["replicas"], 2);
  const Json tf_job = Get(std::string(kTfJobs) + "theirs");
  EXPECT_EQ(tf_job["spec"]["tfReplicaSpecs"]["Worker"]["replicas"], 2);
  EXPECT_EQ(Run({"list", "-o", "name"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "trainingjob.taas.dev/ours\ntfjob.kubeflow.org/theirs\n");
  EXPECT_EQ(Run({"list", "-A", "-o", "wide"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("NAMESPACE"), HasSubstr("TFJob"),
                                HasSubstr("ps 1, worker 2")));
  EXPECT_EQ(Run({"list", "--kind", "tfjob", "--no-headers"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("theirs"), Not(HasSubstr("ours")),
                                Not(HasSubstr("NAME"))));
  EXPECT_EQ(Run({"list", "--state", "Running", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(VerbsTest, SubmitTwiceSaysWhatToDo) {
  Submit("twice", "trainingjob");
  EXPECT_EQ(Run({"submit", "--detach", "--name", "twice", "--image", "own", "--workers", "1"}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("AlreadyExists"), HasSubstr("taas delete twice")));
}

TEST_F(VerbsTest, ADryRunMakesNothing) {
  EXPECT_EQ(Run({"submit", "--dry-run", "server", "--name", "dry", "--image", "own", "--workers",
                 "1", "-o", "yaml"}),
            0)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("uid:"));
  EXPECT_TRUE(Get(std::string(kJobs) + "dry").is_null());
  EXPECT_EQ(Run({"submit", "--dry-run", "client", "--name", "dry", "--image", "own", "--workers",
                 "1"}),
            0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("kind: TrainingJob"), Not(HasSubstr("uid:"))));
}

TEST_F(VerbsTest, WhatTheSchemaRefusesIsSaidBeforeTheServerIsAsked) {
  EXPECT_EQ(Run({"submit", "--name", "bad", "--image", "own", "--workers", "1", "--set",
                 "spec.rolls=1"}),
            2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown field \"spec.rolls\" (did you mean \"roles\"?)"));
  EXPECT_EQ(Run({"submit"}), 2);
}

TEST_F(VerbsTest, GetPrintsOneObjectAndNamesWhatIsNotThere) {
  Submit("one", "trainingjob");
  EXPECT_EQ(Run({"get", "one", "-o", "json"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["metadata"]["name"], "one");
  EXPECT_EQ(Run({"get", "tj/one", "-o", "yaml"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("kind: TrainingJob"));
  EXPECT_EQ(Run({"get", "one", "none"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("one "));
  EXPECT_THAT(err_.str(), HasSubstr("get job default/none"));
  EXPECT_EQ(Run({"get", "pod/one"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("write NAME, tj/NAME or tfjob/NAME"));
}

TEST_F(VerbsTest, ANameThatBothKindsHaveMustBeSaidWithItsKind) {
  Submit("same", "trainingjob");
  Submit("same", "tfjob");
  EXPECT_EQ(Run({"get", "same"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("write tj/same or tfjob/same"));
  EXPECT_EQ(Run({"get", "tfjob/same", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "tfjob.kubeflow.org/same\n");
}

TEST_F(VerbsTest, SuspendAndResumeChangeTheFieldOfTheKind) {
  Submit("a", "trainingjob");
  Submit("b", "tfjob");
  EXPECT_EQ(Run({"suspend", "a", "b"}), 0) << err_.str();
  EXPECT_EQ(Get(std::string(kJobs) + "a")["spec"]["suspend"], true);
  EXPECT_EQ(Get(std::string(kTfJobs) + "b")["spec"]["runPolicy"]["suspend"], true);
  EXPECT_EQ(Run({"suspend", "a"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("suspended already"));
  EXPECT_EQ(Run({"resume", "b"}), 0) << err_.str();
  EXPECT_EQ(Get(std::string(kTfJobs) + "b")["spec"]["runPolicy"]["suspend"], false);
  SetStatus(std::string(kJobs) + "a", {{"state", "Succeeded"}});
  EXPECT_EQ(Run({"resume", "a"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("it has ended as Succeeded"));
}

TEST_F(VerbsTest, ScaleChangesARoleThatIsThere) {
  Submit("a", "trainingjob");
  Submit("b", "tfjob");
  EXPECT_EQ(Run({"scale", "a", "--replicas", "5"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("worker from 2 to 5"));
  EXPECT_EQ(Get(std::string(kJobs) + "a")["spec"]["roles"]["worker"]["replicas"], 5);
  EXPECT_EQ(Run({"scale", "b", "--workers", "1"}), 0) << err_.str();
  EXPECT_EQ(Get(std::string(kTfJobs) + "b")["spec"]["tfReplicaSpecs"]["Worker"]["replicas"], 1);
  EXPECT_EQ(Run({"scale", "a", "--role", "evaluator", "--replicas", "1"}), 3);
  EXPECT_EQ(Run({"scale", "a", "--replicas", "1", "--current-replicas", "2"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("it has 5 worker replicas, not 2"));
}

TEST_F(VerbsTest, DeleteTakesThePodsUnlessTheyAreToStay) {
  Submit("a", "trainingjob");
  MakePod(std::string(kJobs) + "a", "worker-0", "true", "0");
  EXPECT_EQ(Run({"delete", "a"}), 0) << err_.str();
  EXPECT_TRUE(Get(std::string(kJobs) + "a").is_null());
  Await("the pod to go", [&] { return Phase("a-worker-0") == "gone"; });
  Submit("b", "trainingjob");
  MakePod(std::string(kJobs) + "b", "worker-0", "true", "0");
  EXPECT_EQ(Run({"delete", "b", "--cascade", "orphan"}), 0) << err_.str();
  EXPECT_NE(Phase("b-worker-0"), "gone");
  EXPECT_EQ(Run({"delete", "b"}), 3);
  EXPECT_EQ(Run({"delete", "b", "--ignore-not-found"}), 0) << err_.str();
}

TEST_F(VerbsTest, DeleteGivesUpOnAFinalizerThatNobodyRemoves) {
  Submit("held", "trainingjob");
  ASSERT_THAT(Api().Patch(std::string(kJobs) + "held",
                          R"({"metadata":{"finalizers":["example.com/hold"]}})"),
              IsOk());
  EXPECT_EQ(Run({"delete", "held", "--timeout", "0"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("a finalizer of it"));
  EXPECT_EQ(Run({"list", "--no-headers"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Terminating"));
}

TEST_F(VerbsTest, WaitKnowsBothKindsAndDeletion) {
  Submit("b", "tfjob");
  SetStatus(std::string(kTfJobs) + "b",
            Json::parse(R"({"conditions":[{"type":"Succeeded","status":"True",
                "reason":"TFJobSucceeded","message":"done"}]})"));
  EXPECT_EQ(Run({"wait", "b", "--timeout", "60s"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "tfjob.kubeflow.org/b is Succeeded\n");
  EXPECT_EQ(Run({"wait", "b", "--for", "Deleted", "--timeout", "1s"}), 4);
  EXPECT_EQ(Run({"delete", "b"}), 0) << err_.str();
  EXPECT_EQ(Run({"wait", "b", "--for", "Deleted"}), 0) << err_.str();
}

// Beside other jobs `taas wait` said "was deleted", exit code 3, of a job that was there, and
// `--for Deleted` succeeded at once.
TEST_F(VerbsTest, WaitSeesItsJobAmongOthers) {
  for (const char* name : {"a", "b", "c", "d", "z"}) Submit(name, "trainingjob");
  for (const char* name : {"a", "c", "z"}) {
    EXPECT_EQ(Run({"wait", name, "--for", "Pending", "--timeout", "60s"}), 0) << err_.str();
    EXPECT_EQ(Run({"wait", name, "--for", "Deleted", "--timeout", "1s"}), 4) << out_.str();
  }
  std::thread end([&] { SetStatus(std::string(kJobs) + "z", {{"state", "Succeeded"}}); });
  EXPECT_EQ(Run({"wait", "z", "--timeout", "60s"}), 0) << err_.str();
  end.join();
}

// A ledger that cannot be read kept a job from `taas suspend` and `taas delete`.
TEST_F(VerbsTest, AJobThatCannotBeReadIsListedSuspendedAndDeleted) {
  for (const char* kind : {"trainingjob", "tfjob"}) {
    Submit("evil", kind);
    const std::string path =
        (std::string(kind) == "tfjob" ? std::string(kTfJobs) : std::string(kJobs)) + "evil";
    ASSERT_THAT(Api().Patch(path, R"({"metadata":{"annotations":{"taas.dev/ledger":"{"}}})"),
                IsOk());
    EXPECT_EQ(Run({"list"}), 0);
    EXPECT_THAT(out_.str(), HasSubstr("evil   Pending"));
    EXPECT_THAT(err_.str(), HasSubstr("default/evil: "));
    EXPECT_EQ(Run({"get", "evil", "-o", "name"}), 0) << err_.str();
    EXPECT_EQ(Run({"suspend", "evil"}), 0) << err_.str();
    EXPECT_THAT(Get(path).dump(), HasSubstr("\"suspend\":true"));
    EXPECT_EQ(Run({"suspend", "evil"}), 0);
    EXPECT_THAT(out_.str(), HasSubstr("is suspended already"));
    EXPECT_EQ(Run({"resume", "evil"}), 0) << err_.str();
    EXPECT_EQ(Run({"delete", "evil"}), 0) << err_.str();
    EXPECT_EQ(Run({"get", "evil"}), 3);
  }
}

// `taas list` said "Failed to connect to any resolved endpoint", and no more.
TEST_F(VerbsTest, AClusterThatIsDownSaysHowItIsStarted) {
  cluster_.reset();
  EXPECT_EQ(Run({"list"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("`taas local up --dir " + dir_ + "/d` starts it"));
}

TEST_F(VerbsTest, DescribeBeginsWithTheReasonAndEndsWithEvents) {
  Submit("why", "trainingjob");
  SetStatus(std::string(kJobs) + "why",
            {{"state", "Pending"}, {"ready", "0/3"}, {"message", "worker-0 has no GPU"}});
  MakePod(std::string(kJobs) + "why", "worker-0", "true", "64");
  const Json job = Get(std::string(kJobs) + "why");
  const Json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", "why.1"}, {"namespace", "default"}}},
                      {"involvedObject", {{"kind", "TrainingJob"}, {"name", "why"},
                                          {"uid", job["metadata"]["uid"]}}},
                      {"type", "Warning"},
                      {"reason", "TestReason"},
                      {"message", "said by the test"}};
  ASSERT_THAT(Api().Post("/api/v1/namespaces/default/events", event.dump()), IsOk());
  Await("the scheduler's words", [&] {
    Run({"describe", "why"});
    return out_.str().find("Insufficient nvidia.com/gpu") != std::string::npos;
  });
  EXPECT_THAT(out_.str(), AllOf(testing::StartsWith("why is pending: worker-0 has no GPU.\n"),
                                HasSubstr("TestReason"), HasSubstr("ps-0       no pod")));
}

TEST_F(VerbsTest, TopShowsWhoHoldsTheGpus) {
  Submit("busy", "trainingjob");
  MakePod(std::string(kJobs) + "busy", "worker-0", "exec sleep 1000", "3");
  Await("the pod to run", [&] { return Phase("busy-worker-0") == "Running"; });
  EXPECT_EQ(Run({"top", "node", "--details"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("4            3"), HasSubstr("1/1 Ready"),
                                HasSubstr("busy-worker-0   worker-0   Running")));
  EXPECT_EQ(Run({"top", "job"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("busy   TrainingJob   Pending   1/1    3             3"));
  EXPECT_EQ(Run({"top", "job", "busy"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("busy-worker-0"));
  EXPECT_EQ(Run({"top", "node", "no-such-node"}), 3);
}

TEST_F(VerbsTest, TopShowsWhatABusyPodUses) {
  Submit("busy", "trainingjob");
  MakePod(std::string(kJobs) + "busy", "worker-0", "while :; do :; done", "0");
  // PODS, GPUs asked and held, CPU and memory held, CPU used in thousandths.
  const std::string row = "busy +TrainingJob +Pending +1/1 +0 +0 +0 +0 +[1-9][0-9]*m? +[1-9]";
  Await("figures of the pod", [&] {
    Run({"top", "job"});
    return std::regex_search(out_.str(), std::regex(row));
  });
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(Run({"top", "job", "busy"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("CPU(USED)"));
  EXPECT_TRUE(std::regex_search(
      out_.str(), std::regex("busy-worker-0 .*local +0 +0 +0 +[1-9][0-9]*m? +[1-9]")))
      << out_.str();
  EXPECT_EQ(Run({"top", "node"}), 0) << err_.str();
  const std::string cluster = "\\(cluster\\) +1/1 Ready .* [1-9][0-9]*m? +[0-9.]+Gi +0 +[1-9]";
  EXPECT_TRUE(std::regex_search(out_.str(), std::regex(cluster))) << out_.str();
}

TEST_F(VerbsTest, LogsAreCutFilteredAndStamped) {
  Submit("talk", "trainingjob");
  MakePod(std::string(kJobs) + "talk", "worker-0", "echo one; echo two; echo three", "0");
  MakePod(std::string(kJobs) + "talk", "ps-0", "echo quiet", "0");
  Await("the pods to end", [&] {
    return Phase("talk-worker-0") == "Succeeded" && Phase("talk-ps-0") == "Succeeded";
  });
  EXPECT_EQ(Run({"logs", "talk", "--role", "worker"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[worker-0] one\n[worker-0] two\n[worker-0] three\n");
  EXPECT_EQ(Run({"logs", "talk", "--role", "worker", "--tail", "1", "-t"}), 0);
  EXPECT_THAT(out_.str(), testing::MatchesRegex("\\[worker-0\\] [-0-9T:.]+Z three\n"));
  EXPECT_EQ(Run({"logs", "talk", "--role", "ps", "--since", "1h"}), 0);
  EXPECT_EQ(out_.str(), "[ps-0] quiet\n");
  EXPECT_EQ(Run({"logs", "talk", "--role", "evaluator"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("are among those asked for"));
  EXPECT_EQ(Run({"logs", "talk", "--previous", "--role", "ps"}), 0);
  EXPECT_EQ(out_.str(), "") << "no container ran before this one";
  EXPECT_THAT(err_.str(), HasSubstr("read log of pod default/talk-ps-0"));
}

TEST_F(VerbsTest, SubmitFollowsTheJobAndItsResultIsTheExitCode) {
  // The operator's part, from another thread: pods, then the end.
  const auto play = [&](const std::string& name, const std::string& state) {
    std::thread part([&] {
      Await("the job", [&] { return !Get(std::string(kJobs) + name).is_null(); });
      MakePod(std::string(kJobs) + name, "worker-0", "echo hello", "0");
      Await("the pod", [&] { return Phase(name + "-worker-0") == "Succeeded"; });
      SetStatus(std::string(kJobs) + name, {{"state", state}, {"message", "said at the end"}});
    });
    const int code = Run({"submit", "--name", name, "--image", "own", "--workers", "1"});
    part.join();
    return code;
  };
  EXPECT_EQ(play("good", "Succeeded"), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[worker-0] hello\n");
  EXPECT_THAT(err_.str(), HasSubstr("Succeeded"));
  EXPECT_EQ(play("bad", "Failed"), 1);
  EXPECT_THAT(err_.str(), HasSubstr("job default/bad ended as Failed: said at the end"));
}

TEST_F(VerbsTest, TheDoctorFindsALocalClusterHealthy) {
  EXPECT_EQ(Run({"doctor"}), 0) << out_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("CRD trainingjobs"), HasSubstr("is that of this release"),
                                HasSubstr("1 of 1 ready, 4 GPUs"), Not(HasSubstr("fail"))));
  EXPECT_EQ(Run({"doctor", "--kubeconfig", "/no/such/file", "-o", "json"}), 1);
  EXPECT_EQ(Json::parse(out_.str())[0]["check"], "kubeconfig");
  EXPECT_EQ(Json::parse(out_.str())[0]["level"], "fail");
}

TEST_F(VerbsTest, CompletionOffersTheJobsOfTheCluster) {
  Submit("mnist", "trainingjob");
  Submit("mlp", "tfjob");
  EXPECT_EQ(Run({"__complete", "describe", "m"}), 0);
  EXPECT_EQ(out_.str(), "mlp\nmnist\n");
}

}  // namespace
}  // namespace taas
