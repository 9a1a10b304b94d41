#include "operator/plan/address_scheme.h"

#include "gtest/gtest.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

TEST(AddressBookTest, InAClusterAReplicaIsANameUnderTheJobsService) {
  const Snapshot now = StartedJob({.ps = 2, .workers = 1});
  const AddressBook book(now.job, *now.job.ledger, now.addresses);
  EXPECT_EQ(book.Cluster(Role::kPs, 1), "mnist-ps-1.mnist.default.svc:2222");
  EXPECT_EQ(book.StatusPortOf(Role::kPs, 1), 2223);
}

TEST(AddressBookTest, AClusterDomainIsAppendedWhereOneIsConfigured) {
  const Snapshot now = StartedJob({.workers = 1});
  const AddressOptions options{.cluster_domain = "corp.example"};
  const AddressBook book(now.job, *now.job.ledger, options);
  EXPECT_EQ(book.Cluster(Role::kWorker, 0), "mnist-worker-0.mnist.default.svc.corp.example:2222");
}

TEST(AddressBookTest, OnTheLocalClusterAReplicaIsTheTwoPortsThatTheLedgerRecords) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).port = 20001;
  EntryOf(now, Role::kWorker, 0).status_port = 20002;
  const AddressOptions options{.scheme = AddressScheme::kLoopback};
  const AddressBook book(now.job, *now.job.ledger, options);
  EXPECT_EQ(book.Cluster(Role::kWorker, 0), "127.0.0.1:20001");
  EXPECT_EQ(book.StatusPortOf(Role::kWorker, 0), 20002);
}

}  // namespace
}  // namespace taas
