#include "localkube/api/metrics.h"

#include <chrono>

#include "localkube/api/api_fixture.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr char kMetrics[] = "/apis/metrics.k8s.io/v1beta1";
constexpr char kPodMetrics[] = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";
constexpr char kNodeMetrics[] = "/apis/metrics.k8s.io/v1beta1/nodes";
constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

class MetricsTest : public ApiFixture {
 protected:
  // A pod, measured if `nanocores` is not negative.
  void MakePod(const std::string& name, const std::string& app, int64_t nanocores,
               const std::string& ns = "default") {
    json pod = Pod(name);
    pod["metadata"]["labels"] = {{"app", app}};
    const Reply made = Call("POST", "/api/v1/namespaces/" + ns + "/pods", pod);
    ASSERT_EQ(made.code, 201) << made.body;
    if (nanocores < 0) return;
    usage_.pods[made.body["metadata"]["uid"]] = {
        .window = {clock_.WallNow() - 1s, 10'062ms},
        .containers = {{"side", {0, 512}}, {"trainer", {nanocores, 3 << 20}}}};
  }
  static std::vector<std::string> Names(const Reply& list) {
    std::vector<std::string> names;
    for (const json& item : list.body["items"]) names.push_back(item["metadata"]["name"]);
    return names;
  }
};

TEST_F(MetricsTest, APodsObjectCarriesItsLabelsItsWindowAndEachContainersUsage) {
  MakePod("a", "x", 250'000'000);
  const Reply reply = Call("GET", std::string(kPodMetrics) + "/a");
  EXPECT_EQ(reply.code, 200);
  const std::string end = FormatRfc3339(clock_.WallNow() - 1s);
  const json want = {
      {"kind", "PodMetrics"},
      {"apiVersion", "metrics.k8s.io/v1beta1"},
      {"metadata",
       {{"name", "a"},
        {"namespace", "default"},
        {"labels", {{"app", "x"}}},
        {"creationTimestamp", FormatRfc3339(clock_.WallNow())}}},
      {"timestamp", end},
      {"window", "10.062s"},
      {"containers",
       json::array({{{"name", "side"}, {"usage", {{"cpu", "0"}, {"memory", "0"}}}},
                    {{"name", "trainer"}, {"usage", {{"cpu", "250000000n"},
                                                     {"memory", "3072Ki"}}}}})}};
  EXPECT_EQ(reply.body, want);
}

TEST_F(MetricsTest, ListsAreOfANamespaceOrOfAllAndFollowSelectors) {
  ASSERT_EQ(Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "team"}}}}).code, 201);
  MakePod("a", "x", 1);
  MakePod("b", "y", 1);
  MakePod("c", "x", 1, "team");
  MakePod("new", "x", -1);
  using Strings = std::vector<std::string>;
  const Reply all = Call("GET", std::string(kMetrics) + "/pods");
  EXPECT_EQ(all.body["kind"], "PodMetricsList");
  EXPECT_EQ(Names(all), (Strings{"a", "b", "c"}));
  EXPECT_EQ(Names(Call("GET", kPodMetrics)), (Strings{"a", "b"}));
  EXPECT_EQ(Names(Call("GET", std::string(kMetrics) + "/pods?labelSelector=app%3Dx")),
            (Strings{"a", "c"}));
  EXPECT_EQ(Names(Call("GET", std::string(kPodMetrics) + "?fieldSelector=metadata.name%3Db")),
            (Strings{"b"}));
  EXPECT_EQ(Call("GET", std::string(kPodMetrics) + "?labelSelector=a%20b").code, 400);
}

TEST_F(MetricsTest, WhatIsNotMeasuredAndWhatDoesNotExistAreTwoSentences) {
  MakePod("new", "x", -1);
  const Reply unmeasured = Call("GET", std::string(kPodMetrics) + "/new");
  EXPECT_EQ(unmeasured.code, 404);
  EXPECT_EQ(unmeasured.message(), "podmetrics.metrics.k8s.io \"default/new\" not found");
  const Reply missing = Call("GET", std::string(kPodMetrics) + "/none");
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.message(), "pods \"none\" not found");
  EXPECT_EQ(Call("POST", "/api/v1/nodes", {{"metadata", {{"name", "n"}}}}).code, 201);
  EXPECT_EQ(Call("GET", std::string(kNodeMetrics) + "/n").message(),
            "nodemetrics.metrics.k8s.io \"n\" not found");
}

TEST_F(MetricsTest, ANodesUsageIsThatOfTheSource) {
  for (const char* name : {"n", "foreign"}) {
    EXPECT_EQ(Call("POST", "/api/v1/nodes", {{"metadata", {{"name", name}}}}).code, 201);
  }
  usage_.nodes["n"] = {.window = {clock_.WallNow(), 2s}, .usage = {1'500'000'000, 1 << 20}};
  const Reply list = Call("GET", kNodeMetrics);
  EXPECT_EQ(list.body["kind"], "NodeMetricsList");
  ASSERT_EQ(Names(list), std::vector<std::string>{"n"}) << "nobody measures the other one";
  EXPECT_EQ(list.body["items"][0]["usage"],
            (json{{"cpu", "1500000000n"}, {"memory", "1024Ki"}}));
  EXPECT_EQ(list.body["items"][0]["window"], "2s");
  EXPECT_EQ(Call("GET", std::string(kNodeMetrics) + "/n").body["kind"], "NodeMetrics");
}

TEST_F(MetricsTest, ATableHasTheSumOfThePodsContainers) {
  MakePod("a", "x", 7);
  const Reply table = Call("GET", kPodMetrics, nullptr, "", kTable);
  EXPECT_EQ(table.body["kind"], "Table");
  EXPECT_EQ(table.body["columnDefinitions"].size(), 4u);
  ASSERT_EQ(table.body["rows"].size(), 1u);
  EXPECT_EQ(table.body["rows"][0]["cells"], (json{"a", "7n", "3072Ki", "10.062s"}));
  const Reply one = Call("GET", std::string(kPodMetrics) + "/a", nullptr, "", kTable);
  EXPECT_EQ(one.body["rows"][0]["cells"][0], "a");
}

TEST_F(MetricsTest, EveryOtherVerbIsRefused) {
  MakePod("a", "x", 1);
  const std::string one = std::string(kPodMetrics) + "/a";
  EXPECT_EQ(Call("POST", kPodMetrics, Pod("b")).code, 405);
  EXPECT_EQ(Call("DELETE", kPodMetrics).code, 405);
  EXPECT_EQ(Call("PUT", one, Pod("a")).code, 405);
  EXPECT_EQ(Call("PATCH", one, json::object()).code, 405);
  EXPECT_EQ(Call("DELETE", one).code, 405);
  EXPECT_EQ(Call("GET", std::string(kPodMetrics) + "?watch=true").code, 405);
  EXPECT_EQ(Call("GET", one + "/status").code, 404);
  EXPECT_EQ(Call("GET", std::string(kPods) + "/a").code, 200) << "the pod is as it was";
}

TEST_F(MetricsTest, DiscoveryNamesTheGroupAndTwoVerbs) {
  const Reply group = Call("GET", "/apis/metrics.k8s.io");
  EXPECT_EQ(group.body["preferredVersion"]["version"], "v1beta1");
  const json want = {"get", "list"};
  const Reply resources = Call("GET", kMetrics);
  ASSERT_EQ(resources.body["resources"].size(), 2u);
  for (const json& resource : resources.body["resources"]) EXPECT_EQ(resource["verbs"], want);
  bool listed = false;
  const Reply aggregated = Call("GET", "/apis", nullptr, "",
                                "application/json;g=apidiscovery.k8s.io;v=v2;"
                                "as=APIGroupDiscoveryList");
  for (const json& item : aggregated.body["items"]) {
    listed = listed || item["metadata"]["name"] == "metrics.k8s.io";
  }
  EXPECT_TRUE(listed);
}

TEST_F(MetricsTest, WithoutASourceNothingIsMeasured) {
  MakePod("a", "x", 1);
  const ApiResponse reply =
      Api(*store_, clock_, random_, nullptr).Handle({.method = "GET", .target = kPodMetrics});
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(json::parse(reply.body)["items"], json::array());
}

TEST(MetricsTextTest, QuantitiesAndWindowsAreAsGoWritesThem) {
  EXPECT_EQ(CpuQuantity(0), "0");
  EXPECT_EQ(CpuQuantity(12'345'678), "12345678n");
  EXPECT_EQ(MemoryQuantity(1234 << 10), "1234Ki");
  EXPECT_EQ(MemoryQuantity(1023), "0");
  EXPECT_EQ(WindowText(2s), "2s");
  EXPECT_EQ(WindowText(9'050ms), "9.05s");
  EXPECT_EQ(WindowText(3'600s + 1ms), "3600.001s");
}

}  // namespace
}  // namespace taas::localkube
