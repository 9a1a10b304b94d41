// The ConfigMaps and Secrets that a pod refers to, as key and value.
//
// Ownership: value type. Threads: const access from any thread. Errors: FailedPrecondition, in the
// kubelet's words, for what is not there yet and not optional: worth another try.
//
//   for (const ConfigRef& ref : ConfigReferences(pod)) config.Add(ref, object or null);
//   ASSIGN_OR_RETURN(const ConfigData* data, config.Find({ConfigKind::kSecret, "keys"}, false));

#ifndef LOCALKUBE_NODE_POD_CONFIG_H_
#define LOCALKUBE_NODE_POD_CONFIG_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

enum class ConfigKind { kConfigMap, kSecret };

struct ConfigRef {
  ConfigKind kind = ConfigKind::kConfigMap;
  std::string name;

  auto operator<=>(const ConfigRef&) const = default;
};

using ConfigData = std::map<std::string, std::string>;

class PodConfig {
 public:
  // The object as the API has it; null: it does not exist.
  void Add(const ConfigRef& ref, const nlohmann::json& object);
  // Null: it does not exist and need not.
  absl::StatusOr<const ConfigData*> Find(const ConfigRef& ref, bool optional) const;
  // Nothing: object or key does not exist and need not.
  absl::StatusOr<std::optional<std::string>> Value(const ConfigRef& ref, const std::string& key,
                                                   bool optional) const;

 private:
  std::map<ConfigRef, ConfigData> objects_;
};

// What the environment and the volumes of all containers of a pod name.
std::set<ConfigRef> ConfigReferences(const nlohmann::json& pod);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_CONFIG_H_
