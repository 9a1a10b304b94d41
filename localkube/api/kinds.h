// The kinds of object that the local cluster serves, and how the API names them.
//
// Ownership: a process-wide constant table. Threads: any. Errors: FindKind gives null for what is
// not served.
//
//   const Kind* kind = FindKind("", "v1", "pods");
//   kind->resource();  // "pods": the name in the store and in messages

#ifndef LOCALKUBE_API_KINDS_H_
#define LOCALKUBE_API_KINDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas::localkube {

struct Kind {
  std::string group;  // Empty: the core group.
  std::string version;
  std::string plural;
  std::string singular;
  std::string kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool has_status = false;      // Status is a subresource of its own.
  bool has_scale = false;
  bool has_generation = false;  // metadata.generation counts changes of what the user asked for.
  bool read_only = false;
  // Made when somebody asks (metrics.h): got and listed, and neither stored nor watched.
  bool measured = false;
  // A question that is answered when it is posted (reviews.h): neither stored nor read.
  bool review = false;
  // Defined by a CRD: schema, no strategic merge patch, no update without a revision.
  bool custom = false;
  // What field selectors may name, beside metadata.name and metadata.namespace.
  std::vector<std::string> selectable;

  // "trainingjobs.taas.dev", "pods".
  std::string resource() const { return group.empty() ? plural : plural + "." + group; }
  // "taas.dev/v1", "v1".
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

const std::vector<Kind>& Kinds();
const Kind* FindKind(std::string_view group, std::string_view version, std::string_view plural);
// By the name in the store.
const Kind* FindResource(std::string_view resource);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_KINDS_H_
