#include "localkube/api/api.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "localkube/api/custom_kinds.h"
#include "localkube/api/discovery.h"
#include "localkube/api/kube_status.h"
#include "localkube/api/list_watch.h"
#include "localkube/api/metrics.h"
#include "localkube/api/pod_logs.h"
#include "localkube/api/protobuf_body.h"
#include "localkube/api/rest.h"
#include "localkube/api/reviews.h"
#include "localkube/api/route.h"
#include "localkube/api/serve/warning_headers.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// The definitions are the same in every cluster.
constexpr char kTrainingJobCrdUid[] = "00000000-0000-4000-8000-000000000001";
constexpr char kTfJobCrdUid[] = "00000000-0000-4000-8000-000000000002";

// Followed by +yaml or +cbor.
constexpr char kApplyPatch[] = "application/apply-patch";
constexpr char kNoApply[] =
    "this API server has no server-side apply: use `kubectl apply` without --server-side, or "
    "`kubectl replace`";
// Of a request's line in the log.
constexpr size_t kLineBytesMax = 200;
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";

ApiResponse ErrorResponse(const absl::Status& status) {
  ApiResponse response;
  response.body = StatusBody(status, &response.code);
  return response;
}

WriteOptions ParseWriteOptions(const Route& route) {
  WriteOptions options{.dry_run = route.Get("dryRun") == "All"};
  const std::string validation = route.Get("fieldValidation");
  if (validation == "Strict") options.validation = FieldValidation::kStrict;
  if (validation == "Ignore") options.validation = FieldValidation::kIgnore;
  return options;
}

// A number above what int64_t holds is not negative.
int64_t WholeOf(const json& number) {
  constexpr uint64_t kMax{std::numeric_limits<int64_t>::max()};
  if (number.is_number_unsigned()) {
    return static_cast<int64_t>(std::min(number.get<uint64_t>(), kMax));
  }
  return number.get<int64_t>();
}

// From the body, if there is one, and from the query.
absl::StatusOr<DeleteOptions> ParseDeleteOptions(const Route& route, const std::string& body) {
  DeleteOptions options;
  json sent = json::object();
  if (!body.empty()) {
    ASSIGN_OR_RETURN(sent, ParseBody(body, "the body of the deletion"));
    if (!sent.is_object()) return BadRequest("the body of the deletion is not a JSON object");
  }
  const json preconditions = sent.value("preconditions", json::object());
  options.uid = preconditions.value("uid", "");
  options.resource_version = preconditions.value("resourceVersion", "");
  options.propagation = sent.value("propagationPolicy", route.Get("propagationPolicy"));
  if (sent.value("orphanDependents", false)) options.propagation = "Orphan";
  if (sent.contains("gracePeriodSeconds") && sent["gracePeriodSeconds"].is_number_integer()) {
    options.grace_seconds = WholeOf(sent["gracePeriodSeconds"]);
  } else if (const std::string grace = route.Get("gracePeriodSeconds"); !grace.empty()) {
    const json number = json::parse(grace, nullptr, false);
    if (!number.is_number_integer()) return BadRequest("gracePeriodSeconds: not a number");
    options.grace_seconds = WholeOf(number);
  }
  if (options.grace_seconds.value_or(0) < 0) {
    return BadRequest("gracePeriodSeconds: Invalid value: must be 0 or more");
  }
  const json dry_run = sent.value("dryRun", json::array());
  options.dry_run = route.Get("dryRun") == "All" || !dry_run.empty();
  const std::string& policy = options.propagation;
  if (!policy.empty() && policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    return BadRequest("propagationPolicy: Invalid value: \"" + policy +
                      "\": write Background, Foreground or Orphan");
  }
  return options;
}

std::optional<PatchType> PatchTypeOf(const std::string& content_type) {
  const std::string type = content_type.substr(0, content_type.find(';'));
  if (type.empty() || type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  return std::nullopt;
}

bool IsJsonBody(const std::string& content_type) {
  const std::string type = content_type.substr(0, content_type.find(';'));
  return type.empty() || type == "application/json";
}

}  // namespace

class Api::Impl {
 public:
  Impl(Store& store, const Clock& clock, Random& random, LogSource* logs,
       const UsageSource* usage, std::string token, JobAdvice advice)
      : store_(store),
        clock_(clock),
        rest_(store, clock, random, std::move(advice)),
        logs_(logs),
        usage_(usage),
        token_(std::move(token)) {}

  absl::Status Bootstrap();
  absl::StatusOr<ApiResponse> Handle(const ApiRequest& request);

 private:
  absl::StatusOr<ApiResponse> OnMetrics(const ApiRequest& request, const Route& route);
  absl::StatusOr<ApiResponse> OnReview(const ApiRequest& request, const Route& route);
  absl::StatusOr<ApiResponse> OnCollection(const ApiRequest& request, const Route& route);
  absl::StatusOr<ApiResponse> OnObject(const ApiRequest& request, const Route& route);
  absl::StatusOr<ApiResponse> OnPodSubresource(const ApiRequest& request, const Route& route,
                                               const Target& target);
  absl::StatusOr<ApiResponse> DeleteCollection(const Route& route, const ReadOptions& options,
                                               const std::string& body);
  absl::StatusOr<ApiResponse> Reply(absl::StatusOr<WriteResult> result, const Route& route,
                                    const std::string& accept) const;
  absl::Status PutDefinition(const CustomKind& custom);

  Store& store_;
  const Clock& clock_;
  Rest rest_;
  LogSource* const logs_;
  const UsageSource* const usage_;
  const std::string token_;
};

absl::StatusOr<ApiResponse> Api::Impl::Handle(const ApiRequest& request) {
  const auto parsed = ParseRoute(request.target);
  if (!parsed.ok()) return BadRequest(std::string(parsed.status().message()));
  const Route& route = *parsed;
  if (route.kind == nullptr) {
    if (request.method != "GET") return NoSuchPath();
    auto found = Discover(route.path, request.accept);
    if (!found.has_value()) return NoSuchPath();
    ApiResponse response{.content_type = std::move(found->content_type)};
    response.body = std::move(found->body);
    return response;
  }
  if (route.kind->measured) return OnMetrics(request, route);
  const bool writes = request.method == "POST" || request.method == "PUT";
  if (writes && request.content_type == kProtobuf) {
    const bool eviction = route.subresource == "eviction";
    auto text = JsonOfProtobuf(eviction ? "policy/v1" : route.kind->api_version(),
                               eviction ? "Eviction" : route.kind->kind, request.body);
    if (!text.ok()) return UnsupportedBody(std::string(text.status().message()));
    ApiRequest as_json = request;
    as_json.body = *std::move(text);
    as_json.content_type = "application/json";
    return Handle(as_json);
  }
  if (writes && !IsJsonBody(request.content_type)) {
    return UnsupportedBody("the body is " + request.content_type + "; send application/json");
  }
  if (route.kind->review) return OnReview(request, route);
  return route.name.empty() ? OnCollection(request, route) : OnObject(request, route);
}

// A written object as a table, if the client asked for one.
absl::StatusOr<ApiResponse> Api::Impl::Reply(absl::StatusOr<WriteResult> result,
                                             const Route& route,
                                             const std::string& accept) const {
  if (!result.ok()) return result.status();
  ApiResponse response{.code = result->code};
  response.body = std::move(result->text);
  for (std::string& header : WarningHeaders(result->warnings)) {
    response.headers.emplace_back("Warning", std::move(header));
  }
  if (accept.find("as=Table") != std::string::npos && route.subresource != "scale") {
    const json object = json::parse(response.body);
    if (object.value("kind", "") == route.kind->kind) {
      json table = EmptyTable(*route.kind, json::object());
      table["rows"].push_back(
          TableRow(*route.kind, object, clock_.WallNow(), IncludeObject::kMetadata));
      response.body = table.dump();
    }
  }
  return response;
}

absl::StatusOr<ApiResponse> Api::Impl::OnMetrics(const ApiRequest& request,
                                                 const Route& route) {
  if (!route.subresource.empty()) return NoSuchPath();
  if (request.method != "GET" || route.Is("watch")) return MethodNotAllowed();
  ASSIGN_OR_RETURN(const ReadOptions options, ParseReadOptions(route, request.accept));
  ApiResponse response;
  ASSIGN_OR_RETURN(response.body,
                   ReadMetrics({store_, usage_, clock_.WallNow()}, route, options));
  return response;
}

absl::StatusOr<ApiResponse> Api::Impl::OnReview(const ApiRequest& request, const Route& route) {
  const bool of_all = route.kind->namespaced && route.ns.empty();
  if (!route.name.empty() || of_all) return NoSuchPath();
  if (request.method != "POST") return MethodNotAllowed();
  return Reply(AnswerReview({.token = token_, .now = clock_.WallNow()}, *route.kind, route.ns,
                            request.body, ParseWriteOptions(route)),
               route, "");
}

absl::StatusOr<ApiResponse> Api::Impl::OnCollection(const ApiRequest& request,
                                                    const Route& route) {
  if (request.method == "POST") {
    if (route.kind->namespaced && route.ns.empty()) return MethodNotAllowed();
    return Reply(
        rest_.Create(*route.kind, route.ns, request.body, ParseWriteOptions(route)), route,
        request.accept);
  }
  ASSIGN_OR_RETURN(const ReadOptions options, ParseReadOptions(route, request.accept));
  ApiResponse response;
  if (request.method == "DELETE") {
    if (route.kind->namespaced && route.ns.empty()) return MethodNotAllowed();
    return DeleteCollection(route, options, request.body);
  }
  if (request.method != "GET") return MethodNotAllowed();
  if (route.Is("watch")) {
    ASSIGN_OR_RETURN(response.stream,
                     WatchObjects(store_, clock_, *route.kind, route.ns, options));
    return response;
  }
  ASSIGN_OR_RETURN(response.body, ListObjects(store_, clock_, *route.kind, route.ns, options));
  return response;
}

absl::StatusOr<ApiResponse> Api::Impl::DeleteCollection(const Route& route,
                                                        const ReadOptions& options,
                                                        const std::string& body) {
  ASSIGN_OR_RETURN(const DeleteOptions how, ParseDeleteOptions(route, body));
  ASSIGN_OR_RETURN(const Store::ListResult list,
                   store_.List({.resource = route.kind->resource(), .ns = route.ns}));
  for (const StoreEntry& entry : list.entries) {
    if (!options.selector.Matches(json::parse(*entry.text))) continue;
    const auto deleted = rest_.Delete({route.kind, route.ns, entry.key.name, ""}, how);
    if (!deleted.ok() && deleted.status().code() != absl::StatusCode::kNotFound) {
      return deleted.status();
    }
  }
  return ApiResponse{.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},)"
                             R"("status":"Success"})",
                     .headers = {},
                     .stream = nullptr};
}

absl::StatusOr<ApiResponse> Api::Impl::OnPodSubresource(const ApiRequest& request,
                                                        const Route& route,
                                                        const Target& target) {
  if (route.subresource == "binding") {
    if (request.method != "POST") return MethodNotAllowed();
    return Reply(rest_.Bind(target, request.body), route, "");
  }
  if (route.subresource == "eviction") {
    if (request.method != "POST") return MethodNotAllowed();
    ASSIGN_OR_RETURN(const json eviction, ParseBody(request.body, "the eviction"));
    if (!eviction.is_object()) return BadRequest("the eviction is not a JSON object");
    const json options = eviction.value("deleteOptions", json());
    ASSIGN_OR_RETURN(const DeleteOptions how,
                     ParseDeleteOptions(route, options.is_object() ? options.dump() : ""));
    return Reply(rest_.Evict(target, how), route, "");
  }
  if (request.method != "GET") return MethodNotAllowed();
  ASSIGN_OR_RETURN(const json pod, rest_.Read(target));
  return PodLog(logs_, clock_, pod, route);
}

absl::StatusOr<ApiResponse> Api::Impl::OnObject(const ApiRequest& request, const Route& route) {
  const Kind& kind = *route.kind;
  const Target target{&kind, route.ns, route.name, route.subresource};
  const bool pod_only = route.subresource == "log" || route.subresource == "binding" ||
                        route.subresource == "eviction";
  if (pod_only && kind.kind == "Pod") return OnPodSubresource(request, route, target);
  const bool known = route.subresource.empty() ||
                     (route.subresource == "status" && kind.has_status) ||
                     (route.subresource == "scale" && kind.has_scale);
  if (!known) return NoSuchPath();
  if (request.method == "GET") {
    ASSIGN_OR_RETURN(ReadOptions options, ParseReadOptions(route, request.accept));
    if (route.Is("watch")) return MethodNotAllowed();
    ApiResponse response;
    ASSIGN_OR_RETURN(response.body, GetObject(rest_, clock_, target, options));
    return response;
  }
  if (request.method == "PUT") {
    return Reply(rest_.Replace(target, request.body, ParseWriteOptions(route)), route,
                 request.accept);
  }
  if (request.method == "PATCH") {
    const auto type = PatchTypeOf(request.content_type);
    if (!type.has_value()) {
      const bool apply = request.content_type.starts_with(kApplyPatch);
      return apply ? UnsupportedBody(kNoApply) : UnsupportedPatch(kind);
    }
    return Reply(rest_.Patch(target, *type, request.body, ParseWriteOptions(route)), route,
                 request.accept);
  }
  if (request.method == "DELETE" && route.subresource.empty()) {
    ASSIGN_OR_RETURN(const DeleteOptions options, ParseDeleteOptions(route, request.body));
    return Reply(rest_.Delete(target, options), route, "");
  }
  return MethodNotAllowed();
}

// The definition of one of our kinds, as a server that installed it would show it. Written without
// going through the API, which does not let anybody change it.
absl::Status Api::Impl::PutDefinition(const CustomKind& custom) {
  const Kind& kind = *FindResource("customresourcedefinitions.apiextensions.k8s.io");
  json object = custom.crd;
  const StoreKey key{kind.resource(), "", NameOf(object)};
  const auto stored = store_.Get(key);
  const std::string now = FormatRfc3339(clock_.WallNow());
  uint64_t expected = 0;
  if (stored.ok()) {
    const json old = json::parse(*stored->text);
    if (old["spec"] == object["spec"]) return absl::OkStatus();
    object["metadata"] = old["metadata"];
    expected = stored->revision;
  } else {
    const bool ours = custom.job_kind == JobKind::kTrainingJob;
    StampNew(kind, "", {.uid = ours ? kTrainingJobCrdUid : kTfJobCrdUid, .now = now}, &object);
  }
  json conditions = json::array();
  for (const char* type : {"NamesAccepted", "Established"}) {
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", now}});
  }
  object["status"] = {{"conditions", conditions},
                      {"acceptedNames", object["spec"]["names"]},
                      {"storedVersions", json::array({"v1"})}};
  return store_
      .Commit({.key = key,
               .expected_revision = expected,
               .render =
                   [&object](uint64_t revision) {
                     object["metadata"]["resourceVersion"] = std::to_string(revision);
                     return object.dump();
                   }})
      .status();
}

absl::Status Api::Impl::Bootstrap() {
  for (const CustomKind& custom : CustomKinds()) RETURN_IF_ERROR(PutDefinition(custom));
  const Kind& namespaces = *FindResource("namespaces");
  for (const char* name : {"default", "kube-system"}) {
    const json object = {{"metadata", {{"name", name}}}};
    const auto made = rest_.Create(namespaces, "", object.dump(), {});
    if (!made.ok() && StatusReason(made.status()) != "AlreadyExists") return made.status();
  }
  return absl::OkStatus();
}

Api::Api(Store& store, const Clock& clock, Random& random, LogSource* logs,
         const UsageSource* usage, std::string token, JobAdvice advice)
    : impl_(std::make_unique<Impl>(store, clock, random, logs, usage, std::move(token),
                                   std::move(advice))) {}
Api::~Api() = default;

absl::Status Api::Bootstrap() { return impl_->Bootstrap(); }

ApiResponse Api::Handle(const ApiRequest& request) {
  try {
    auto response = impl_->Handle(request);
    return response.ok() ? *std::move(response) : ErrorResponse(response.status());
  } catch (const json::exception& error) {
    // A field of the wrong type, where the rules looked for one of the right type.
    return ErrorResponse(BadRequest(std::string("the object could not be read: ") + error.what()));
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a request failed in the API; the others go on",
        {{"request", request.method + " " + request.target.substr(0, kLineBytesMax)},
         {"cause", error.what()}});
    return ErrorResponse(absl::InternalError(error.what()));
  }
}

}  // namespace taas::localkube
