#include "operator/kube/list_page.h"

#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "operator/kube/json_slice.h"

namespace taas {
namespace {

using OnItem = std::function<absl::Status(std::string_view item)>;

// Numbers of the fields that we read: any kind's list, and metav1.ListMeta.
constexpr int kListMetadata = 1, kListItems = 2;
constexpr int kMetaResourceVersion = 2, kMetaContinue = 3;

absl::Status NoList() {
  return absl::InvalidArgumentError("the reply is no list: it has no items or no metadata");
}

absl::StatusOr<ListPage> ReadJson(std::string_view json, const OnItem& on_item) {
  ListPage page;
  bool has_items = false;
  bool has_metadata = false;
  RETURN_IF_ERROR(ForEachMember(json, [&](std::string_view key, std::string_view value) {
    if (key == "items") {
      has_items = true;
      return value == "null" ? absl::OkStatus() : ForEachElement(value, on_item);
    }
    if (key != "metadata") return absl::OkStatus();
    has_metadata = true;
    return ForEachMember(value, [&](std::string_view name, std::string_view text) -> absl::Status {
      if (name != "resourceVersion" && name != "continue") return absl::OkStatus();
      ASSIGN_OR_RETURN((name == "continue" ? page.continue_token : page.resource_version),
                       StringOf(text));
      return absl::OkStatus();
    });
  }));
  if (!has_items || !has_metadata) return NoList();
  return page;
}

// A list without items has no such field.
absl::StatusOr<ListPage> ReadProtobuf(std::string_view body, const OnItem& on_item) {
  ASSIGN_OR_RETURN(const std::string_view list, UnwrapKubeProtobuf(body));
  ListPage page;
  bool has_metadata = false;
  RETURN_IF_ERROR(ForEachField(list, [&](const ProtobufField& field) -> absl::Status {
    if (field.number == kListItems) return on_item(WrapKubeProtobuf(field.bytes));
    if (field.number != kListMetadata) return absl::OkStatus();
    has_metadata = true;
    return ForEachField(field.bytes, [&page](const ProtobufField& meta) {
      if (meta.number == kMetaResourceVersion) page.resource_version = std::string(meta.bytes);
      if (meta.number == kMetaContinue) page.continue_token = std::string(meta.bytes);
      return absl::OkStatus();
    });
  }));
  if (!has_metadata) return NoList();
  return page;
}

}  // namespace

absl::StatusOr<ListPage> ReadListPage(std::string_view body, const OnItem& on_item) {
  return IsKubeProtobuf(body) ? ReadProtobuf(body, on_item) : ReadJson(body, on_item);
}

}  // namespace taas
