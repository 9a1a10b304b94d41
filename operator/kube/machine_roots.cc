#include "operator/kube/machine_roots.h"

#include <dlfcn.h>

#include <atomic>

#include "openssl/ssl.h"
#include "operator/base/check.h"

namespace taas {
namespace {

std::atomic<int> wanted = 0;

}  // namespace

WantedMachineRoots::WantedMachineRoots() { ++wanted; }
WantedMachineRoots::~WantedMachineRoots() { --wanted; }

}  // namespace taas

// Of a program and its libraries the program's own definition counts, for the libraries' calls too.
extern "C" int SSL_CTX_set_default_verify_paths(SSL_CTX* context) {
  if (taas::wanted == 0) return 1;
  using Original = int (*)(SSL_CTX*);
  static const auto original =
      reinterpret_cast<Original>(dlsym(RTLD_NEXT, "SSL_CTX_set_default_verify_paths"));
  CHECK(original != nullptr) << "OpenSSL without SSL_CTX_set_default_verify_paths";
  return original(context);
}
