// What happens to an object on its way into the store: pure functions over JSON.
//
// A server owns some fields (uid, generation, status behind its subresource), fills in others
// (defaults) and
// refuses changes of a third sort. The rules are those of a kube-apiserver for the fields that we
// serve.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors, see kube_status.h.
//
//   RETURN_IF_ERROR(CheckNew(kind, ns, object));
//   StampNew(kind, ns, {.uid = uid, .now = now}, &object);

#ifndef LOCALKUBE_API_OBJECT_RULES_H_
#define LOCALKUBE_API_OBJECT_RULES_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";
// Of a pod that does not say: as in Kubernetes.
inline constexpr int64_t kDefaultGraceSeconds = 30;
// Nobody waits longer; a larger number would not fit into the clock.
inline constexpr int64_t kGraceSecondsMax = int64_t{10} * 365 * 86'400;
// Nesting of a request body: far above any manifest, far below what would overflow a stack.
inline constexpr int kDepthMax = 200;

// A request's body; BadRequest, which begins with `what`, if it is no JSON or nested too deep for
// what copies, compares and writes values by recursion.
absl::StatusOr<nlohmann::json> ParseBody(std::string_view text, const std::string& what);
// A JSON object with metadata of a sane shape; BadRequest otherwise.
absl::StatusOr<nlohmann::json> ParseObject(std::string_view text);

// apiVersion, kind, namespace and name are what the request says they should be.
absl::Status CheckIdentity(const Kind& kind, const std::string& ns, const std::string& name,
                           const nlohmann::json& object);
absl::Status CheckNew(const Kind& kind, const std::string& ns, const nlohmann::json& object);

struct Stamp {
  std::string uid;
  std::string now;          // RFC 3339
  std::string name_suffix;  // For generateName.
};
void StampNew(const Kind& kind, const std::string& ns, const Stamp& stamp,
              nlohmann::json* object);
// Defaults of the built-in kinds; nothing for custom ones.
void ApplyBuiltinDefaults(const Kind& kind, nlohmann::json* object);

// What an update of `subresource` ("" or "status") by `wanted` makes of `old`: server-owned fields
// stay,
// generation counts.
nlohmann::json CarryOver(const Kind& kind, const std::string& subresource,
                         const nlohmann::json& old, nlohmann::json wanted);
// An update of the subresource "status" has a status, which is an object.
absl::Status CheckStatusUpdate(const Kind& kind, const nlohmann::json& wanted);
absl::Status CheckUpdate(const Kind& kind, const nlohmann::json& old,
                         const nlohmann::json& changed);

// Equal but for resourceVersion.
bool SameObject(const nlohmann::json& a, const nlohmann::json& b);
std::string NameOf(const nlohmann::json& object);
std::string UidOf(const nlohmann::json& object);
std::string MetaText(const nlohmann::json& object, const char* field);
bool IsTerminating(const nlohmann::json& object);
bool HasFinalizers(const nlohmann::json& object);
// True when nothing keeps an object that is being deleted.
bool IsReadyToGo(const Kind& kind, const nlohmann::json& object);

struct DeleteOptions {
  std::optional<int64_t> grace_seconds;
  std::string uid;               // Preconditions; empty: none.
  std::string resource_version;
  std::string propagation;       // Background, Foreground, Orphan; empty: Background.
  bool dry_run = false;
};
// Marks `object` as being deleted; true if it can be removed at once instead.
bool MarkDeleted(const Kind& kind, const DeleteOptions& options, const std::string& now,
                 const std::string& now_plus_grace, int64_t grace, nlohmann::json* object);
// The grace that a deletion of `object` gets.
int64_t GraceOf(const Kind& kind, const DeleteOptions& options, const nlohmann::json& object);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_OBJECT_RULES_H_
