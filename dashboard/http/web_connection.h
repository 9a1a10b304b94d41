// One connection of the web server: requests one after the other, or one stream.
//
// Ownership: keeps itself alive while something is under way, and what it runs on for as long as it
// lives. Threads: Run and Close from any thread; its own work on its strand. Errors: a request that
// is none is answered with a sentence and ends the connection.
//
//   auto connection = WebConnection::Make(std::move(socket), shared);
//   connection->Run();

#ifndef DASHBOARD_HTTP_WEB_CONNECTION_H_
#define DASHBOARD_HTTP_WEB_CONNECTION_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "dashboard/http/unsent_budget.h"
#include "dashboard/http/web_message.h"
#include "dashboard/http/web_server.h"

namespace taas::dashboard {

class WebConnection;

// What the connections of a server have in common. A handler may hold on to a connection for longer
// than the server lives.
struct ConnectionsShared {
  WebHandler handler;
  WebServer::Options options;
  std::atomic<size_t> large_bodies_bytes = 0;
  std::shared_ptr<UnsentBudget> unsent;
  std::mutex mutex;
  // By number, which grows: the first is the oldest.
  std::map<uint64_t, std::weak_ptr<WebConnection>> open;
  std::set<uint64_t> strangers;  // Of those, the ones that have not shown a good token.
  boost::asio::io_context io;
};

class WebConnection {
 public:
  struct Place {
    uint64_t number = 0;
    bool probes_only = false;  // Of those beside the others.
  };
  static std::shared_ptr<WebConnection> Make(boost::asio::ip::tcp::socket socket,
                                             std::shared_ptr<ConnectionsShared> shared,
                                             const Place& place);
  virtual ~WebConnection() = default;
  virtual void Run() = 0;
  virtual void Close() = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_WEB_CONNECTION_H_
