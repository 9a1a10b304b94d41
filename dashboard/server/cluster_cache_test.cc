#include "dashboard/server/cluster_cache.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;

json Meta(const std::string& name) {
  return {{"namespace", "ns"}, {"name", name}, {"uid", "u-" + name}, {"resourceVersion", "5"}};
}
json Named(const std::string& name) { return {{"metadata", Meta(name)}}; }
json EventOf(const std::string& kind, const std::string& about) {
  json event = Named(kind + "-" + about);
  event["involvedObject"] = {{"kind", kind}, {"name", about}, {"uid", "u-" + about}};
  event["lastTimestamp"] = "2026-11-28T05:00:00Z";
  return event;
}

class ClusterCacheTest : public testing::Test {
 protected:
  ClusterCacheTest() {
    cache_.Start();
    while (transport_.waiting() > 0) {
      const std::string& path = transport_.request().path;
      json items = {Named("here")};
      if (path.find("/events") != std::string::npos) {
        const char* kind = path.find("TrainingJob") == std::string::npos ? "Pod" : "TrainingJob";
        items = {EventOf(kind, "here"), EventOf(kind, "gone")};
      }
      transport_.Reply(HttpReply{.code = 200,
                                 .body = json{{"metadata", {{"resourceVersion", "9"}}},
                                              {"items", items}}.dump()});
      Run();
    }
  }
  void Run(Clock::Duration time = 0s) { executor_.RunUntil(executor_.clock().Now() + time); }
  void Tell(const std::string& kind, const std::string& type, json object,
            const std::string& version = "12") {
    object["metadata"]["resourceVersion"] = version;
    FakeTransport::ServerStream& stream = transport_.FindStream(kind);
    stream.Open(200);
    stream.Send(json{{"type", type}, {"object", object}}.dump() + "\n");
    Run();
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  ClusterCache cache_{transport_, executor_, random_,
                      {.kinds = {JobKind::kTrainingJob}, .nodes = false},
                      {.job = [](const auto&) {}, .job_gone = [](const auto&) {}, .gpus = [] {}}};
};

// Symptom: the dashboard grew by a megabyte with each thousand jobs that came and went, whose
// events the API server keeps for an hour.
TEST_F(ClusterCacheTest, EventsOfWhatIsGoneAreLetGo) {
  ASSERT_TRUE(cache_.synced());
  EXPECT_EQ(cache_.EventCount(), 4u);
  Run(30s);
  EXPECT_EQ(cache_.EventCount(), 4u) << "their job may be on its way";
  Run(30s);
  EXPECT_EQ(cache_.EventCount(), 2u);
  Run(1h);
  EXPECT_EQ(cache_.EventCount(), 2u) << "of what is there they stay";
  const auto job = cache_.FindJob("trainingjobs/ns/here");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(cache_.EventsOf(*job, {}).size(), 1u);
}

TEST_F(ClusterCacheTest, TheyAreLetGoWithTheirJob) {
  Run(60s);
  ASSERT_EQ(cache_.EventCount(), 2u);
  Tell("trainingjobs", "DELETED", Named("here"));
  Run(60s);
  EXPECT_EQ(cache_.EventCount(), 1u) << "the pod is there";
  Tell("pods", "DELETED", Named("here"));
  Run(60s);
  EXPECT_EQ(cache_.EventCount(), 0u);
}

TEST_F(ClusterCacheTest, AnEventThatComesBeforeItsJobStays) {
  Run(60s);
  Tell("TrainingJob", "ADDED", EventOf("TrainingJob", "new"));
  Run(30s);
  Tell("trainingjobs", "ADDED", Named("new"));
  Run(10min);
  const auto job = cache_.FindJob("trainingjobs/ns/new");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(cache_.EventsOf(*job, {}).size(), 1u);
}

// Symptom: of what happened in one second ImageNotPulled stood above PodsCreated, and Failed stood
// between the two.
TEST_F(ClusterCacheTest, EventsOfOneSecondAreInTheOrderOfTheirWriting) {
  int version = 9;
  for (const std::string name : {"created", "a-not-pulled", "failed", "b-last"}) {
    json event = EventOf("TrainingJob", "here");
    event["metadata"]["name"] = name;
    Tell("TrainingJob", "ADDED", event, std::to_string(version));
    version *= 10;
  }
  const auto job = cache_.FindJob("trainingjobs/ns/here");
  ASSERT_NE(job, nullptr);
  std::vector<std::string> names;
  for (const auto& event : cache_.EventsOf(*job, {})) names.push_back(event->meta.name);
  EXPECT_THAT(names, ElementsAre("TrainingJob-here", "created", "a-not-pulled", "failed",
                                 "b-last"));
}

}  // namespace
}  // namespace taas::dashboard
