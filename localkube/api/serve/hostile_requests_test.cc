// Seeded mutations of requests over HTTPS: the server answers, refuses or hangs up, never with a
// failure of its own, and goes on.

#include "localkube/api/serve/test_client.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

constexpr uint64_t kSeed = 20'261'128;
constexpr int kRequests = 3'000;
constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kJobs[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs";

struct Request {
  std::string method;
  std::string target;
  std::string body;
  std::string type = "application/json";
};

std::vector<Request> Seeds() {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},
      "annotations":{"c":"d"},"finalizers":["x/y"],"ownerReferences":[{"apiVersion":"v1",
      "kind":"Pod","name":"o","uid":"u","controller":true}]},"spec":{"restartPolicy":"Never",
      "terminationGracePeriodSeconds":3,"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}],
      "containers":[{"name":"c","image":"i:1","command":["true"],"env":[{"name":"E","value":"1"}],
      "ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"500m","memory":"1Gi"}},
      "volumeMounts":[{"name":"v","mountPath":"/v"}]}]}})";
  const std::string job =
      R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"name":"j"},"spec":{
      "suspend":true,"roles":{"worker":{"replicas":1,"template":{"spec":{"containers":[]}}}},
      "trainer":{"model":{"name":"softmax"},"strategy":{"type":"Local"},"maxSteps":10,
      "batchSize":10,"data":{"format":"idx","train":{"images":"/a","labels":"/b"}}}}})";
  const std::string at = std::string(kPods) + "/p";
  return {{"POST", kPods, pod},
          {"PUT", at, pod},
          {"POST", kJobs, job},
          {"PUT", std::string(kJobs) + "/j", job},
          {"PATCH", at, R"({"metadata":{"labels":{"x":"y"}},"spec":{"containers":[{"name":"c",
           "image":"i:2"}],"$setElementOrder/containers":[{"name":"c"}]}})",
           "application/strategic-merge-patch+json"},
          {"PATCH", at, R"([{"op":"add","path":"/metadata/labels/z","value":"1"},
           {"op":"move","from":"/metadata/labels/z","path":"/metadata/labels/w"},
           {"op":"copy","from":"/spec","path":"/status"}])", "application/json-patch+json"},
          {"PATCH", std::string(kJobs) + "/j?fieldValidation=Warn", R"({"spec":{"suspend":false}})",
           "application/merge-patch+json"},
          {"PATCH", std::string(kJobs) + "/j/status",
           R"({"status":{"phase":"Running","etaSeconds":9223372036854775807}})",
           "application/merge-patch+json"},
          {"DELETE", at, R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u"},
           "propagationPolicy":"Foreground"})"},
          {"DELETE", std::string(kPods) + "?labelSelector=a%20in%20(b)", ""},
          {"GET", std::string(kPods) + "?limit=2&labelSelector=a=b,c!=d&fieldSelector="
           "metadata.name=p&resourceVersion=1&resourceVersionMatch=Exact", ""},
          {"POST", at + "/binding", R"({"target":{"kind":"Node","name":"n"}})"},
          {"POST", at + "/eviction", R"({"metadata":{"name":"p"},"deleteOptions":{}})"},
          {"GET", at + "/log?tailLines=3&sinceTime=2026-01-01T00:00:00Z", ""},
          {"POST", "/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"x"}})"},
          {"GET", "/apis/metrics.k8s.io/v1beta1/nodes", ""},
          {"GET", "/openapi/v3/api/v1", ""}};
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  size_t Below(size_t count) { return static_cast<size_t>(random_.Below(count)); }

  std::string Mutate(std::string text) {
    static const std::vector<std::string> kPieces = {
        "null", "-1", "9223372036854775808", "1e400", "[]", "{}", "\"\"", "\\u0000", "\xff",
        "true", std::string(300, '['), "\"" + std::string(70'000, 'x') + "\"", "~1~0", "%00",
        "../", "$patch", ",", ":", "\"metadata\":", "1Ei", "\"a b\""};
    for (size_t count = 1 + Below(4); count > 0; --count) {
      const size_t place = Below(text.size() + 1);
      const size_t length = Below(std::min<size_t>(text.size() - place, 12) + 1);
      switch (Below(5)) {
        case 0: text.erase(place, length); break;
        case 1: text.insert(place, kPieces[Below(kPieces.size())]); break;
        case 2: text.replace(place, length, kPieces[Below(kPieces.size())]); break;
        case 3: text.insert(place, text.substr(place, length)); break;
        default:
          if (place < text.size()) text[place] = static_cast<char>(Below(256));
      }
    }
    return text;
  }

 private:
  SeededRandom random_;
};

TEST(HostileRequestsTest, NoneOfThemIsAFailureOfTheServer) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::string dir = testing::TempDir() + "/hostile.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  RealClock clock;
  SystemRandom random;
  auto server = ApiServer::Start({.dir = dir + "/api"}, clock, random, nullptr);
  ASSERT_THAT(server, IsOk());
  const uint16_t port = (*server)->port();
  const std::string token = (*server)->token();
  const std::vector<Request> seeds = Seeds();
  Mutator mutator(kSeed);
  auto client = std::make_unique<TestClient>(port);
  int answered = 0;
  for (int i = 0; i < kRequests; ++i) {
    Request request = seeds[mutator.Below(seeds.size())];
    if (request.body.empty() || mutator.Below(4) == 0) {
      request.target = mutator.Mutate(request.target);
    } else {
      request.body = mutator.Mutate(request.body);
    }
    if (mutator.Below(20) == 0) request.type = mutator.Mutate(request.type);
    // A watch or a log that is followed would have no end.
    if (request.target.find("watch") != std::string::npos) continue;
    if (request.target.find("follow") != std::string::npos) continue;
    const TestAnswer answer =
        client->Call(request.method, request.target, token, request.body,
                     "Content-Type: " + request.type + "\r\n");
    EXPECT_LT(answer.code, 500) << i << ": " << request.method << " "
                                << request.target.substr(0, 300) << " "
                                << request.body.substr(0, 2'000) << "\n" << answer.body;
    if (answer.code != 0) ++answered;
    // What is no HTTP ends the connection.
    if (answer.code == 0 || answer.code == 413) client = std::make_unique<TestClient>(port);
  }
  EXPECT_GT(answered, kRequests / 2);
  EXPECT_EQ(TestClient(port).Call("GET", "/api/v1/namespaces/default", token).code, 200);
}

}  // namespace
}  // namespace taas::localkube
