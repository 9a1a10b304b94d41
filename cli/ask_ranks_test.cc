#include "cli/ask_ranks.h"

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/test_server.h"

namespace taas {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kPage[] =
    R"({"uid":"u","role":"chief","index":0,"shares":{"compute":0.4,"wait":0.5},
        "slowest":"worker-0",
        "peers":[{"role":"worker","index":0,"shares":{"compute":0.9,"wait":0}}]})";

// A job of the trainer by this strategy, with one chief that runs; `port` is where it answers.
class AskRanksTest : public CommandFixture {
 protected:
  AskRanksTest() : CommandFixture("ranks") { UseServer(server_.url()); }

  bool Answer(const TestServer::Request& request, TestServer::Connection& to) {
    const auto has = [&](const char* part) {
      return request.target.find(part) != std::string::npos;
    };
    if (has("/proxy/")) {
      proxied_.push_back(request.target);
      return to.Reply(page_code_, page_);
    }
    if (has("/pods?")) return to.Reply(200, List(Pod()));
    if (has("/trainingjobs/ring")) return to.Reply(200, Job());
    return to.Reply(404, R"({"reason":"NotFound","message":"none","code":404})");
  }
  std::string Job() const {
    return R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"team",)"
           R"("name":"ring","uid":"u"},"spec":{"trainer":{"model":{"name":"mlp"},)"
           R"("strategy":{"type":")" + strategy_ +
           R"("}},"roles":{"chief":{"replicas":1},"worker":{"replicas":1}}},)"
           R"("status":{"state":"Running"}})";
  }
  std::string Pod() const {
    return R"({"metadata":{"namespace":"team","name":"ring-chief-0","uid":"p","labels":{)"
           R"("taas.dev/job-name":"ring","taas.dev/role":"chief","taas.dev/index":"0"},)"
           R"("ownerReferences":[{"controller":true,"kind":"TrainingJob","name":"ring",)"
           R"("uid":"u"}]},"spec":{"nodeName":"n1","containers":[{"name":"trainer","env":[)"
           R"({"name":"OTHER"},{"name":"TAAS_STATUS_PORT","value":")" + std::to_string(port_) +
           R"("}]}]},"status":{"phase":")" + phase_ + R"(","podIP":"127.0.0.1"}})";
  }

  std::string strategy_ = "AllReduce";
  std::string phase_ = "Running";
  std::string page_ = kPage;
  int page_code_ = 200;
  int port_ = 2223;
  std::vector<std::string> proxied_;
  TestServer server_{[this](const TestServer::Request& request, TestServer::Connection& to) {
    return Answer(request, to);
  }};
};

TEST_F(AskRanksTest, OnAClusterTheChiefIsAskedThroughTheApiServer) {
  EXPECT_EQ(Run({"top", "job", "ring"}), 0) << err_.str();
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("ring-chief-0   chief-0   Running   n1"),
                                HasSubstr("worker-0   90%       0%"),
                                HasSubstr("worker-0 is the slowest: the others wait for it.\n")));
  ASSERT_EQ(proxied_.size(), 1u);
  EXPECT_EQ(proxied_[0], "/api/v1/namespaces/team/pods/ring-chief-0%3A2223/proxy/status");
  EXPECT_EQ(Run({"top", "job", "ring", "-o", "json"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"slowest\": \"worker-0\""));
}

TEST_F(AskRanksTest, OfTheLocalClusterThePodIsOnThisMachine) {
  TestServer chief([](const TestServer::Request& request, TestServer::Connection& to) {
    return to.Reply(request.target == "/status" ? 200 : 404, kPage);
  });
  port_ = chief.port();
  // What `taas local` leaves beside its kubeconfig.
  std::vector<std::string> left;
  for (const char* file : {"lock", "port", "pid"}) left.push_back(Write(file, ""));
  EXPECT_EQ(Run({"top", "job", "ring"}), 0) << err_.str();
  // The other tests have the folder, too.
  for (const std::string& file : left) EXPECT_EQ(std::remove(file.c_str()), 0) << file;
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), HasSubstr("worker-0 is the slowest"));
  EXPECT_TRUE(proxied_.empty());
}

TEST_F(AskRanksTest, WhereNobodyMayAskTheTableIsThereWithoutThem) {
  page_code_ = 403;
  page_ = R"({"reason":"Forbidden","message":"pods \"ring-chief-0\" is forbidden","code":403})";
  EXPECT_EQ(Run({"top", "job", "ring"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("ring-chief-0"), Not(HasSubstr("COMPUTE"))));
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("ask ring-chief-0 what the time of its ranks goes to"),
                                HasSubstr("is forbidden; the table goes without it\n")));
}

TEST_F(AskRanksTest, NobodyIsAskedWhereThereIsNothingToTell) {
  for (const auto& [strategy, phase] :
       {std::pair("ParameterServer", "Running"), std::pair("AllReduce", "Pending")}) {
    strategy_ = strategy;
    phase_ = phase;
    EXPECT_EQ(Run({"top", "job", "ring"}), 0) << err_.str();
    EXPECT_THAT(out_.str(), Not(HasSubstr("COMPUTE"))) << strategy;
    EXPECT_TRUE(proxied_.empty()) << strategy;
  }
}

TEST_F(AskRanksTest, WhatIsNoPageOfThisJobIsNotBelieved) {
  for (const char* page : {"<html>", R"({"uid":"other","role":"chief","shares":{"wait":1}})",
                           R"({"uid":"u","role":"chief"})", "[1]"}) {
    page_ = page;
    EXPECT_EQ(Run({"top", "job", "ring"}), 0) << err_.str();
    EXPECT_EQ(err_.str(), "") << page;
    EXPECT_THAT(out_.str(), Not(HasSubstr("COMPUTE"))) << page;
  }
}

}  // namespace
}  // namespace taas
