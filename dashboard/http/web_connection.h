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

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <map>
#include <memory>
#include <mutex>

#include "dashboard/http/web_message.h"
#include "dashboard/http/web_server.h"

namespace taas::dashboard {

class WebConnection;

// What the connections of a server have in common. A handler may hold on to a connection for longer
// than the server lives.
struct ConnectionsShared {
  WebHandler handler;
  WebServer::Options options;
  std::mutex mutex;
  std::map<const WebConnection*, std::weak_ptr<WebConnection>> open;
  boost::asio::io_context io;
};

class WebConnection {
 public:
  static std::shared_ptr<WebConnection> Make(boost::asio::ip::tcp::socket socket,
                                             std::shared_ptr<ConnectionsShared> shared);
  virtual ~WebConnection() = default;
  virtual void Run() = 0;
  virtual void Close() = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_WEB_CONNECTION_H_
