#include "trainer/data/generated/digits.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "operator/base/random.h"

namespace taas {
namespace {

// How far images of one digit differ. Larger numbers make a linear classifier fail sooner than one
// with hidden layers; digits_test holds both to their marks.
constexpr double kTurn = 0.26;          // Radians, to either side.
constexpr double kShear = 0.34;         // Of the height.
constexpr double kScaleLeast = 0.70;    // Of the whole glyph, per axis.
constexpr double kScaleMost = 1.10;
constexpr double kShift = 2.4;          // Pixels, to any side.
constexpr double kWobble = 0.035;       // Of each point, in heights of a glyph.
constexpr double kBend = 0.05;          // Amplitude of a slow wave through the glyph.
constexpr double kPenLeast = 0.9;       // Radius of the pen in pixels.
constexpr double kPenMost = 1.7;
constexpr double kInkLeast = 0.65;
constexpr double kNoise = 0.08;         // Standard deviation of each pixel, of full ink.
constexpr double kGlyphPixels = 20.0;   // Height of an undistorted glyph.

struct Point {
  double x = 0;
  double y = 0;
};
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

// Part of an ellipse from angle `begin` to `end` (in turns, 0 is right, 0.25 is down).
Stroke Arc(Point centre, Point radius, double begin, double end) {
  constexpr int kPoints = 14;  // Smooth enough for 28 pixels.
  Stroke stroke;
  for (int i = 0; i <= kPoints; ++i) {
    const double angle = 2 * std::numbers::pi * (begin + (end - begin) * i / kPoints);
    stroke.push_back(
        {centre.x + radius.x * std::cos(angle), centre.y + radius.y * std::sin(angle)});
  }
  return stroke;
}

Stroke Joined(Stroke stroke, const Stroke& rest) {
  stroke.insert(stroke.end(), rest.begin(), rest.end());
  return stroke;
}

// The ways to write `digit`, in a box of width 0.7 and height 1.
std::vector<Glyph> GlyphsOf(int digit) {
  switch (digit) {
    case 0:
      return {{Arc({0.35, 0.5}, {0.34, 0.5}, -0.25, 0.75)},
              {Arc({0.35, 0.5}, {0.24, 0.5}, -0.2, 0.83)}};
    case 1:
      return {{{{0.35, 0.0}, {0.35, 1.0}}},
              {{{0.12, 0.25}, {0.4, 0.0}, {0.4, 1.0}}},
              {{{0.12, 0.22}, {0.36, 0.0}, {0.36, 1.0}}, {{0.1, 1.0}, {0.62, 1.0}}}};
    case 2:
      return {{Joined(Arc({0.35, 0.28}, {0.32, 0.28}, -0.5, 0.1), {{0.04, 1.0}, {0.7, 1.0}})},
              {Joined(Joined(Arc({0.35, 0.26}, {0.3, 0.26}, -0.45, 0.12), {{0.12, 0.9}}),
                      Joined(Arc({0.16, 0.88}, {0.1, 0.1}, -0.4, 0.5),
                             {{0.4, 0.88}, {0.7, 0.97}}))}};
    case 3:
      return {{Joined(Arc({0.33, 0.25}, {0.3, 0.25}, -0.45, 0.25),
                      Arc({0.33, 0.75}, {0.35, 0.25}, -0.25, 0.42))},
              {Joined({{0.05, 0.0}, {0.62, 0.0}, {0.3, 0.4}},
                      Arc({0.32, 0.7}, {0.34, 0.3}, -0.25, 0.4))}};
    case 4:
      return {{{{0.5, 1.0}, {0.5, 0.0}, {0.02, 0.65}, {0.7, 0.65}}},
              {{{0.1, 0.0}, {0.06, 0.5}, {0.62, 0.5}}, {{0.58, 0.02}, {0.52, 1.0}}}};
    case 5:
      return {{Joined({{0.62, 0.0}, {0.14, 0.0}, {0.1, 0.42}},
                      Arc({0.32, 0.68}, {0.34, 0.32}, -0.33, 0.4))},
              {Joined({{0.14, 0.05}, {0.12, 0.45}}, Arc({0.3, 0.7}, {0.36, 0.3}, -0.3, 0.42)),
               {{0.14, 0.04}, {0.66, 0.0}}}};
    case 6:
      return {{Joined({{0.52, 0.0}, {0.2, 0.3}}, Arc({0.34, 0.7}, {0.3, 0.3}, -0.5, 0.55))},
              {Joined(Arc({0.5, 0.55}, {0.45, 0.55}, -0.3, -0.5),
                      Arc({0.32, 0.74}, {0.27, 0.26}, 0.5, -0.5))}};
    case 7:
      return {{{{0.03, 0.02}, {0.66, 0.0}, {0.25, 1.0}}},
              {{{0.03, 0.04}, {0.66, 0.0}, {0.3, 1.0}}, {{0.15, 0.5}, {0.62, 0.46}}},
              {{{0.05, 0.15}, {0.06, 0.0}, {0.66, 0.0}, {0.42, 0.4}, {0.34, 1.0}}}};
    case 8:
      return {{Arc({0.35, 0.25}, {0.27, 0.25}, 0.25, 1.25),
               Arc({0.35, 0.75}, {0.33, 0.25}, -0.25, 0.75)},
              {{{0.6, 0.08}, {0.35, 0.0}, {0.1, 0.2}, {0.6, 0.75}, {0.35, 1.0}, {0.08, 0.8},
                {0.58, 0.22}, {0.6, 0.08}}}};
    default:
      return {{Joined(Arc({0.34, 0.28}, {0.29, 0.28}, 0.0, -1.0), {{0.6, 0.6}, {0.5, 1.0}})},
              {Joined(Arc({0.34, 0.28}, {0.3, 0.28}, 0.02, -0.98),
                      Arc({0.24, 0.6}, {0.4, 0.4}, 0.0, 0.35))}};
  }
}

const std::vector<std::vector<Glyph>>& AllGlyphs() {
  static const std::vector<std::vector<Glyph>> all = [] {
    std::vector<std::vector<Glyph>> glyphs;
    for (int digit = 0; digit < kDigitClasses; ++digit) glyphs.push_back(GlyphsOf(digit));
    return glyphs;
  }();
  return all;
}

double Between(Random& random, double least, double most) {
  return least + (most - least) * random.Unit();
}

double Gaussian(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.Unit()));
  return radius * std::cos(2.0 * std::numbers::pi * random.Unit());
}

// One way of moving every point of a glyph, from its box to pixels.
class Distortion {
 public:
  explicit Distortion(Random& random)
      : turn_(Between(random, -kTurn, kTurn)),
        shear_(Between(random, -kShear, kShear)),
        scale_x_(Between(random, kScaleLeast, kScaleMost)),
        scale_y_(Between(random, kScaleLeast, kScaleMost)),
        shift_x_(Between(random, -kShift, kShift)),
        shift_y_(Between(random, -kShift, kShift)),
        bend_x_(Between(random, -kBend, kBend)),
        bend_y_(Between(random, -kBend, kBend)),
        phase_(Between(random, 0, 2 * std::numbers::pi)) {}

  Point Move(Point p) const {
    const double x0 = p.x - 0.35 + bend_x_ * std::sin(5 * p.y + phase_);
    const double y0 = p.y - 0.5 + bend_y_ * std::sin(5 * p.x + phase_);
    const double x1 = scale_x_ * (x0 + shear_ * -y0);
    const double y1 = scale_y_ * y0;
    const double x = std::cos(turn_) * x1 - std::sin(turn_) * y1;
    const double y = std::sin(turn_) * x1 + std::cos(turn_) * y1;
    constexpr double kCentre = (kDigitSide - 1) / 2.0;
    return {kCentre + kGlyphPixels * x + shift_x_, kCentre + kGlyphPixels * y + shift_y_};
  }

 private:
  const double turn_;
  const double shear_;
  const double scale_x_;
  const double scale_y_;
  const double shift_x_;
  const double shift_y_;
  const double bend_x_;
  const double bend_y_;
  const double phase_;
};

double SquaredDistance(Point p, Point a, Point b) {
  const Point ab{b.x - a.x, b.y - a.y};
  const double length = ab.x * ab.x + ab.y * ab.y;
  const double along =
      length == 0 ? 0 : std::clamp(((p.x - a.x) * ab.x + (p.y - a.y) * ab.y) / length, 0.0, 1.0);
  const double dx = p.x - a.x - along * ab.x;
  const double dy = p.y - a.y - along * ab.y;
  return dx * dx + dy * dy;
}

// From each pixel to the nearest stroke, squared; right only up to `reach`, which saves most of the
// work.
std::vector<double> SquaredDistances(const Glyph& glyph, double reach) {
  const auto first = [](double at) { return std::clamp(static_cast<int>(at), 0, kDigitSide); };
  std::vector<double> nearest(kDigitPixels, 1e9);
  for (const Stroke& stroke : glyph) {
    for (size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1];
      const Point b = stroke[i];
      const int x_end = first(std::max(a.x, b.x) + reach + 1);
      const int y_end = first(std::max(a.y, b.y) + reach + 1);
      for (int y = first(std::min(a.y, b.y) - reach); y < y_end; ++y) {
        for (int x = first(std::min(a.x, b.x) - reach); x < x_end; ++x) {
          double& value = nearest[static_cast<size_t>(y * kDigitSide + x)];
          value = std::min(value, SquaredDistance({double(x), double(y)}, a, b));
        }
      }
    }
  }
  return nearest;
}

void DrawOne(int digit, Random& random, uint8_t* pixels) {
  const std::vector<Glyph>& ways = AllGlyphs()[static_cast<size_t>(digit)];
  Glyph glyph = ways[random.Below(ways.size())];
  const Distortion distortion(random);
  for (Stroke& stroke : glyph) {
    for (Point& point : stroke) {
      // A curve's many points move less than a line's few, so that curves stay smooth.
      const double wobble = stroke.size() > 8 ? kWobble / 3 : kWobble;
      point.x += Between(random, -wobble, wobble);
      point.y += Between(random, -wobble, wobble);
      point = distortion.Move(point);
    }
  }
  const double pen = Between(random, kPenLeast, kPenMost);
  const double ink = Between(random, kInkLeast, 1.0);
  const std::vector<double> nearest = SquaredDistances(glyph, pen + 0.5);
  for (size_t i = 0; i < nearest.size(); ++i) {
    const double cover = std::clamp(pen + 0.5 - std::sqrt(nearest[i]), 0.0, 1.0);
    const double value = ink * cover + kNoise * Gaussian(random);
    pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.0, 1.0) * 255.0 + 0.5);
  }
}

}  // namespace

DigitImages DrawDigits(const DigitOptions& options) {
  DigitImages images;
  images.pixels.resize(static_cast<size_t>(options.count) * kDigitPixels);
  images.labels.resize(static_cast<size_t>(options.count));
  for (int64_t i = 0; i < options.count; ++i) {
    // Every image has a stream of its own, so any range of images can be drawn alone.
    const uint64_t number = static_cast<uint64_t>(options.first + i);
    SeededRandom stream(options.seed * 0xd1342543de82ef95 + number);
    SeededRandom random(stream.Next());
    const int digit = static_cast<int>(random.Below(kDigitClasses));
    images.labels[static_cast<size_t>(i)] = static_cast<uint8_t>(digit);
    DrawOne(digit, random, images.pixels.data() + i * kDigitPixels);
  }
  return images;
}

}  // namespace taas
