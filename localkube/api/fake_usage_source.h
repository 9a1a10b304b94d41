// Usage that a test decides.
//
// Ownership: the test's. Threads: one. Errors: none.
//
//   FakeUsageSource usage;
//   usage.pods["uid-1"] = {.window = {now, 10s}, .containers = {{"trainer", {5, 1024}}}};

#ifndef LOCALKUBE_API_FAKE_USAGE_SOURCE_H_
#define LOCALKUBE_API_FAKE_USAGE_SOURCE_H_

#include <map>
#include <optional>
#include <string>

#include "localkube/api/usage_source.h"

namespace taas::localkube {

class FakeUsageSource : public UsageSource {
 public:
  std::optional<PodUsage> OfPod(const std::string& uid) const override { return Find(pods, uid); }
  std::optional<NodeUsage> OfNode(const std::string& name) const override {
    return Find(nodes, name);
  }

  std::map<std::string, PodUsage> pods;  // By uid.
  std::map<std::string, NodeUsage> nodes;

 private:
  template <typename T>
  static std::optional<T> Find(const std::map<std::string, T>& all, const std::string& key) {
    const auto found = all.find(key);
    return found == all.end() ? std::nullopt : std::optional<T>(found->second);
  }
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_FAKE_USAGE_SOURCE_H_
