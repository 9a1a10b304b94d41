// What a pod demands of its node, and what a node refuses: selectors, affinity, taints.
//
// Ownership: value types. Threads: any. Errors: none; what cannot be read matches nothing.
//
//   if (!Allows(rules, node.name, node.labels)) why = "node(s) didn't match …";
//   if (const Taint* taint = Untolerated(node.taints, tolerations)) …

#ifndef LOCALKUBE_NODE_NODE_RULES_H_
#define LOCALKUBE_NODE_NODE_RULES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

using NodeLabels = std::map<std::string, std::string>;

// One of matchExpressions or matchFields.
struct NodeExpression {
  std::string key;
  std::string op;
  std::vector<std::string> values;
  bool of_field = false;  // metadata.name, the one field there is.
};

// All of it must hold; one without expressions never does, as in Kubernetes.
struct NodeTerm {
  std::vector<NodeExpression> expressions;
  int weight = 0;  // Of a preference.
};

struct NodeRules {
  NodeLabels selector;
  std::optional<std::vector<NodeTerm>> required;  // One of them must hold.
  std::vector<NodeTerm> preferred;
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute.
};

struct Toleration {
  std::string key;  // Empty with Exists: every taint.
  std::string op;   // Exists; everything else is Equal.
  std::string value;
  std::string effect;              // Empty: every effect.
  std::optional<int64_t> seconds;  // Of NoExecute: how long; none: for ever.
};

// Of the spec of a pod.
NodeRules ReadNodeRules(const nlohmann::json& spec);
std::vector<Toleration> ReadTolerations(const nlohmann::json& spec);
// Of the spec of a node.
std::vector<Taint> ReadTaints(const nlohmann::json& spec);

bool Allows(const NodeRules& rules, const std::string& name, const NodeLabels& labels);
// The sum of the weights of the preferences that the node meets.
int64_t Preference(const NodeRules& rules, const std::string& name, const NodeLabels& labels);

bool Tolerates(const Toleration& toleration, const Taint& taint);
// The first taint that keeps new pods away; null if there is none.
const Taint* Untolerated(const std::vector<Taint>& taints,
                         const std::vector<Toleration>& tolerations);
// How many taints would rather not have the pod (PreferNoSchedule).
int Dislikes(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);
// How long a pod that runs may stay in spite of the NoExecute taints; none: for ever.
std::optional<int64_t> SecondsToStay(const std::vector<Taint>& taints,
                                     const std::vector<Toleration>& tolerations);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_NODE_RULES_H_
