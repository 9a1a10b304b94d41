#include "trainer/data/http_get.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openssl/evp.h"
#include "openssl/pem.h"
#include "openssl/x509v3.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// Answers one connection with fixed bytes on a free port of the loopback, then closes it.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, ssl::context* tls = nullptr)
      : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}),
        thread_([this, answer = std::move(answer), tls] { Serve(answer, tls); }) {}
  ~OneAnswer() {
    boost::system::error_code ignored;
    // A test that never connected would leave the server waiting.
    asio::ip::tcp::socket(io_).connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

 private:
  void Serve(const std::string& answer, ssl::context* tls) {
    boost::system::error_code ignored;
    asio::ip::tcp::socket socket(io_);
    acceptor_.accept(socket, ignored);
    asio::streambuf request;
    if (tls == nullptr) {
      asio::read_until(socket, request, "\r\n\r\n", ignored);
      asio::write(socket, asio::buffer(answer), ignored);
      return;
    }
    ssl::stream<asio::ip::tcp::socket&> stream(socket, *tls);
    stream.handshake(ssl::stream_base::server, ignored);
    if (ignored) return;
    asio::read_until(stream, request, "\r\n\r\n", ignored);
    asio::write(stream, asio::buffer(answer), ignored);
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

TEST(HttpGetTest, BodyOfTheAnswerIsReturned) {
  OneAnswer server(Answer("200 OK", "some data"));
  const auto body = HttpGet("http://127.0.0.1:" + server.port() + "/file", {});
  ASSERT_THAT(body, IsOk());
  EXPECT_EQ(*body, "some data");
}

TEST(HttpGetTest, AnotherAnswerThanOkIsAnErrorWithItsNumber) {
  OneAnswer server(Answer("404 Not Found", "no"));
  const std::string url = "http://127.0.0.1:" + server.port() + "/file";
  EXPECT_THAT(HttpGet(url, {}),
              StatusIs(Code::kUnavailable, AllOf(HasSubstr(url), HasSubstr("404"))));
}

TEST(HttpGetTest, BodyCutShortIsAnError) {
  const std::string whole = Answer("200 OK", "some data");
  OneAnswer server(whole.substr(0, whole.size() - 3));
  EXPECT_THAT(HttpGet("http://127.0.0.1:" + server.port() + "/", {}),
              StatusIs(Code::kUnavailable, HasSubstr("read the answer")));
}

TEST(HttpGetTest, BodyLongerThanAllowedIsRefused) {
  OneAnswer server(Answer("200 OK", std::string(1000, 'x')));
  EXPECT_THAT(HttpGet("http://127.0.0.1:" + server.port() + "/", {.bytes_max = 100}),
              StatusIs(Code::kResourceExhausted, HasSubstr("longer than 100")));
}

TEST(HttpGetTest, PortWhereNobodyListensIsAnError) {
  asio::io_context io;
  asio::ip::tcp::socket bound(io);
  bound.open(asio::ip::tcp::v4());
  bound.bind({asio::ip::address_v4::loopback(), 0});  // Bound but not listening.
  const std::string port = std::to_string(bound.local_endpoint().port());
  EXPECT_THAT(HttpGet("http://127.0.0.1:" + port + "/", {}),
              StatusIs(Code::kUnavailable, HasSubstr("connect: ")));
}

TEST(HttpGetTest, TextThatIsNoUrlIsRefused) {
  for (const char* url : {"", "ftp://host/", "host/file", "https:///file"}) {
    EXPECT_THAT(HttpGet(url, {}), StatusIs(Code::kInvalidArgument)) << url;
  }
}

// A key and a certificate for `name`, signed by itself, as PEM in one text.
std::string SelfSigned(const std::string& name) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str());
  X509_add_ext(certificate, names, -1);
  X509_sign(certificate, key, EVP_sha256());
  BIO* const out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate);
  PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out, &text);
  std::string pem(text, static_cast<size_t>(size));
  BIO_free(out);
  X509_EXTENSION_free(names);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pem;
}

TEST(HttpGetTest, TlsIsAcceptedOnlyWithATrustedCertificateForTheHost) {
  PosixFileSystem files;
  struct Case {
    const char* name;
    bool trusted;
    bool want;
  };
  for (const Case& c : {Case{"localhost", true, true}, Case{"localhost", false, false},
                        Case{"elsewhere.example", true, false}}) {
    const std::string pem = SelfSigned(c.name);
    const std::string ca_file = ::testing::TempDir() + "/roots.pem";
    ASSERT_THAT(files.WriteAtomically(ca_file, c.trusted ? pem : SelfSigned(c.name)), IsOk());
    ssl::context tls(ssl::context::tls_server);
    tls.use_certificate_chain(asio::buffer(pem));
    tls.use_private_key(asio::buffer(pem), ssl::context::pem);
    OneAnswer server(Answer("200 OK", "some data"), &tls);
    const auto body = HttpGet("https://localhost:" + server.port() + "/", {.ca_file = ca_file});
    EXPECT_EQ(body.ok(), c.want) << c.name << " " << c.trusted << ": " << body.status();
    if (!c.want) {
      EXPECT_THAT(std::string(body.status().message()), HasSubstr("certificate verify failed"));
    }
  }
}

}  // namespace
}  // namespace taas
