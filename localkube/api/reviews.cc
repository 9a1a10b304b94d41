#include "localkube/api/reviews.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "localkube/api/kube_status.h"
#include "localkube/api/object_rules.h"
#include "localkube/api/review_fields.h"
#include "localkube/api/rules/review_rules.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr char kMasters[] = "system:masters";
// Whom a token is meant for if it does not say: a kube-apiserver's default.
constexpr char kAudience[] = "https://kubernetes.default.svc";

json TheUser() {
  return {{"username", kUserName}, {"groups", {kMasters, "system:authenticated"}}};
}

bool Has(const json& list, const char* text) {
  return std::find(list.begin(), list.end(), json(text)) != list.end();
}

// Members that say nothing are as if they were not there.
json MetadataOf(const json& object) {
  json metadata = object["metadata"];
  metadata.erase("namespace");
  metadata.erase("managedFields");
  std::erase_if(metadata.get_ref<json::object_t&>(), [](const auto& member) {
    return member.second.empty() || member.second == json("");
  });
  return metadata;
}

// What was sent and a kube-apiserver would not know: refused, warned of or passed over.
absl::Status CheckUnknown(const Kind& kind, const std::vector<std::string>& unknown,
                          FieldValidation validation, std::vector<std::string>* warnings) {
  std::string refused;
  for (const std::string& field : unknown) {
    const std::string words = "unknown field \"" + field + "\"";
    if (validation == FieldValidation::kWarn) warnings->push_back(words);
    refused += (refused.empty() ? "" : ", ") + words;
  }
  if (refused.empty() || validation != FieldValidation::kStrict) return absl::OkStatus();
  return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                    kind.kind + ": strict decoding error: " + refused);
}

absl::StatusOr<json> ReadSpec(const Kind& kind, const json& object, const WriteOptions& options,
                              std::vector<std::string>* warnings) {
  std::vector<std::string> unknown;
  for (const auto& [member, value] : object.items()) {
    const bool known = member == "apiVersion" || member == "kind" || member == "metadata" ||
                       member == "status" || (member == "spec" && HasReviewSpec(kind.kind));
    if (!known) unknown.push_back(member);
  }
  auto spec = ReadReviewSpec(kind.kind, object.value("spec", json()), &unknown);
  if (!spec.ok()) {
    return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                      kind.kind + ": " + std::string(spec.status().message()));
  }
  RETURN_IF_ERROR(CheckUnknown(kind, unknown, options.validation, warnings));
  return spec;
}

absl::StatusOr<json> TokenStatus(const ReviewSources& sources, const json& spec) {
  const std::string token = spec.value("token", "");
  if (token.empty()) return BadRequest("token is required for TokenReview in authentication");
  const json audiences = spec.value("audiences", json::array({kAudience}));
  // Who asks has shown the token already: there is nothing to learn from how long this takes.
  if (token != sources.token || !Has(audiences, kAudience)) {
    return json{{"user", json::object()}, {"error", "invalid bearer token"}};
  }
  return json{
      {"authenticated", true}, {"user", TheUser()}, {"audiences", json::array({kAudience})}};
}

json RulesStatus() {
  const json all = json::array({"*"});
  const json resources = {{"verbs", all}, {"apiGroups", all}, {"resources", all}};
  const json urls = {{"verbs", all}, {"nonResourceURLs", all}};
  return {{"incomplete", false},
          {"resourceRules", json::array({resources})},
          {"nonResourceRules", json::array({urls})}};
}

absl::StatusOr<json> AccessStatus(const Kind& kind, const json& metadata, const json& spec,
                                  const std::string& ns) {
  const std::vector<FieldError> errors = CheckAccessReview(kind, metadata, spec, ns);
  // A kube-apiserver names no kind here.
  if (!errors.empty()) return Invalid({.group = kind.group}, "", errors);
  const bool of_self = kind.kind == "SelfSubjectAccessReview";
  const json groups = of_self ? TheUser()["groups"] : spec.value("groups", json::array());
  return json{{"allowed", Has(groups, kMasters)}};
}

}  // namespace

absl::StatusOr<WriteResult> AnswerReview(const ReviewSources& sources, const Kind& kind,
                                         const std::string& ns, std::string_view body,
                                         const WriteOptions& options) {
  WriteResult result{.code = 201};
  ASSIGN_OR_RETURN(const json object, ParseObject(body));
  RETURN_IF_ERROR(CheckIdentity(kind, ns, "", object));
  ASSIGN_OR_RETURN(json spec, ReadSpec(kind, object, options, &result.warnings));
  json metadata = MetadataOf(object);
  json answer = {{"apiVersion", kind.api_version()}, {"kind", kind.kind}};
  if (kind.kind == "TokenReview") {
    ASSIGN_OR_RETURN(answer["status"], TokenStatus(sources, spec));
  } else if (kind.kind == "SelfSubjectReview") {
    metadata = {{"creationTimestamp", FormatRfc3339(sources.now)}};
    answer["status"] = {{"userInfo", TheUser()}};
  } else if (kind.kind == "SelfSubjectRulesReview") {
    if (spec.empty()) return BadRequest("no namespace on request");
    metadata = spec = json::object();
    answer["status"] = RulesStatus();
  } else {
    ASSIGN_OR_RETURN(answer["status"], AccessStatus(kind, metadata, spec, ns));
  }
  if (kind.namespaced) metadata["namespace"] = ns;
  answer["metadata"] = std::move(metadata);
  if (HasReviewSpec(kind.kind)) answer["spec"] = std::move(spec);
  result.text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  return result;
}

}  // namespace taas::localkube
