// `kubectl top` against a cluster on which one pod is busy and the others sleep.

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/kubectl_process.h"
#include "localkube/cluster/local_cluster.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

// Figures come after two to four seconds; on a machine that is busy with other tests later.
constexpr auto kPatience = 60s;
constexpr char kMetrics[] = "/apis/metrics.k8s.io/v1beta1/pods";
constexpr char kBurn[] = "while :; do :; done";
constexpr char kSleep[] = "exec sleep 1000";

// A table without its headings: cells by line.
using Rows = std::vector<std::vector<std::string>>;

class KubectlTopTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Kubectl::Find(&program_));
    LocalCluster::Options options;
    options.dir = testing::TempDir() + "/topXXXXXX";
    ASSERT_NE(::mkdtemp(options.dir.data()), nullptr);
    dir_ = options.dir;
    char* shim = ::realpath("localkube/node/shim_program", nullptr);
    ASSERT_NE(shim, nullptr);
    options.shim_path = shim;
    std::free(shim);
    options.trainer_path = "/bin/false";
    options.nodes = 2;
    auto cluster = LocalCluster::Start(options);
    ASSERT_THAT(cluster, IsOk());
    cluster_ = *std::move(cluster);
    ASSERT_THAT(Api().Post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})"), IsOk());
    Create("default", "busy", "local", {{"burn", kBurn}, {"side", kSleep}});
    Create("default", "idle", "local-2", {{"c", kSleep}});
    Create("team", "other", "local-2", {{"c", kSleep}});
    Await("figures of three pods", [&] { return Measured().size() == 3; });
  }
  ~KubectlTopTest() override {
    cluster_.reset();
    EXPECT_THAT(EndAllRuns(disk_, clock_, PodDirs(dir_ + "/pods"), 0ms), IsOk());
    EXPECT_EQ(KillLeftovers(disk_, dir_), 0) << "processes were left";
  }

  ApiCalls Api() { return ApiCalls(cluster_->server().api()); }
  void Create(const std::string& ns, const std::string& name, const std::string& node,
              const std::map<std::string, std::string>& scripts) {
    Json pod = {{"metadata", {{"name", name}, {"labels", {{"load", name}}}}},
                {"spec", {{"restartPolicy", "Never"}, {"nodeName", node}}}};
    for (const auto& [container, script] : scripts) {
      pod["spec"]["containers"].push_back(
          {{"name", container}, {"image", "own"}, {"command", {"/bin/sh", "-c", script}}});
    }
    ASSERT_THAT(Api().Post("/api/v1/namespaces/" + ns + "/pods", pod.dump()), IsOk());
  }
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + 20ms);
    }
  }
  // Names of the pods that have figures.
  std::vector<std::string> Measured() {
    std::vector<std::string> names;
    const Json list = Json::parse(Api().Get(kMetrics).value_or("{}"));
    for (const Json& item : list.value("items", Json::array())) {
      names.push_back(item["metadata"]["name"]);
    }
    return names;
  }
  std::string Run(const std::vector<std::string>& arguments, int want_code = 0) {
    Kubectl kubectl(program_, dir_, cluster_->kubeconfig(), arguments);
    int code = 0;
    const std::string out = kubectl.Finish(&code);
    EXPECT_EQ(code, want_code) << out;
    return out;
  }
  Rows Top(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "top");
    arguments.emplace_back("--no-headers");
    Rows rows;
    std::istringstream lines(Run(arguments));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      rows.emplace_back();
      for (std::string cell; cells >> cell;) rows.back().push_back(cell);
    }
    return rows;
  }
  static std::vector<std::string> Column(const Rows& rows, size_t column) {
    std::vector<std::string> out;
    for (const auto& row : rows) out.push_back(column < row.size() ? row[column] : "");
    return out;
  }
  // "250m" of the row that begins with `name`; -1 if there is none.
  static int MilliCpu(const Rows& rows, const std::string& name, size_t column = 1) {
    for (const auto& row : rows) {
      if (row.size() > column && row[column - 1] == name) return std::atoi(row[column].c_str());
    }
    return -1;
  }

  RealClock clock_;
  PosixFileSystem disk_;
  std::string program_, dir_;
  std::unique_ptr<LocalCluster> cluster_;
};

TEST_F(KubectlTopTest, ShowsPodsContainersNodesAndWhoIsBusy) {
  EXPECT_THAT(Run({"top", "pods"}), HasSubstr("NAME   CPU(cores)   MEMORY(bytes)"));
  Rows rows = Top({"pods"});
  EXPECT_THAT(Column(rows, 0), ElementsAre("busy", "idle"));
  const int busy = MilliCpu(rows, "busy"), idle = MilliCpu(rows, "idle");
  EXPECT_GT(busy, idle + 10) << "in thousandths of a processor";
  EXPECT_GE(idle, 0);

  rows = Top({"pods", "--containers"});
  EXPECT_THAT(Column(rows, 1), UnorderedElementsAre("burn", "side", "c"));
  EXPECT_GT(MilliCpu(rows, "burn", 2), MilliCpu(rows, "side", 2) + 10);

  EXPECT_THAT(Column(Top({"pod", "idle"}), 0), ElementsAre("idle"));
  EXPECT_THAT(Column(Top({"pods", "-A"}), 1), ElementsAre("busy", "idle", "other"));
  EXPECT_THAT(Column(Top({"pods", "-A"}), 0), ElementsAre("default", "default", "team"));
  EXPECT_THAT(Column(Top({"pods", "-l", "load!=busy"}), 0), ElementsAre("idle"));
  EXPECT_THAT(Column(Top({"pods", "-n", "team"}), 0), ElementsAre("other"));
  EXPECT_THAT(Column(Top({"pods", "--sort-by=cpu"}), 0), ElementsAre("busy", "idle"));
  EXPECT_THAT(Column(Top({"pods", "-A", "--sort-by=memory"}), 1),
              UnorderedElementsAre("busy", "idle", "other"));

  EXPECT_THAT(Run({"top", "nodes"}), HasSubstr("MEMORY(bytes)"));
  rows = Top({"nodes"});
  EXPECT_THAT(Column(rows, 0), ElementsAre("local", "local-2"));
  EXPECT_GT(MilliCpu(rows, "local"), MilliCpu(rows, "local-2") + 10) << "each has its own pods'";
  EXPECT_THAT(Column(rows, 2), Not(testing::Contains("<unknown>")));
  EXPECT_THAT(Column(Top({"node", "local-2"}), 0), ElementsAre("local-2"));
  EXPECT_THAT(Column(Top({"nodes", "-l", "kubernetes.io/hostname=local"}), 0),
              ElementsAre("local"));
  EXPECT_THAT(Column(Top({"nodes", "--sort-by=cpu"}), 0), ElementsAre("local", "local-2"));
}

TEST_F(KubectlTopTest, WhatHasEndedIsGoneAndKubectlSaysSo) {
  EXPECT_THAT(Run({"top", "pod", "none"}, 1), HasSubstr("pods \"none\" not found"));
  // Its processes end and its object stays.
  ASSERT_EQ(KillLeftovers(disk_, dir_ + "/pods/" +
                                     Json::parse(*Api().Get(PodPath("default", "busy")))
                                         ["metadata"]["uid"].get<std::string>()),
            2);
  Await("the pod to end", [&] {
    const Json pod = Json::parse(*Api().Get(PodPath("default", "busy")));
    return pod["status"].value("phase", "") == "Failed";
  });
  EXPECT_THAT(Measured(), ElementsAre("idle", "other")) << "at once, not with the next sample";
  EXPECT_THAT(Run({"top", "pod", "busy"}, 1),
              HasSubstr("podmetrics.metrics.k8s.io \"default/busy\" not found"));
  Run({"delete", "pod", "idle", "--now"});
  EXPECT_THAT(Measured(), ElementsAre("other"));
  EXPECT_THAT(Run({"top", "pods", "-n", "kube-system"}), HasSubstr("No resources found"));
}

TEST_F(KubectlTopTest, TheMetricsAreListedAsResourcesAndHideNoPods) {
  const std::string resources = Run({"api-resources", "--api-group=metrics.k8s.io"});
  EXPECT_THAT(resources, HasSubstr("PodMetrics"));
  EXPECT_THAT(resources, HasSubstr("NodeMetrics"));
  EXPECT_THAT(Run({"get", "pods"}), HasSubstr("2/2     Running")) << "pods are still the core's";
  EXPECT_THAT(Run({"get", "nodes"}), HasSubstr("Ready"));
  const std::string metrics = Run({"get", "pods.metrics.k8s.io"});
  EXPECT_THAT(metrics, HasSubstr("NAME   CPU"));
  EXPECT_THAT(metrics, HasSubstr("idle"));
  EXPECT_THAT(Run({"get", "podmetrics", "idle", "-o", "jsonpath={.containers[0].name}"}),
              "c");
  EXPECT_THAT(Run({"delete", "podmetrics", "idle"}, 1), HasSubstr("MethodNotAllowed"));
}

}  // namespace
}  // namespace taas::localkube
