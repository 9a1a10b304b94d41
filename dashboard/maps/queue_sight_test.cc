#include "dashboard/maps/queue_sight.h"

#include <gtest/gtest.h>

#include <optional>

#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

class QueueSightTest : public testing::Test {
 protected:
  // `allowed`: "RESOURCE" everywhere or "RESOURCE in NAMESPACE".
  QueueSight Find(const std::set<std::string>& allowed) {
    std::optional<QueueSight> found;
    FindQueueSight(access_, std::make_shared<Identity>(Identity{.user = "ada", .key = "ada"}),
                   {"ml", "vision"}, [&](const QueueSight& sight) { found = sight; });
    while (transport_.waiting() > 0) {
      const Json review = Json::parse(transport_.request().body);
      const Json& asked = review["spec"]["resourceAttributes"];
      EXPECT_EQ(asked["verb"], "list");
      EXPECT_EQ(asked["group"], "kueue.x-k8s.io");
      const std::string ns = asked.value("namespace", "");
      std::string question = asked["resource"];
      if (!ns.empty()) question += " in " + ns;
      asked_.insert(question);
      const bool may = allowed.count(question) > 0;
      transport_.Reply(HttpReply{
          .code = 201, .body = Json{{"status", {{"allowed", may}}}}.dump()});
      executor_.RunUntil(executor_.clock().Now());
    }
    EXPECT_TRUE(found.has_value());
    return found.value_or(QueueSight());
  }

  SimExecutor executor_{{.seed = 1}};
  FakeTransport transport_{executor_};
  Access access_{transport_, executor_};
  std::set<std::string> asked_;
};

TEST_F(QueueSightTest, WhoMaySeeEverythingIsAskedOnce) {
  const QueueSight sight = Find({"clusterqueues", "localqueues", "workloads"});
  EXPECT_TRUE(sight.cluster_queues);
  EXPECT_TRUE(sight.local_queues.all);
  EXPECT_TRUE(sight.workloads.all);
  EXPECT_EQ(asked_.size(), 3u);
}

TEST_F(QueueSightTest, WhoMayNotSeesTheNamespacesWhereSheMay) {
  const QueueSight sight = Find({"localqueues in ml", "workloads in ml", "workloads in vision"});
  EXPECT_FALSE(sight.cluster_queues);
  EXPECT_FALSE(sight.local_queues.all);
  EXPECT_TRUE(sight.local_queues.Has("ml"));
  EXPECT_FALSE(sight.local_queues.Has("vision"));
  EXPECT_TRUE(sight.workloads.Has("ml"));
  EXPECT_TRUE(sight.workloads.Has("vision"));
}

TEST_F(QueueSightTest, WhoMaySeeNothingSeesNothing) { EXPECT_EQ(Find({}), QueueSight()); }

}  // namespace
}  // namespace taas::dashboard
