#include "cli/api_client.h"

#include <future>
#include <utility>

#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"
#include "operator/kube/http/warning_header.h"
#include "operator/kube/list_page.h"
#include "operator/kube/paging/page_size.h"

namespace taas {
namespace {

// A person waits for this; kubectl gives up never, which helps nobody.
constexpr std::chrono::seconds kRequestTimeout{30};
// The library lets go of what is cancelled within milliseconds; who waits for a command's end waits
// no longer for tidiness.
constexpr std::chrono::milliseconds kLetGo{300};

// A local cluster that is down is the usual reason why nobody listens where its kubeconfig says.
absl::Status WithHint(const absl::Status& status, const std::string& source) {
  const std::string dir = absl::IsUnavailable(status) ? LocalDirOf(source) : "";
  if (dir.empty()) return status;
  return absl::Status(status.code(), std::string(status.message()) +
                                         "; is the local cluster down? `taas local up --dir " +
                                         dir + "` starts it");
}

}  // namespace

std::string LocalDirOf(const std::string& kubeconfig) {
  PosixFileSystem files;
  const std::string dir = DirName(kubeconfig);
  for (const char* file : {"/lock", "/port", "/pid"}) {
    if (!files.Exists(dir + file).value_or(false)) return "";
  }
  return dir;
}

ApiClient::ApiClient() : executor_(clock_, "taas-cli") {}

ApiClient::~ApiClient() {
  executor_.Stop();
  if (transport_ != nullptr) transport_->Close(kLetGo);
}

absl::StatusOr<std::unique_ptr<ApiClient>> ApiClient::Create(const std::string& kubeconfig,
                                                             const std::string& context,
                                                             const Getenv& env) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const ClusterAccess access, FindClusterAccess(files, env, kubeconfig, context));
  return Create(access);
}

absl::StatusOr<std::unique_ptr<ApiClient>> ApiClient::Create(const ClusterAccess& access) {
  std::unique_ptr<ApiClient> client(new ApiClient());
  client->ns_ = access.ns;
  client->source_ = access.source;
  ASSIGN_OR_RETURN(client->transport_, CpprestTransport::Create(access, client->files_,
                                                                client->executor_, {}));
  return client;
}

absl::StatusOr<std::string> ApiClient::Call(HttpRequest request, const std::string& what) {
  request.timeout = kRequestTimeout;
  auto promise = std::make_shared<std::promise<absl::StatusOr<HttpReply>>>();
  std::future<absl::StatusOr<HttpReply>> future = promise->get_future();
  transport_->Do(std::move(request), [promise](absl::StatusOr<HttpReply> reply) {
    promise->set_value(std::move(reply));
  });
  absl::StatusOr<HttpReply> reply = future.get();
  if (!reply.ok()) return WithHint(Annotate(reply.status(), what), source_);
  for (const std::string& warning : ReadWarnings(reply->warning)) {
    if (on_warning_ != nullptr && warned_.insert(warning).second) on_warning_(warning);
  }
  RETURN_IF_ERROR(StatusOfReply(*reply, what));
  return std::move(reply->body);
}

absl::StatusOr<std::string> ApiClient::Get(const std::string& path, const std::string& what) {
  return Call({.path = path}, what);
}

absl::StatusOr<std::string> ApiClient::Post(const std::string& path, const std::string& body,
                                            const std::string& what) {
  return Call({.verb = Verb::kPost, .path = path, .body = body}, what);
}

absl::StatusOr<std::string> ApiClient::Patch(const std::string& path, const std::string& body,
                                             const std::string& what) {
  return Call({.verb = Verb::kPatch,
               .path = path,
               .body = body,
               .content_type = "application/merge-patch+json"},
              what);
}

absl::StatusOr<std::string> ApiClient::Delete(const std::string& path, const std::string& body,
                                              const std::string& what) {
  return Call({.verb = Verb::kDelete, .path = path, .body = body}, what);
}

absl::Status ApiClient::List(const std::string& path, const std::string& label_selector,
                             const std::string& what,
                             const std::function<absl::Status(std::string_view item)>& on_item) {
  std::string token;
  PageSize size;
  bool more = true;
  do {
    const std::string page_path = WithQuery(path, {{"labelSelector", label_selector},
                                                   {"limit", std::to_string(size.limit())},
                                                   {"continue", token}});
    const absl::StatusOr<std::string> body =
        Call({.path = page_path, .body_bytes_max = kPageBytesMax}, what);
    // Somebody's objects are large; the others' are to be seen all the same.
    if (absl::IsResourceExhausted(body.status()) && size.Shrink()) continue;
    RETURN_IF_ERROR(body.status());
    size.Read(body->size());
    ASSIGN_OR_RETURN(ListPage page, ReadListPage(*body, on_item));
    token = std::move(page.continue_token);
    more = !token.empty();
  } while (more);
  return absl::OkStatus();
}

}  // namespace taas
