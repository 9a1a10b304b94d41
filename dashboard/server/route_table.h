// Which function answers which path: patterns of parts, "*" for any one.
//
// Ownership: owns the functions. Threads: filled once, then const from any thread. Errors: none.
//
//   table.Add("GET", "jobs/*/*/*", [this](ApiCall call) { … });

#ifndef DASHBOARD_SERVER_ROUTE_TABLE_H_
#define DASHBOARD_SERVER_ROUTE_TABLE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/server/api_call.h"

namespace taas::dashboard {

using ApiHandler = std::function<void(ApiCall call)>;

class RouteTable {
 public:
  void Add(std::string method, std::string_view pattern, ApiHandler handler);

  struct Found {
    const ApiHandler* handler = nullptr;  // Null: none for this method.
    std::string methods;                  // Of all that the path has: "GET, PATCH".
  };
  // `segments`: of the whole path, the first of which is "api".
  Found Find(std::string_view method, const std::vector<std::string>& segments) const;
  // "GET jobs/*/*/*", for tests that go through all of them.
  std::vector<std::string> Names() const;

 private:
  struct Entry {
    std::string method;
    std::vector<std::string> parts;
    ApiHandler handler;
  };
  std::vector<Entry> entries_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_ROUTE_TABLE_H_
