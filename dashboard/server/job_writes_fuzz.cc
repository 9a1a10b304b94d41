// Bodies of requests to the page: jobs in YAML or JSON; and texts that it shows.

#include <string>
#include <vector>

#include "dashboard/server/job_writes.h"
#include "dashboard/server/visible_text.h"
#include "operator/base/check.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a, namespace: b}\n"
          "spec: {roles: {worker: {replicas: 1}}}\n",
          R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":"a",
              "managedFields":[{}]}})",
          "299 - \"unknown field\", 299 - \"a \\\"quoted\\\" one\"", "\x1b[31mred\xe2\x80\xae\x7f"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::dashboard::NamespacesNamed(text, "default");
  (void)taas::dashboard::CreateRequest(text, "default", /*dry_run=*/true);
  (void)taas::dashboard::WarningsOf(text);
  (void)taas::dashboard::WithoutManagedFields(text);
  CHECK(taas::dashboard::VisibleText(text).find('\x1b') == std::string::npos) << "an escape";
  return 0;
}
