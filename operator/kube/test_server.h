// A small HTTP/1.1 server on 127.0.0.1, plain or TLS, whose replies a test writes byte by byte.
//
// Ownership: owns its threads; the destructor closes all connections and joins. Threads: the
// handler runs on one thread per connection. Errors: trouble with a connection ends that
// connection.
//
//   TestServer server([](const TestServer::Request& request, TestServer::Connection& to) {
//     return to.Reply(200, "{}");
//   });
//   Connect(server.url());

#ifndef OPERATOR_KUBE_TEST_SERVER_H_
#define OPERATOR_KUBE_TEST_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

class TestServer {
 public:
  struct Request {
    std::string method;
    std::string target;
    std::string body;
    std::string authorization;
    std::string user_agent;
    std::string content_type;
    std::string client;  // CN of the client's certificate.
    int number = 0;      // Counts the requests of the server from 1.
    int connection = 0;  // Counts its connections from 1.
  };
  // Each says whether the connection lives on; a handler returns the last one's answer.
  class Connection {
   public:
    virtual ~Connection() = default;
    virtual bool Write(std::string_view raw) = 0;
    // Returns once the client has closed the connection; always false.
    virtual bool WaitForClose() = 0;
    bool Reply(int code, std::string_view body, std::string_view headers = "");
    bool StartChunks(int code);
    bool Chunk(std::string_view text);
    bool EndChunks() { return Write("0\r\n\r\n"); }
  };
  using Handler = std::function<bool(const Request& request, Connection& to)>;
  struct Tls {
    std::string certificate;
    std::string key;
    std::string client_ca;  // Empty: clients show no certificate.
  };

  explicit TestServer(Handler handler, std::optional<Tls> tls = std::nullopt);
  ~TestServer();

  int port() const;
  std::string url() const;  // "http://127.0.0.1:PORT" or https.
  std::vector<Request> requests() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_TEST_SERVER_H_
