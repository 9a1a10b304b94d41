// Writes with the semantics of Kubernetes' REST API, over the store.
//
// Creation, replacement, patch and deletion of one object: uid, generation, conflicts, no-op
// updates that
// keep their revision, subresources, preconditions, grace, finalizers. Reads are in list_watch.h.
//
// Ownership: store, clock and random outlive it. Threads: all methods from any thread. Errors:
// metav1.Status
// errors, see kube_status.h.
//
//   ASSIGN_OR_RETURN(WriteResult made, rest.Create(kind, "default", body, {}));

#ifndef LOCALKUBE_API_REST_H_
#define LOCALKUBE_API_REST_H_

#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"
#include "localkube/api/object_rules.h"
#include "localkube/api/patch.h"
#include "localkube/api/store.h"
#include "localkube/api/job_admission.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"

namespace taas::localkube {

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
};

struct WriteResult {
  int code = 200;
  std::string text;  // The object as it now is, or a Status.
  std::vector<std::string> warnings;
};

// Which object, and which part of it.
struct Target {
  const Kind* kind = nullptr;
  std::string ns;
  std::string name;
  std::string subresource;  // "", "status" or "scale".

  StoreKey key() const { return {kind->resource(), ns, name}; }
};

class Rest {
 public:
  // `advice` may be null.
  Rest(Store& store, const Clock& clock, Random& random, JobAdvice advice = nullptr)
      : store_(store), clock_(clock), random_(random), advice_(std::move(advice)) {}

  absl::StatusOr<WriteResult> Create(const Kind& kind, const std::string& ns,
                                     std::string_view body, const WriteOptions& options);
  absl::StatusOr<WriteResult> Replace(const Target& target, std::string_view body,
                                      const WriteOptions& options);
  absl::StatusOr<WriteResult> Patch(const Target& target, PatchType type, std::string_view body,
                                    const WriteOptions& options);
  absl::StatusOr<WriteResult> Delete(const Target& target, const DeleteOptions& options);
  // POST pods/NAME/binding.
  absl::StatusOr<WriteResult> Bind(const Target& pod, std::string_view body);
  // POST pods/NAME/eviction, as `kubectl drain` does: the pod is marked as disrupted, then deleted.
  absl::StatusOr<WriteResult> Evict(const Target& pod, const DeleteOptions& options);

  // The object as JSON; NotFound as the API says it.
  absl::StatusOr<nlohmann::json> Read(const Target& target) const;
  // Takes the object out of the store if it is still the one with `uid`; no grace, no finalizers.
  absl::Status Remove(const Target& target, const std::string& uid);
  // Replaces `object` by what `change` makes of it, however often others write in between. The
  // garbage
  // collector's own writes, which no validation looks at.
  absl::Status Edit(const Target& target,
                    const std::function<void(nlohmann::json* object)>& change);

 private:
  // Makes the object that is to be stored from what is stored now.
  using Change = std::function<absl::StatusOr<nlohmann::json>(const nlohmann::json& old)>;

  absl::StatusOr<WriteResult> Update(const Target& target, bool dry_run, const Change& change);
  // Carries `wanted`, which the client sent, into `old` and checks it.
  absl::StatusOr<nlohmann::json> Merge(const Target& target, const nlohmann::json& old,
                                       nlohmann::json wanted, const WriteOptions& options,
                                       std::vector<std::string>* warnings) const;
  absl::StatusOr<StoreEntry> Put(const StoreKey& key, uint64_t expected, nlohmann::json object,
                                 bool remove);
  absl::Status CheckNamespace(const Kind& kind, const std::string& ns) const;
  absl::Status ToKube(const absl::Status& status, const Target& target) const;
  std::string NewUid();
  std::string NewSuffix();

  Store& store_;
  const Clock& clock_;
  Random& random_;
  const JobAdvice advice_;
  std::mutex random_mutex_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_REST_H_
