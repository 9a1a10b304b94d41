// One page of a list as the API server sends it, in JSON or in protobuf.
//
// Ownership: items point into the caller's text, or live as long as the call. Threads: any. Errors:
// InvalidArgument for a reply that is no list, or is cut: never a shorter list.
//
//   ASSIGN_OR_RETURN(const ListPage page, ReadListPage(reply.body, on_item));

#ifndef OPERATOR_KUBE_LIST_PAGE_H_
#define OPERATOR_KUBE_LIST_PAGE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

struct ListPage {
  std::string resource_version;
  std::string continue_token;  // Empty: the last page.
};

// Calls `on_item` with each item, as the API server sends it when it is asked for it alone.
absl::StatusOr<ListPage> ReadListPage(
    std::string_view body, const std::function<absl::Status(std::string_view item)>& on_item);

}  // namespace taas

#endif  // OPERATOR_KUBE_LIST_PAGE_H_
