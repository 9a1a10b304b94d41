#include "dashboard/server/sight.h"

#include <utility>

#include "operator/api/dialect.h"

namespace taas::dashboard {
namespace {

AccessQuestion ListQuestion(const std::string& group, const std::string& resource,
                            const std::string& ns) {
  return {.verb = "list", .group = group, .resource = resource, .subresource = {}, .ns = ns,
          .name = {}};
}

AccessQuestion JobsQuestion(JobKind kind, const std::string& ns) {
  const Dialect& dialect = DialectOf(kind);
  const std::string group(dialect.group());
  return ListQuestion(group, std::string(dialect.plural), ns);
}

// One kind of object, over all namespaces.
struct Part {
  std::function<AccessQuestion(const std::string& ns)> question;
  std::function<Reach&(Sight&)> reach;
};

std::vector<Part> PartsOf(const std::vector<JobKind>& kinds) {
  std::vector<Part> parts;
  for (const JobKind kind : kinds) {
    parts.push_back({[kind](const std::string& ns) { return JobsQuestion(kind, ns); },
                     [kind](Sight& sight) -> Reach& { return sight.jobs[kind]; }});
  }
  parts.push_back({[](const std::string& ns) { return ListQuestion("", "pods", ns); },
                   [](Sight& sight) -> Reach& { return sight.pods; }});
  return parts;
}

}  // namespace

void FindSight(Access& access, const IdentityPtr& identity, const std::vector<JobKind>& kinds,
               const std::set<std::string>& namespaces, std::function<void(SightPtr)> done) {
  const std::vector<Part> parts = PartsOf(kinds);
  std::vector<AccessQuestion> everywhere;
  for (const Part& part : parts) everywhere.push_back(part.question(""));
  everywhere.push_back(ListQuestion("", "nodes", ""));
  access.Check(identity, everywhere, [&access, identity, parts, namespaces, done = std::move(done)](
                                         const std::vector<bool>& may) {
    auto sight = std::make_shared<Sight>();
    std::vector<AccessQuestion> questions;
    std::vector<std::pair<size_t, std::string>> places;  // Of each question: part, namespace.
    for (size_t i = 0; i < parts.size(); ++i) {
      Reach& reach = parts[i].reach(*sight);
      reach.all = may[i];
      if (reach.all) continue;
      for (const std::string& ns : namespaces) {
        questions.push_back(parts[i].question(ns));
        places.emplace_back(i, ns);
      }
    }
    sight->nodes = may.back();
    access.Check(identity, questions, [sight, parts, places, done](const std::vector<bool>& here) {
      for (size_t i = 0; i < here.size(); ++i) {
        if (here[i]) parts[places[i].first].reach(*sight).namespaces.insert(places[i].second);
      }
      done(sight);
    });
  });
}

}  // namespace taas::dashboard
