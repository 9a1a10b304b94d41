// Certificates for tests, made in memory: an authority and what it signs.
//
// Ownership: values. Threads: any. Errors: a failure of OpenSSL is a CHECK.
//
//   const TestAuthority authority("authority A");
//   const TestAuthority::Pair server = authority.Issue("server");  // Valid for 127.0.0.1 only.

#ifndef OPERATOR_KUBE_TEST_CERTIFICATES_H_
#define OPERATOR_KUBE_TEST_CERTIFICATES_H_

#include <memory>
#include <string>

struct evp_pkey_st;
struct x509_st;

namespace taas {

class TestAuthority {
 public:
  struct Pair {
    std::string certificate;  // PEM.
    std::string key;
  };

  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  const std::string& certificate() const { return certificate_; }
  // `address` is the only IP address that the certificate is valid for.
  Pair Issue(const std::string& name, const std::string& address = "127.0.0.1") const;

 private:
  evp_pkey_st* key_;
  x509_st* x509_;
  std::string certificate_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_TEST_CERTIFICATES_H_
