// What clients ask before they ask for objects: versions, groups, resources, OpenAPI.
//
// Ownership: values; the answers do not change while the process lives. Threads: any. Errors:
// nothing for a
// path that is none of these.
//
//   if (auto answer = Discover("/apis/taas.dev/v1", accept)) return *answer;

#ifndef LOCALKUBE_API_DISCOVERY_H_
#define LOCALKUBE_API_DISCOVERY_H_

#include <optional>
#include <string>

namespace taas::localkube {

struct Discovered {
  std::string content_type;
  std::string body;
};

std::optional<Discovered> Discover(const std::string& path, const std::string& accept);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_DISCOVERY_H_
