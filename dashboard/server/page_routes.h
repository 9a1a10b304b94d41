// The page itself and its files, for everybody: they hold no secret, and what they show they have
// to ask for.
//
// Every path that is no file is the page, whose own code reads the path. It is served with a
// relative <base> of the right depth, so that it works under any path that a proxy puts before it,
// and with a policy under which nothing runs but its own files.
//
// Ownership: value. Threads: const from any thread. Errors: a 404 for a file that there is not.
//
//   if (auto response = pages.Answer(request)) respond(*std::move(response));

#ifndef DASHBOARD_SERVER_PAGE_ROUTES_H_
#define DASHBOARD_SERVER_PAGE_ROUTES_H_

#include <string>
#include <vector>

#include "dashboard/http/web_message.h"

namespace taas::dashboard {

class PageRoutes {
 public:
  struct Options {
    // Origins whose pages may show our charts in a frame (embed/…); empty: none.
    std::vector<std::string> frame_ancestors;
  };
  explicit PageRoutes(Options options);

  WebResponse Answer(const WebRequest& request) const;

 private:
  WebResponse Page(const WebRequest& request) const;
  std::string PolicyOf(const std::string& nonce, bool embedded) const;

  const Options options_;
  std::string index_;  // The text of index.html.
};

// "../../" for a page two levels down: what leads from the document's folder to the top.
std::string BaseOf(const WebRequest& request);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_PAGE_ROUTES_H_
