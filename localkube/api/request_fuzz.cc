// Requests to the local API server, one after the other on one store: paths, queries with
// selectors, bodies in JSON, YAML and protobuf, patches.

#include <string>
#include <vector>

#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "operator/base/check.h"
#include "operator/base/fake_clock.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "tools/fuzz/target.h"

namespace taas::localkube {
namespace {

// Of one input: an empty store costs more than its requests.
class Server {
 public:
  Server() : store_(*Store::Open({.path = ":memory:"})), api_(*store_, clock_, random_, nullptr) {
    CHECK(api_.Bootstrap().ok()) << "bootstrap";
  }
  ApiResponse Handle(const ApiRequest& request) { return api_.Handle(request); }

 private:
  FakeClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<Store> store_;
  Api api_;
};

constexpr const char* kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
constexpr const char* kTypes[] = {"application/json",
                                  "application/yaml",
                                  "application/merge-patch+json",
                                  "application/json-patch+json",
                                  "application/strategic-merge-patch+json",
                                  "application/apply-patch+yaml",
                                  "application/vnd.kubernetes.protobuf"};

std::string Request(int method, int type, std::string_view target, std::string_view body) {
  return std::string{static_cast<char>(method), static_cast<char>(type)} +
         JoinFuzzParts({target, body, ""});
}

}  // namespace
}  // namespace taas::localkube

namespace taas {

std::vector<std::string> FuzzSeeds() {
  using localkube::Request;
  const std::string pods = "/api/v1/namespaces/default/pods";
  const std::string pod = R"({"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":
      [{"name":"c","image":"i","env":[{"name":"A","value":"b"}],
      "resources":{"limits":{"cpu":"1"}}}]}})";
  const std::string job = R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":
      {"name":"j"},"spec":{"roles":{"worker":{"replicas":1,"template":{"spec":{"containers":
      [{"name":"c","image":"i"}]}}}}}})";
  const std::string jobs = "/apis/taas.dev/v1/namespaces/default/trainingjobs";
  const std::string create = Request(1, 0, pods, pod);
  const std::string selected = pods + "?labelSelector=x%3Dy,!z&fieldSelector=metadata.name%3Da";
  return {create + Request(0, 0, selected, ""),
          create + Request(3, 2, pods + "/a", R"({"metadata":{"labels":{"x":null,"z":"1"}}})"),
          create + Request(3, 3, pods + "/a",
                           R"([{"op":"add","path":"/metadata/labels/q","value":"1"},
                               {"op":"move","from":"/metadata/labels/x",
                                "path":"/metadata/labels/r"},
                               {"op":"test","path":"/spec/containers/0/name","value":"c"}])"),
          create + Request(3, 4, pods + "/a",
                           R"({"spec":{"containers":[{"name":"c","image":"j"},
                               {"name":"d","$patch":"delete"}]}})"),
          create + Request(4, 0, pods + "/a?gracePeriodSeconds=0", ""),
          Request(1, 1, pods, "metadata: {name: b}\nspec:\n  containers: [{name: c, image: i}]\n"),
          Request(1, 0, jobs + "?fieldValidation=Strict", job),
          Request(0, 0, "/apis", "") + Request(0, 0, "/openapi/v2?timeout=32s", ""),
          Request(1, 0, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                  R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})")};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taas::localkube;
  std::string_view input = taas::FuzzText(data, size);
  Server server;
  for (int requests = 0; requests < 4 && input.size() >= 2; ++requests) {
    const auto parts = taas::FuzzParts(input.substr(2), 3);
    (void)server.Handle({.method = kMethods[static_cast<uint8_t>(input[0]) % std::size(kMethods)],
                         .target = std::string(parts[0]),
                         .body = std::string(parts[1]),
                         .content_type = kTypes[static_cast<uint8_t>(input[1]) % std::size(kTypes)],
                         .accept = ""});
    input = parts[2];
  }
  return 0;
}
