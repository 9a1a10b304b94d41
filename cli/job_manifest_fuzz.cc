// Manifests that `taas validate` and `taas submit` are given, as far as a document of them.

#include <string>
#include <vector>

#include "cli/job_manifest.h"
#include "operator/api/manifest.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec:\n  trainer:\n"
          "    model: {name: softmax}\n    data: {format: generated}\n    maxSteps: 5\n"
          "  roles: {chief: {replicas: 1}, worker: {replicas: 2}}\n",
          "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a}\nspec:\n"
          "  tfReplicaSpecs:\n    Worker:\n      template:\n        spec:\n"
          "          containers: [{name: tensorflow, image: i}]\n"
          "---\nkind: ConfigMap\n"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto documents = taas::ManifestDocuments(taas::FuzzText(data, size));
  if (!documents.ok()) return 0;
  for (const std::string& document : *documents) {
    const taas::ManifestKind kind = taas::KindOf(document);
    if (kind.job) (void)taas::CheckJob(*kind.job, document);
  }
  return 0;
}
