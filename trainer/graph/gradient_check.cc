#include "trainer/graph/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/check.h"

namespace taas {
namespace {

constexpr size_t kElementsMax = 100;
// Of the variables, which are of the order of one: losses differ by enough digits, and the
// slope's error, of the fourth order, stays small.
constexpr double kMove = 0.02;
constexpr double kTolerance = 2e-3;

double LossAt(Session* session, float* element, double value) {
  *element = static_cast<float>(value);
  const absl::Status status = session->Run(RunKind::kForward);
  CHECK(status.ok()) << status.ToString();
  return static_cast<double>(session->loss());
}

double Slope(Session* session, float* element, double move) {
  const float before = *element;
  const double x = static_cast<double>(before);
  const double slope =
      (LossAt(session, element, x - 2 * move) - 8 * LossAt(session, element, x - move) +
       8 * LossAt(session, element, x + move) - LossAt(session, element, x + 2 * move)) /
      (12 * move);
  *element = before;
  return slope;
}

}  // namespace

void CheckGradients(Session* session) {
  const absl::Status status = session->Run(RunKind::kTrain);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::vector<std::vector<float>> gradients;
  for (size_t i = 0; i < session->variables().size(); ++i) {
    const std::span<float> gradient = session->gradient(i).host();
    gradients.emplace_back(gradient.begin(), gradient.end());
  }
  int compared = 0;
  int at_corner = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const size_t stride = std::max<size_t>(1, gradients[i].size() / kElementsMax);
    for (size_t at = 0; at < gradients[i].size(); at += stride) {
      float* const element = &session->variable(i).host()[at];
      const double slope = Slope(session, element, kMove);
      const double half = Slope(session, element, kMove / 2);
      const double tolerance = kTolerance * (1 + std::abs(slope));
      // Two moves that disagree straddle the corner of a relu: there is no slope to compare with.
      if (std::abs(slope - half) > tolerance / 2) {
        ++at_corner;
        continue;
      }
      ++compared;
      EXPECT_NEAR(gradients[i][at], slope, tolerance)
          << session->variables()[i].name << "[" << at << "]";
    }
  }
  EXPECT_LE(at_corner, compared / 10) << "the loss is not smooth here: choose other values";
}

}  // namespace taas
