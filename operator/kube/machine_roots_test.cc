#include "operator/kube/machine_roots.h"

#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "openssl/ssl.h"

namespace taas {
namespace {

// Authorities that a new context of the TLS library trusts, as cpprestsdk makes it.
int Trusted() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  EXPECT_EQ(SSL_CTX_set_default_verify_paths(context.get()), 1);
  return sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(context.get())));
}

TEST(MachineRootsTest, AreLoadedWhileSomebodyWantsThem) {
  EXPECT_EQ(Trusted(), 0);
  {
    const WantedMachineRoots roots;
    std::optional<WantedMachineRoots> more(std::in_place);
    EXPECT_GT(Trusted(), 0) << "this machine has no authorities: is ca-certificates installed?";
    more.reset();
    EXPECT_GT(Trusted(), 0);
  }
  EXPECT_EQ(Trusted(), 0);
}

}  // namespace
}  // namespace taas
