#include "dashboard/maps/map_routes.h"

#include <gtest/gtest.h>

#include <map>

#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/transport.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

// An API server with a few objects; everybody may see everything but what is in `secret`.
class SmallCluster : public KubeTransport {
 public:
  explicit SmallCluster(Executor& executor) : executor_(executor) {}

  void Do(HttpRequest request, OnReply done) override {
    executor_.Post([reply = Answer(request), done = std::move(done)] { done(reply); });
  }
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override {
    const std::string path = request.path.substr(0, request.path.find('?'));
    streams_[path] = calls;
    executor_.Post([calls] { calls.opened(200); });
    return std::make_unique<StreamHandle>();
  }

  void Add(const std::string& path, const Json& object) { objects_[path].push_back(object); }
  void Change(const std::string& path, const Json& object) {
    streams_.at(path).data(Json{{"type", "MODIFIED"}, {"object", object}}.dump() + "\n");
  }

 private:
  HttpReply Answer(const HttpRequest& request) const {
    const std::string path = request.path.substr(0, request.path.find('?'));
    if (path.find("subjectaccessreviews") != std::string::npos) {
      const bool may = request.body.find("secret") == std::string::npos;
      return {.code = 201, .body = Json{{"status", {{"allowed", may}}}}.dump()};
    }
    if (path == "/apis/kueue.x-k8s.io") {
      return {.code = 200,
              .body = R"({"preferredVersion":{"groupVersion":"kueue.x-k8s.io/v1beta2"}})"};
    }
    const auto found = objects_.find(path);
    const Json items = found == objects_.end() ? Json::array() : Json(found->second);
    return {.code = 200,
            .body = Json{{"metadata", {{"resourceVersion", "10"}}}, {"items", items}}.dump()};
  }

  Executor& executor_;
  std::map<std::string, std::vector<Json>> objects_;
  std::map<std::string, StreamCalls> streams_;
};

constexpr char kPods[] = "/api/v1/pods";
constexpr char kTfJobs[] = "/apis/kubeflow.org/v1/tfjobs";
constexpr char kWorkloads[] = "/apis/kueue.x-k8s.io/v1beta2/workloads";

Json Meta(const std::string& ns, const std::string& name, const std::string& version = "5") {
  Json meta = {{"name", name}, {"uid", "uid-" + name}, {"resourceVersion", version},
               {"creationTimestamp", "2026-02-02T02:40:00Z"}};
  if (!ns.empty()) meta["namespace"] = ns;
  return meta;
}

Json PodOf(const std::string& node, const std::string& version) {
  Json pod = {{"metadata", Meta("ml", "a-worker-0", version)},
              {"spec", {{"containers", {{{"name", "tensorflow"},
                                         {"resources", {{"limits", {{"nvidia.com/gpu", 2}}}}}}}}}},
              {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  pod["metadata"]["labels"] = {{"taas.dev/job-name", "a"}, {"taas.dev/role", "worker"},
                               {"taas.dev/index", "0"}};
  pod["metadata"]["ownerReferences"] = {{{"kind", "TFJob"}, {"name", "a"}, {"uid", "uid-a"},
                                         {"controller", true}}};
  return pod;
}

Json WorkloadOf(const std::string& name, const Json& owner) {
  Json workload = {{"metadata", Meta("ml", name)}, {"spec", {{"queueName", "team"}}}};
  workload["metadata"]["ownerReferences"] = {owner};
  return workload;
}

class MapRoutesTest : public testing::Test {
 protected:
  MapRoutesTest() {
    cluster_.Add("/api/v1/nodes",
                 {{"metadata", Meta("", "node-1")},
                  {"status", {{"capacity", {{"nvidia.com/gpu", "8"}}},
                              {"allocatable", {{"nvidia.com/gpu", "8"}}}}}});
    cluster_.Add(kTfJobs, {{"metadata", Meta("ml", "a")},
                           {"spec", {{"tfReplicaSpecs", {{"Worker", {{"replicas", 1}}}}}}}});
    cluster_.Add(kPods, PodOf("", "5"));
    cluster_.Add(kWorkloads, WorkloadOf("of-job", {{"kind", "TFJob"}, {"name", "a"},
                                                   {"uid", "uid-a"}, {"controller", true}}));
  }

  void Start() {
    board_.Start();
    kueue_.Start();
    Settle();
    ASSERT_TRUE(board_.synced());
    maps_.AddTo(&table_);
  }
  void Settle() { executor_.RunUntil(executor_.clock().Now() + 300ms); }
  Json Get(const std::string& what) {
    std::optional<WebResponse> response;
    ApiCall call{.request = {.method = "GET", .segments = {"api", what}},
                 .respond = [&](WebResponse answer) { response = std::move(answer); },
                 .identity = std::make_shared<Identity>(Identity{.user = "ada", .key = "ada"})};
    const RouteTable::Found found = table_.Find("GET", call.request.segments);
    if (found.handler == nullptr) return "no route";
    (*found.handler)(std::move(call));
    executor_.RunUntil(executor_.clock().Now() + 10ms);
    if (!response.has_value()) return "no answer";
    return response->code == 200 ? Json::parse(*response->body) : Json(response->code);
  }
  Sight All() const {
    Sight sight{.pods = {.all = true}, .nodes = true};
    sight.jobs[JobKind::kTfJob].all = true;
    return sight;
  }

  SimExecutor executor_{{.seed = 1, .in_order = true}};
  SmallCluster cluster_{executor_};
  SeededRandom random_{1};
  Board board_{cluster_, executor_, random_, {}};
  Access access_{cluster_, executor_};
  KueueCache kueue_{cluster_, executor_, random_, {}, [this] { maps_.Touch(); }};
  MapRoutes maps_{{.executor = executor_, .board = board_, .access = access_, .kueue = &kueue_}};
  RouteTable table_;
};

TEST_F(MapRoutesTest, TheMapLeadsFromANodeToThePodAndItsJob) {
  Start();
  const Json pending = Get("gpus")["pending"];
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0]["job"], Json::parse(R"({"kind": "TFJob", "namespace": "ml", "name": "a"})"));
  EXPECT_EQ(pending[0]["count"], 2);
}

TEST_F(MapRoutesTest, AStreamGetsEachChangeAndARequestWhatIsASecondOld) {
  Start();
  const std::string before = maps_.Gpus(All());
  cluster_.Change(kPods, PodOf("node-1", "16"));
  Settle();
  EXPECT_EQ(Get("gpus"), Json::parse(before));
  const Json after = Json::parse(maps_.Gpus(All()));
  EXPECT_EQ(after["nodes"][0]["holders"][0]["pod"], "a-worker-0");
  EXPECT_EQ(after["pending"], Json::array());
  cluster_.Change(kPods, PodOf("", "17"));
  Settle();
  executor_.RunUntil(executor_.clock().Now() + MapRoutes::kLately);
  EXPECT_EQ(Get("gpus")["pending"].size(), 1u);
}

TEST_F(MapRoutesTest, EachSightGetsItsOwnText) {
  cluster_.Add(kPods, [] {
    Json pod = PodOf("node-1", "5");
    pod["metadata"]["namespace"] = "secret";
    return pod;
  }());
  Start();
  Sight less = All();
  less.pods = {.all = false, .namespaces = {"ml"}};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Json::parse(maps_.Gpus(All()))["nodes"][0]["hidden"], 0);
    EXPECT_EQ(Json::parse(maps_.Gpus(less))["nodes"][0]["hidden"], 2);
  }
}

TEST_F(MapRoutesTest, RightsAreAskedAlsoForNamespacesThatHaveNoJobs) {
  Json pod = PodOf("node-1", "5");
  pod["metadata"]["namespace"] = "notebooks";
  cluster_.Add(kPods, pod);
  Start();
  EXPECT_EQ(maps_.Namespaces(), (std::set<std::string>{"ml", "notebooks"}));
  EXPECT_EQ(Get("gpus")["nodes"][0]["holders"][0]["namespace"], "notebooks");
}

TEST_F(MapRoutesTest, AWorkloadIsItsOwnersOrThatOfThePodsThatOwnIt) {
  cluster_.Add(kWorkloads, WorkloadOf("of-pods", {{"kind", "Pod"}, {"name", "a-worker-0"},
                                                  {"uid", "uid-a-worker-0"}}));
  cluster_.Add(kWorkloads, WorkloadOf("of-an-earlier-pod", {{"kind", "Pod"}, {"name", "a-worker-0"},
                                                            {"uid", "another"}}));
  cluster_.Add(kWorkloads, WorkloadOf("of-others", {{"kind", "Job"}, {"name", "a"},
                                                    {"uid", "uid-a"}}));
  Start();
  const Json list = Get("queues");
  EXPECT_EQ(list["source"], "kueue");
  std::map<std::string, bool> has_job;
  for (const Json& one : list["queues"][0]["pending"]) {
    has_job[one["workload"]] = one.contains("job");
  }
  EXPECT_EQ(has_job, (std::map<std::string, bool>{{"of-job", true},
                                                  {"of-pods", true},
                                                  {"of-an-earlier-pod", false},
                                                  {"of-others", false}}));
}

TEST_F(MapRoutesTest, AChangeOfKueueIsAChangeOfTheQueues) {
  Start();
  const QueueSight all{.cluster_queues = true, .local_queues = {.all = true},
                       .workloads = {.all = true}};
  EXPECT_EQ(Json::parse(maps_.Queues(All(), all))["queues"][0]["pending"].size(), 1u);
  Json admitted = WorkloadOf("of-job", {{"kind", "TFJob"}, {"name", "a"}, {"uid", "uid-a"}});
  admitted["metadata"]["resourceVersion"] = "11";
  admitted["status"] = {{"conditions", {{{"type", "Admitted"}, {"status", "True"}}}}};
  cluster_.Change(kWorkloads, admitted);
  Settle();
  // The job still waits, now for a node.
  const Json queues = Json::parse(maps_.Queues(All(), all))["queues"];
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0]["inOrder"], true);
}

TEST_F(MapRoutesTest, BeforeTheFirstListsThereIsNoMap) {
  maps_.AddTo(&table_);
  EXPECT_EQ(Get("gpus"), 503);
  EXPECT_EQ(Get("queues"), 503);
}

}  // namespace
}  // namespace taas::dashboard
