#include "operator/kube/api_path.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(ApiPathTest, CoreObjectsLiveUnderApi) {
  EXPECT_EQ(ObjectPath(Resource::kPods, "ns", "a-worker-0"),
            "/api/v1/namespaces/ns/pods/a-worker-0");
  EXPECT_EQ(CollectionPath(Resource::kServices, "ns"), "/api/v1/namespaces/ns/services");
  EXPECT_EQ(ObjectPath(Resource::kNamespaces, "", "ns"), "/api/v1/namespaces/ns");
}

TEST(ApiPathTest, NoNamespaceMeansAllOfThem) {
  EXPECT_EQ(CollectionPath(Resource::kTrainingJobs, ""), "/apis/taas.dev/v1/trainingjobs");
}

TEST(ApiPathTest, EachGangSchedulerHasAPodGroupOfItsOwn) {
  EXPECT_EQ(ObjectPath(Resource::kVolcanoPodGroups, "ns", "mnist"),
            "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/mnist");
  EXPECT_EQ(CollectionPath(Resource::kCoschedulingPodGroups, ""),
            "/apis/scheduling.x-k8s.io/v1alpha1/podgroups");
}

TEST(ApiPathTest, StatusIsASubresource) {
  EXPECT_EQ(SubresourcePath(Resource::kTrainingJobs, "ns", "mnist", "status"),
            "/apis/taas.dev/v1/namespaces/ns/trainingjobs/mnist/status");
}

TEST(ApiPathTest, ANameCannotLeaveItsPlaceInThePath) {
  EXPECT_EQ(ObjectPath(Resource::kPods, "ns", "../secrets?x#y"),
            "/api/v1/namespaces/ns/pods/..%2Fsecrets%3Fx%23y");
}

TEST(ApiPathTest, QueryValuesAreEncodedAndEmptyOnesLeftOut) {
  EXPECT_EQ(WithQuery("/p", {{"labelSelector", LabelEquals("taas.dev/job-name", "mnist")},
                             {"continue", ""},
                             {"limit", "500"}}),
            "/p?labelSelector=taas.dev%2Fjob-name%3Dmnist&limit=500");
  EXPECT_EQ(WithQuery("/p", {{"continue", ""}}), "/p");
}

TEST(ApiPathTest, BytesAboveAsciiAreEncodedOneByOne) {
  EXPECT_EQ(PercentEncode("ä "), "%C3%A4%20");
}

}  // namespace
}  // namespace taas
