// Manifests of users, in YAML or JSON, of one or several documents.

#include <string>
#include <vector>

#include "operator/api/manifest.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {"apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec:\n"
          "  roles:\n    worker: {replicas: 2}\n---\nkind: TFJob\n",
          R"({"kind": "TFJob", "list": [1, -2.5e3, true, null, "\u00e9"]})",
          "a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}}\n",
          "text: |\n  two\n  lines\nother: >-\n  a\n  b\n",
          "'quoted': \"\\x41\\n\"\n? complex\n: 0x1F\n# comment\n"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto documents = taas::ManifestDocuments(taas::FuzzText(data, size));
  if (!documents.ok()) return 0;
  for (const std::string& document : *documents) (void)taas::JsonToYaml(document);
  return 0;
}
