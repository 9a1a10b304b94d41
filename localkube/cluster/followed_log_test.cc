// Logs that are followed while their pods come to an end, in all ways that pods do.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/kubectl_process.h"
#include "localkube/cluster/local_cluster_fixture.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;
using namespace std::chrono_literals;
using testing::HasSubstr;

// Follows as an HTTP client does: the stream of GET pods/NAME/log?follow=true.
class Followed {
 public:
  explicit Followed(ApiResponse response)
      : code_(response.code), stream_(std::move(response.stream)) {
    if (stream_ == nullptr) {
      text_ = response.body;
      return;
    }
    stream_->Start({.data = [this](std::string chunk) { text_ += chunk; },
                    .ended = [this] { ended_ = true; }});
  }
  int code() const { return code_; }
  // What has come until now.
  const std::string& Look() {
    if (stream_ != nullptr && !ended_) stream_->Tick();
    return text_;
  }
  bool ended() const { return ended_; }

 private:
  const int code_;
  std::unique_ptr<ApiStream> stream_;
  std::string text_;
  bool ended_ = false;
};

// Says its last lines when it is told to end.
constexpr char kGraceful[] =
    "trap 'echo last words; exit 143' TERM; echo ready; while :; do sleep 1000 & wait; done";

class FollowedLogTest : public LocalClusterTest {
 protected:
  std::unique_ptr<Followed> Follow(const std::string& name, const std::string& query = "") {
    auto followed = std::make_unique<Followed>(cluster_->server().api().Handle(
        {.method = "GET", .target = PodPath("default", name) + "/log?follow=true" + query}));
    EXPECT_EQ(followed->code(), 200) << followed->Look();
    return followed;
  }
  // With a pod that runs and has said so.
  std::unique_ptr<Followed> FollowNew(const Json& pod) {
    const std::string name = pod["metadata"]["name"];
    Create(pod);
    Await("ready", [&] { return ReadLog(name).find("ready") != std::string::npos; });
    auto followed = Follow(name);
    EXPECT_THAT(followed->Look(), HasSubstr("ready\n"));
    EXPECT_FALSE(followed->ended());
    return followed;
  }
  std::string AwaitEnd(Followed* followed) {
    Await("the end of the log", [&] {
      followed->Look();
      return followed->ended();
    });
    return followed->Look();
  }
  void Delete(const std::string& name, const char* options = "") {
    ASSERT_THAT(Api().Delete(PodPath("default", name), options), IsOk());
  }
};

// Symptom: `kubectl logs -f`, `taas logs -f` and `taas submit` went on for ever after their pod had
// been deleted with grace.
TEST_F(FollowedLogTest, ADeletedPodsLogEndsWithItsLastWords) {
  Start();
  const auto followed = FollowNew(Pod("a", kGraceful));
  Delete("a");
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\nlast words\n");
}

TEST_F(FollowedLogTest, SoDoesThatOfAnEvictedOne) {
  Start();
  const auto followed = FollowNew(Pod("a", kGraceful));
  ASSERT_THAT(Api().Post(PodPath("default", "a") + "/eviction",
                         R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}})"),
              IsOk());
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\nlast words\n");
}

TEST_F(FollowedLogTest, ThatOfAPodDeletedByForceEndsToo) {
  Start();
  const auto followed = FollowNew(Pod("a", "trap '' TERM; echo ready; exec sleep 1000"));
  Delete("a", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\n");
}

TEST_F(FollowedLogTest, ThatOfAPodWhoseNodeIsTakenAwayEnds) {
  options_.nodes = 2;
  Start();
  Json pod = Pod("a", kGraceful);
  pod["spec"]["nodeName"] = "local-2";
  const auto followed = FollowNew(pod);
  ASSERT_THAT(Api().Patch("/api/v1/nodes/local-2",
                          R"({"spec":{"taints":[{"key":"lost","effect":"NoExecute"}]}})"),
              IsOk());
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\nlast words\n");
}

TEST_F(FollowedLogTest, ARestartedContainersLogEndsAndTheNextRunHasItsOwn) {
  Start();
  Json pod = Pod("a", "echo ready; while [ ! -e " + options_.dir + "/go ]; do sleep 0.05; done; "
                      "echo end; [ -e " + options_.dir + "/twice ] && exec sleep 1000; "
                      "touch " + options_.dir + "/twice; exit 1");
  pod["spec"]["restartPolicy"] = "Always";
  const auto followed = FollowNew(pod);
  ASSERT_THAT(disk_.WriteAtomically(options_.dir + "/go", ""), IsOk());
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\nend\n");
  Await("the second run", [&] {
    const Json status = Get("a")["status"]["containerStatuses"][0];
    return status["restartCount"] == 1 && status["state"].contains("running");
  });
  const auto next = Follow("a");
  Await("its lines", [&] { return next->Look() == "ready\nend\n"; });
  EXPECT_FALSE(next->ended());
  EXPECT_EQ(AwaitEnd(Follow("a", "&previous=true").get()), "ready\nend\n");
}

TEST_F(FollowedLogTest, TheDirectoryWaitsForWhoReadsButNotForEver) {
  Start();
  const auto followed = FollowNew(Pod("a", kGraceful));
  const std::string dir = cluster_->pod_dirs().Pod(Get("a")["metadata"]["uid"]);
  Delete("a");
  AwaitPhase("a", "gone");
  EXPECT_TRUE(disk_.Exists(dir).value_or(false)) << "the last lines have not been read";
  // Nobody looks: as a client that has stopped reading.
  Await("its directory", [&] { return !disk_.Exists(dir).value_or(true); });
  EXPECT_EQ(AwaitEnd(followed.get()), "ready\nlast words\n") << "what was open is still read";
}

// Symptom: what an init container had to say could be read only by those who knew its directory.
TEST_F(FollowedLogTest, AnInitContainersLogIsReadFollowedAndEnds) {
  Start();
  Json pod = Pod("a", "true");
  pod["spec"]["initContainers"] = Json::array({{{"name", "fetch"}, {"image", "own"}}});
  Json& init = pod["spec"]["initContainers"][0];
  init["command"] = {"/bin/sh", "-c",
                     "echo fetching; while [ ! -e " + options_.dir + "/go ]; do sleep 0.05; done; "
                     "echo bucket gs://x not found >&2; exit 4"};
  init["terminationMessagePolicy"] = "FallbackToLogsOnError";
  Create(pod);
  Await("the init container", [&] {
    return Get("a").contains("/status/initContainerStatuses/0/state/running"_json_pointer);
  });
  const auto followed = Follow("a", "&container=fetch");
  Await("its first line", [&] { return followed->Look() == "fetching\n"; });
  // Without a name the pod's one container is meant, as on a cluster: it is yet to come.
  const ApiResponse other = cluster_->server().api().Handle(
      {.method = "GET", .target = PodPath("default", "a") + "/log"});
  EXPECT_EQ(other.code, 400);
  EXPECT_THAT(Json::parse(other.body).value("message", ""),
              HasSubstr("container \"c\" in pod \"a\" is waiting to start: PodInitializing"));
  ASSERT_THAT(disk_.WriteAtomically(options_.dir + "/go", ""), IsOk());
  EXPECT_EQ(AwaitEnd(followed.get()), "fetching\nbucket gs://x not found\n");
  AwaitPhase("a", "Failed");
  const Json ended = Get("a")["status"]["initContainerStatuses"][0];
  EXPECT_EQ(ended["state"]["terminated"]["exitCode"], 4);
  EXPECT_EQ(ended["state"]["terminated"]["reason"], "Error");
  EXPECT_EQ(ended["state"]["terminated"]["message"], "fetching\nbucket gs://x not found\n");
  EXPECT_EQ(ended["restartCount"], 0);
  EXPECT_EQ(Get("a")["status"]["containerStatuses"][0]["state"]["waiting"]["reason"],
            "PodInitializing");
}

// Symptom: of an init container that waits or is tried again and again nothing said so.
TEST_F(FollowedLogTest, AnInitContainerThatWaitsOrFailsAgainSaysWhy) {
  Start();
  Json pod = Pod("a", "true");
  pod["spec"]["restartPolicy"] = "OnFailure";
  pod["spec"]["initContainers"] = Json::array(
      {{{"name", "fetch"},
        {"image", "own"},
        {"command", {"/bin/sh", "-c", "echo no $LEVEL; exit 4"}},
        {"envFrom", Json::array({{{"configMapRef", {{"name", "m"}}}}})}}});
  Create(pod);
  const auto init = [&](const char* path) {
    return Get("a").value(Json::json_pointer(std::string("/status/initContainerStatuses/0") + path),
                          Json());
  };
  Await("the reason", [&] {
    return init("/state/waiting/reason") == "CreateContainerConfigError";
  });
  EXPECT_EQ(init("/state/waiting/message"), "configmap \"m\" not found");
  ASSERT_THAT(Api().Post("/api/v1/namespaces/default/configmaps",
                         R"({"metadata":{"name":"m"},"data":{"LEVEL":"gold"}})"),
              IsOk());
  Await("the back-off", [&] { return init("/state/waiting/reason") == "CrashLoopBackOff"; });
  EXPECT_EQ(init("/restartCount"), 1);
  EXPECT_EQ(init("/lastState/terminated/exitCode"), 4);
  EXPECT_EQ(Phase("a"), "Pending");
  EXPECT_EQ(AwaitEnd(Follow("a", "&container=fetch").get()), "no gold\n");
  Delete("a");
  AwaitPhase("a", "gone");
}

TEST_F(FollowedLogTest, KubectlEndsWithTheContainer) {
  std::string program;
  ASSERT_NO_FATAL_FAILURE(Kubectl::Find(&program));
  Start();
  for (const std::string how : {"--grace-period=5", "--force --grace-period=0", "--now"}) {
    Create(Pod("a", kGraceful));
    Await("ready", [&] { return ReadLog("a").find("ready") != std::string::npos; });
    Kubectl logs(program, options_.dir, cluster_->kubeconfig(), {"logs", "-f", "a"});
    EXPECT_EQ(logs.ReadUntil("ready\n"), "ready\n");
    std::vector<std::string> arguments = {"delete", "pod", "a"};
    for (size_t begin = 0; begin < how.size();) {
      const size_t end = std::min(how.find(' ', begin), how.size());
      arguments.push_back(how.substr(begin, end - begin));
      begin = end + 1;
    }
    int code = -1;
    Kubectl(program, options_.dir, cluster_->kubeconfig(), arguments).Finish(&code);
    EXPECT_EQ(code, 0) << how;
    const std::string text = logs.Finish(&code);  // The test's own limit ends one that hangs.
    EXPECT_EQ(code, 0) << how;
    EXPECT_THAT(text, testing::StartsWith("ready\n")) << how;
    AwaitPhase("a", "gone");
  }
}

}  // namespace
}  // namespace taas::localkube
