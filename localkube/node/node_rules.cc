#include "localkube/node/node_rules.h"

#include <algorithm>
#include <charconv>

#include "localkube/node/pod_json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr char kNoSchedule[] = "NoSchedule";
constexpr char kPreferNoSchedule[] = "PreferNoSchedule";
constexpr char kNoExecute[] = "NoExecute";
constexpr char kNameField[] = "metadata.name";

void ReadExpressions(const Json& term, const char* list, bool of_field, NodeTerm* out) {
  for (const Json& expression : Elements(term, list)) {
    NodeExpression read{.key = Text(expression, "key"),
                        .op = Text(expression, "operator"),
                        .values = {},
                        .of_field = of_field};
    for (const Json& value : Elements(expression, "values")) {
      if (value.is_string()) read.values.push_back(value.get<std::string>());
    }
    out->expressions.push_back(std::move(read));
  }
}

NodeTerm ReadTerm(const Json& term) {
  NodeTerm out;
  ReadExpressions(term, "matchExpressions", false, &out);
  ReadExpressions(term, "matchFields", true, &out);
  return out;
}

std::optional<int64_t> ReadNumber(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Gt and Lt: both sides are whole numbers.
bool Compares(const NodeExpression& expression, const std::string& value) {
  if (expression.values.size() != 1) return false;
  const auto label = ReadNumber(value);
  const auto bound = ReadNumber(expression.values[0]);
  if (!label.has_value() || !bound.has_value()) return false;
  return expression.op == "Gt" ? *label > *bound : *label < *bound;
}

bool Matches(const NodeExpression& expression, const std::string& name, const NodeLabels& labels) {
  if (expression.of_field && expression.key != kNameField) return false;
  const auto label = labels.find(expression.key);
  const bool present = expression.of_field || label != labels.end();
  const std::string& value = expression.of_field ? name : present ? label->second : "";
  const auto& values = expression.values;
  const bool listed = present && std::find(values.begin(), values.end(), value) != values.end();
  if (expression.op == "In") return listed;
  if (expression.op == "NotIn") return !listed;
  if (expression.op == "Exists") return present;
  if (expression.op == "DoesNotExist") return !present;
  if (expression.op == "Gt" || expression.op == "Lt") return present && Compares(expression, value);
  return false;
}

bool Matches(const NodeTerm& term, const std::string& name, const NodeLabels& labels) {
  return !term.expressions.empty() &&
         std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const NodeExpression& e) { return Matches(e, name, labels); });
}

const Toleration* FindToleration(const Taint& taint, const std::vector<Toleration>& tolerations) {
  const auto found = std::find_if(tolerations.begin(), tolerations.end(),
                                  [&](const Toleration& t) { return Tolerates(t, taint); });
  return found == tolerations.end() ? nullptr : &*found;
}

}  // namespace

NodeRules ReadNodeRules(const Json& spec) {
  NodeRules out;
  if (const Json& selector = Member(spec, "nodeSelector"); selector.is_object()) {
    for (const auto& [key, value] : selector.items()) {
      out.selector[key] = value.is_string() ? value.get<std::string>() : "";
    }
  }
  const Json& affinity = Member(Member(spec, "affinity"), "nodeAffinity");
  const Json& required = Member(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  if (required.is_object()) {
    out.required.emplace();
    for (const Json& term : Elements(required, "nodeSelectorTerms")) {
      out.required->push_back(ReadTerm(term));
    }
  }
  for (const Json& entry : Elements(affinity, "preferredDuringSchedulingIgnoredDuringExecution")) {
    NodeTerm term = ReadTerm(Member(entry, "preference"));
    term.weight = static_cast<int>(Whole(entry, "weight", 0));
    out.preferred.push_back(std::move(term));
  }
  return out;
}

std::vector<Toleration> ReadTolerations(const Json& spec) {
  std::vector<Toleration> out;
  for (const Json& entry : Elements(spec, "tolerations")) {
    Toleration toleration{.key = Text(entry, "key"),
                          .op = Text(entry, "operator"),
                          .value = Text(entry, "value"),
                          .effect = Text(entry, "effect"),
                          .seconds = {}};
    const Json& seconds = Member(entry, "tolerationSeconds");
    if (seconds.is_number_integer()) toleration.seconds = seconds.get<int64_t>();
    out.push_back(std::move(toleration));
  }
  return out;
}

std::vector<Taint> ReadTaints(const Json& spec) {
  std::vector<Taint> out;
  for (const Json& entry : Elements(spec, "taints")) {
    out.push_back({Text(entry, "key"), Text(entry, "value"), Text(entry, "effect")});
  }
  return out;
}

bool Allows(const NodeRules& rules, const std::string& name, const NodeLabels& labels) {
  for (const auto& [key, value] : rules.selector) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  if (!rules.required.has_value()) return true;
  return std::any_of(rules.required->begin(), rules.required->end(),
                     [&](const NodeTerm& term) { return Matches(term, name, labels); });
}

int64_t Preference(const NodeRules& rules, const std::string& name, const NodeLabels& labels) {
  int64_t sum = 0;
  for (const NodeTerm& term : rules.preferred) {
    // A preference that demands nothing holds everywhere, so it decides nothing.
    if (Matches(term, name, labels)) sum += term.weight;
  }
  return sum;
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  const bool exists = toleration.op == "Exists";
  if (toleration.key.empty()) return exists;
  return toleration.key == taint.key && (exists || toleration.value == taint.value);
}

const Taint* Untolerated(const std::vector<Taint>& taints,
                         const std::vector<Toleration>& tolerations) {
  for (const Taint& taint : taints) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
    if (FindToleration(taint, tolerations) == nullptr) return &taint;
  }
  return nullptr;
}

int Dislikes(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  return static_cast<int>(std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
    return taint.effect == kPreferNoSchedule && FindToleration(taint, tolerations) == nullptr;
  }));
}

std::optional<int64_t> SecondsToStay(const std::vector<Taint>& taints,
                                     const std::vector<Toleration>& tolerations) {
  std::optional<int64_t> out;
  for (const Taint& taint : taints) {
    if (taint.effect != kNoExecute) continue;
    const Toleration* toleration = FindToleration(taint, tolerations);
    if (toleration == nullptr) return 0;
    if (!toleration->seconds.has_value()) continue;
    const int64_t seconds = std::max<int64_t>(*toleration->seconds, 0);
    out = out.has_value() ? std::min(*out, seconds) : seconds;
  }
  return out;
}

}  // namespace taas::localkube
