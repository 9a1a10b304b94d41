#include "operator/kube/cpprest_io.h"

#include <openssl/ssl.h>
#include <pthread.h>

#include <exception>
#include <mutex>

#include "operator/base/log.h"
#include "pplx/threadpool.h"

namespace taas {
namespace {

// All I/O of the process is asynchronous, so this only copies, encrypts and parses headers: one
// keeps up with any API server, and a second one would mostly wait for the first one's locks.
constexpr size_t kIoThreads = 1;

}  // namespace

boost::asio::io_context& CpprestIo() {
  static std::once_flag once;
  std::call_once(once, [] {
    // What is set up last ends first at exit: OpenSSL must not, while the pool's thread uses it.
    OPENSSL_init_ssl(0, nullptr);
    try {
      crossplat::threadpool::initialize_with_threads(kIoThreads);
      crossplat::threadpool::shared_instance().service().post(
          [] { pthread_setname_np(pthread_self(), "io"); });
    } catch (const std::exception& e) {
      Log(LogLevel::kInfo, "cpprest keeps the threads it has", {{"why", e.what()}});
    }
  });
  return crossplat::threadpool::shared_instance().service();
}

}  // namespace taas
