#include "operator/api/manifest_cases.h"

#include <exception>
#include <utility>

#include "operator/api/manifest.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

Json Changed(Json object, const Json& change) {
  const Json remove = change.value("remove", Json::array());
  for (const Json& place : remove) {
    const Json::json_pointer pointer(place.get<std::string>());
    Json& parent = object.at(pointer.parent_pointer());
    parent.erase(parent.find(pointer.back()));
  }
  const Json set = change.value("set", Json::object());
  for (const auto& [place, value] : set.items()) {
    object[Json::json_pointer(place)] = value;
  }
  return object;
}

ManifestCase ParseCase(const Json& base, const Json& one) {
  ManifestCase out;
  out.name = one.at("name").get<std::string>();
  const std::string verdict = one.at("verdict").get<std::string>();
  if (verdict == "undecodable") out.verdict = Verdict::kUndecodable;
  if (verdict == "invalid") out.verdict = Verdict::kInvalid;
  if (out.verdict != Verdict::kAccepted) out.field = one.at("field").get<std::string>();
  out.server = one.value("server", out.field);
  Json object = base;
  if (one.contains("before")) {
    object = Changed(base, one.at("before"));
    out.before = object.dump();
  }
  out.object = one.contains("raw") ? one.at("raw").get<std::string>() : Changed(object, one).dump();
  return out;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return "accepted";
    case Verdict::kUndecodable:
      return "undecodable";
    case Verdict::kInvalid:
      return "invalid";
  }
  return "unknown";
}

absl::StatusOr<std::vector<ManifestCase>> ParseManifestCases(std::string_view yaml) {
  ASSIGN_OR_RETURN(const std::vector<std::string> documents, ManifestDocuments(yaml));
  std::vector<ManifestCase> cases;
  std::string last = "the base";
  try {
    const Json file = Json::parse(documents.at(0));
    for (const Json& one : file.at("cases")) {
      last = one.at("name").get<std::string>();
      cases.push_back(ParseCase(file.at("base"), one));
    }
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError("read the cases: at " + last + ": " + error.what());
  }
  return cases;
}

}  // namespace taas
