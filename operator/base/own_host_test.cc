#include "operator/base/own_host.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

// Symptom: a page of the web that a browser on the operator's machine showed could read the
// operator's pages by a name of its own for 127.0.0.1.
TEST(IsOwnHostTest, AddressesLocalhostAndServicesAreAndOtherSitesAreNot) {
  const HostNames names{.ns = "taas-system", .cluster_domain = ""};
  for (const char* host :
       {"127.0.0.1", "10.0.0.7:8080", "[::1]:8081", "[fd00::7]", "localhost:8080", "LOCALHOST", "",
        "taas-operator:8080", "taas-operator.taas-system:8080", "taas-operator.other.svc",
        "taas-operator.taas-system.svc.cluster.local:8080", "a.b.svc.cluster.local."}) {
    EXPECT_TRUE(IsOwnHost(host, names)) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "taas-system.evil.example",
        "x.svc.evil.example", "a.b.taas-system", "svc.cluster.local.evil.example", "[evil]",
        "taas-operator.other"}) {
    EXPECT_FALSE(IsOwnHost(host, names)) << host;
  }
  EXPECT_TRUE(IsOwnHost("a.b.svc.my.corp", {.ns = "", .cluster_domain = "my.corp"}));
  EXPECT_FALSE(IsOwnHost("a.taas-system", {}));
}

TEST(IsOwnHostTest, NamesThatAreKnownAreOwnOnes) {
  const HostNames names{.ns = "", .cluster_domain = "", .others = {"GPU1.lab.example", ""}};
  EXPECT_TRUE(IsOwnHost("gpu1.lab.example:2223", names));
  EXPECT_FALSE(IsOwnHost("gpu2.lab.example:2223", names));
  EXPECT_FALSE(IsOwnHost("gpu1.lab.example.evil.example", names));
}

}  // namespace
}  // namespace taas
