#include <mutex>
#include <string>
#include <vector>

#include "cli/command_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/test_server.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kJob[] = R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob",
    "metadata":{"namespace":"team","name":"mnist","uid":"u","resourceVersion":"5"},
    "spec":{"trainer":{"model":{"name":"softmax"},"checkpoint":{"dir":"/out"}},
      "roles":{"worker":{"replicas":1}},
      "volumes":[{"name":"out","mountPath":"/out",
        "source":{"persistentVolumeClaim":{"claimName":"mnist-out"}}}]},
    "status":{"state":"Succeeded"}})";

json Ended(int code) {
  return {{"phase", code == 0 ? "Succeeded" : "Failed"},
          {"containerStatuses",
           json::array({{{"name", "trainer"},
                         {"state",
                          {{"terminated",
                            {{"exitCode", code},
                             {"reason", code == 137 ? "OOMKilled" : "Error"},
                             {"startedAt", "2026-11-21T05:54:16Z"}}}}}}})}};
}

// A server on which whatever pod is made has `status_` at once.
class UseTest : public CommandFixture {
 protected:
  UseTest() : CommandFixture("use") { UseServer(server_.url()); }

  bool Make(const TestServer::Request& request, TestServer::Connection& to) {
    json object = json::parse(request.body);
    object["metadata"]["uid"] = "uid-made";
    object["metadata"]["resourceVersion"] = "7";
    const std::lock_guard<std::mutex> lock(mutex_);
    if (object["kind"] == "ConfigMap") {
      map_ = object;
      return to.Reply(201, object.dump());
    }
    if (refuses_pods_) {
      return to.Reply(403, R"({"reason":"Forbidden","message":"exceeded quota","code":403})");
    }
    pod_ = object;
    pod_["status"] = status_;
    return to.Reply(201, object.dump());
  }
  bool Answer(const TestServer::Request& request, TestServer::Connection& to) {
    const std::string& target = request.target;
    const auto has = [&](const char* part) { return target.find(part) != std::string::npos; };
    if (has("watch=true")) {
      to.StartChunks(200);
      return to.WaitForClose();
    }
    if (request.method == "POST") return Make(request, to);
    if (request.method == "DELETE") return to.Reply(200, "{}");
    if (has("/log?")) return to.Reply(200, "2026-11-21T05:54:17.1Z " + log_ + "\n");
    if (has("/trainingjobs/mnist")) return to.Reply(200, kJob);
    if (has("labelSelector=taas.dev%2Fjob-name")) return to.Reply(200, List(replica_));
    if (has("/pods?")) {
      const std::lock_guard<std::mutex> lock(mutex_);
      return to.Reply(200, List(pod_.is_null() ? "" : pod_.dump()));
    }
    return to.Reply(404, R"({"reason":"NotFound","message":"not here","code":404})");
  }
  // "DELETE /api/…" of all that was deleted, in order.
  std::vector<std::string> Deleted() {
    std::vector<std::string> out;
    for (const TestServer::Request& request : server_.requests()) {
      if (request.method == "DELETE") out.push_back(request.target);
    }
    return out;
  }
  json Made(const json& which) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return which;
  }

  json status_ = Ended(0);
  std::string log_ = "step 100, accuracy 0.9";
  std::string replica_;  // A pod of the job that is still there.
  bool refuses_pods_ = false;
  std::mutex mutex_;
  json pod_, map_;  // As they were made.
  TestServer server_{[this](const TestServer::Request& request, TestServer::Connection& to) {
    return Answer(request, to);
  }};
};

TEST_F(UseTest, WhatThePodPrintsIsTheOutputAndNothingIsLeft) {
  EXPECT_EQ(Run({"eval", "mnist"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "step 100, accuracy 0.9\n");
  const json pod = Made(pod_);
  const std::string name = pod["metadata"]["name"];
  EXPECT_THAT(name, StartsWith("mnist-eval-"));
  EXPECT_EQ(pod["metadata"]["namespace"], "team");
  EXPECT_EQ(pod["spec"]["activeDeadlineSeconds"], 3600);
  EXPECT_EQ(Deleted(), std::vector<std::string>{"/api/v1/namespaces/team/pods/" + name});
  EXPECT_EQ(err_.str(), "pod team/" + name + " created\n");
}

TEST_F(UseTest, TheExitCodeIsTheCommands) {
  status_ = Ended(1);
  EXPECT_EQ(Run({"eval", "tj/mnist"}), 1);
  EXPECT_EQ(Deleted().size(), 1u);
  status_ = Ended(137);
  EXPECT_EQ(Run({"eval", "mnist"}), 137);
  EXPECT_THAT(err_.str(), HasSubstr("ended with exit code 137, OOMKilled"));
}

TEST_F(UseTest, ExamplesGoBeforeThePodAndAreTakenAwayAfterIt) {
  const std::string file = Write("rows.txt", "1 2\n");
  EXPECT_EQ(Run({"predict", "mnist", "--input", file}), 0) << err_.str();
  const std::string name = Made(map_)["metadata"]["name"];
  EXPECT_EQ(Made(map_)["binaryData"]["rows.txt"], "MSAyCg==");
  EXPECT_EQ(Made(pod_)["spec"]["containers"][0]["args"].back(), "/taas-input/rows.txt");
  EXPECT_EQ(Deleted(),
            (std::vector<std::string>{"/api/v1/namespaces/team/pods/" + name,
                                      "/api/v1/namespaces/team/configmaps/" + name}));
}

TEST_F(UseTest, APromptGoesInAFileSinceArgumentsHaveVariables) {
  EXPECT_EQ(Run({"generate", "mnist", "--prompt", "$(HOME) is"}), 0) << err_.str();
  EXPECT_EQ(Made(map_)["binaryData"]["prompt.txt"], "JChIT01FKSBpcw==");
  EXPECT_EQ(Made(pod_)["spec"]["containers"][0]["args"].back(), "/taas-input/prompt.txt");
  EXPECT_EQ(Run({"generate", "mnist"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--prompt TEXT, --input FILE or --input-path PATH"));
}

TEST_F(UseTest, APodThatIsRefusedLeavesNoExamplesBehind) {
  refuses_pods_ = true;
  EXPECT_EQ(Run({"predict", "mnist", "--input", Write("rows.txt", "1 2\n")}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("create pod team/mnist-predict-"),
                                HasSubstr("exceeded quota")));
  ASSERT_EQ(Deleted().size(), 1u);
  EXPECT_THAT(Deleted()[0], HasSubstr("/configmaps/"));
}

TEST_F(UseTest, APodThatDoesNotStartInTimeIsTakenAwayWithTheReason) {
  status_ = json::parse(R"({"phase":"Pending","conditions":[{"type":"PodScheduled",
      "status":"False","reason":"Unschedulable","message":"0/1 nodes are available"}]})");
  EXPECT_EQ(Run({"eval", "mnist", "--timeout", "1s"}), 4);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("had not ended after 1 s (--timeout)"),
                                HasSubstr("cannot be scheduled: Unschedulable: 0/1 nodes")));
  EXPECT_EQ(Deleted().size(), 1u);
  EXPECT_EQ(Made(pod_)["spec"]["activeDeadlineSeconds"], 1);
}

TEST_F(UseTest, TheImageIsThatOfTheJobsPodsUnlessOneIsGiven) {
  EXPECT_EQ(Run({"eval", "mnist"}), 0) << err_.str();
  EXPECT_THAT(std::string(Made(pod_)["spec"]["containers"][0]["image"]),
              StartsWith("taas/trainer:"));
  replica_ = R"({"metadata":{"namespace":"team","name":"mnist-worker-0","uid":"w",
      "resourceVersion":"4","labels":{"taas.dev/job-name":"mnist","taas.dev/role":"worker",
      "taas.dev/index":"0"}},"spec":{"containers":[{"name":"trainer","image":"reg/trainer:7"}]}})";
  EXPECT_EQ(Run({"eval", "mnist"}), 0) << err_.str();
  EXPECT_EQ(Made(pod_)["spec"]["containers"][0]["image"], "reg/trainer:7");
  EXPECT_EQ(Run({"eval", "mnist", "--image", "me/trainer:8"}), 0) << err_.str();
  EXPECT_EQ(Made(pod_)["spec"]["containers"][0]["image"], "me/trainer:8");
}

TEST_F(UseTest, WhatCannotBeUsedMakesNoPod) {
  EXPECT_EQ(Run({"eval", "gone"}), 3);
  EXPECT_EQ(Run({"predict", "mnist", "--input", dir_ + "/no-such-file"}), 3);
  EXPECT_EQ(Run({"export", "mnist", "--format", "safetensors", "--to", "/model"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("choose a path in /out"));
  EXPECT_EQ(Run({"export", "mnist", "--to", "/out/m"}), 2);
  EXPECT_EQ(Run({"predict", "mnist", "--input", "a", "--input-path", "/b"}), 2);
  EXPECT_EQ(Run({"eval", "mnist", "--timeout", "0"}), 2);
  EXPECT_TRUE(Made(pod_).is_null());
  EXPECT_TRUE(Deleted().empty());
}

}  // namespace
}  // namespace taas
