// A cluster in a directory of its own, its nodes' pods shell scripts: what the tests of whole pods
// share.
//
// The test's data must name //localkube/node:shim_program.
//
// Ownership: the test's; what still runs at its end is killed. Threads: the test's. Errors: fail
// the test.
//
//   TEST_F(LocalClusterTest, …) {
//     Start();
//     Create(Pod("a", "exit 3"));
//     AwaitPhase("a", "Failed");
//   }

#ifndef LOCALKUBE_CLUSTER_LOCAL_CLUSTER_FIXTURE_H_
#define LOCALKUBE_CLUSTER_LOCAL_CLUSTER_FIXTURE_H_

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "localkube/cluster/local_cluster.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "localkube/node/pod_dirs.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {

// On a machine that is busy with other tests.
inline constexpr std::chrono::seconds kPatience{60};
inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";

class LocalClusterTest : public testing::Test {
 protected:
  LocalClusterTest() {
    options_.dir = testing::TempDir() + "/clusterXXXXXX";
    EXPECT_NE(::mkdtemp(options_.dir.data()), nullptr);
    char* shim = ::realpath("localkube/node/shim_program", nullptr);
    EXPECT_NE(shim, nullptr);
    options_.shim_path = shim != nullptr ? shim : "";
    std::free(shim);
    options_.trainer_path = "/bin/false";
  }
  ~LocalClusterTest() override {
    cluster_.reset();
    const PodDirs dirs(options_.dir + "/pods");
    EXPECT_THAT(EndAllRuns(disk_, clock_, dirs, std::chrono::milliseconds(0)), IsOk());
    EXPECT_EQ(KillLeftovers(disk_, options_.dir), 0) << "processes were left";
  }

  void Start() {
    auto cluster = LocalCluster::Start(options_);
    ASSERT_THAT(cluster, IsOk());
    cluster_ = *std::move(cluster);
  }
  ApiCalls Api() { return ApiCalls(cluster_->server().api()); }
  static nlohmann::json Pod(const std::string& name, const std::string& script) {
    const nlohmann::json container = {
        {"name", "c"}, {"image", "own"}, {"command", {"/bin/sh", "-c", script}}};
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"restartPolicy", "Never"}, {"containers", nlohmann::json::array({container})}}}};
  }
  void Create(const nlohmann::json& pod) {
    ASSERT_THAT(Api().Post(kPodsPath, pod.dump()), IsOk());
  }
  nlohmann::json Get(const std::string& name) {
    const auto text = Api().Get(PodPath("default", name));
    return text.ok() ? nlohmann::json::parse(*text) : nlohmann::json();
  }
  std::string Phase(const std::string& name) {
    const nlohmann::json pod = Get(name);
    return pod.is_null() ? "gone" : pod["status"].value("phase", "");
  }
  void Await(const std::string& what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what;
      clock_.SleepUntil(clock_.Now() + std::chrono::milliseconds(5));
    }
  }
  void AwaitPhase(const std::string& name, const std::string& phase) {
    Await(name + " " + phase, [&] { return Phase(name) == phase; });
  }
  std::string ReadLog(const std::string& name) {
    const nlohmann::json pod = Get(name);
    auto reader = cluster_->logs().Open({.ns = "default",
                                         .pod = name,
                                         .uid = pod["metadata"].value("uid", ""),
                                         .container = "c"});
    return reader.ok() ? (*reader)->Read(1 << 20).value_or(LogChunk()).data : "";
  }
  std::string FileText(const std::string& name) {
    return disk_.ReadAll(options_.dir + "/" + name).value_or("");
  }

  RealClock clock_;
  PosixFileSystem disk_;
  LocalCluster::Options options_;
  std::unique_ptr<LocalCluster> cluster_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_CLUSTER_LOCAL_CLUSTER_FIXTURE_H_
