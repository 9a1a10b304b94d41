// The path and the query of a request, taken apart.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for bad percent-encoding.
//
//   ASSIGN_OR_RETURN(const Route route, ParseRoute("/api/v1/namespaces/a/pods?watch=1"));
//   route.kind->plural == "pods"; route.query.at("watch") == "1";

#ifndef LOCALKUBE_API_ROUTE_H_
#define LOCALKUBE_API_ROUTE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

struct Route {
  std::string path;
  std::map<std::string, std::string> query;

  // Set if the path is one of a kind that we serve.
  const Kind* kind = nullptr;
  std::string ns;
  std::string name;         // Empty: the collection.
  std::string subresource;  // "status", "scale", "log", "binding", …

  std::string Get(const std::string& key) const {
    const auto found = query.find(key);
    return found == query.end() ? "" : found->second;
  }
  bool Is(const std::string& key) const {
    const std::string value = Get(key);
    // As Go reads booleans: Python clients write True.
    for (const char* yes : {"true", "True", "TRUE", "t", "T", "1"}) {
      if (value == yes) return true;
    }
    return false;
  }
};

absl::StatusOr<Route> ParseRoute(std::string_view target);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_ROUTE_H_
