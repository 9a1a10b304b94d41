#include "cli/terminal_stream.h"

#include <iomanip>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

// An escape sequence in the message of a job's status reached the terminal by `taas describe`.
TEST(TerminalStreamTest, WhatIsWrittenInAnyWayIsPassedOnWithoutEscapes) {
  std::ostringstream to;
  TerminalStream stream(to);
  stream.stream() << "a\033[2J" << '\033' << std::string("b\u202E") << 7 << std::setw(4) << "c"
                  << "\n";
  EXPECT_EQ(to.str(), "a\\u001b[2J\\u001bb\\u202e7   c\n");
}

TEST(TerminalStreamTest, WhatGoesPastItStaysInItsPlace) {
  std::ostringstream to;
  TerminalStream stream(to);
  stream.stream() << "one ";
  to << "\033[31mtwo";
  stream.stream() << " three";
  EXPECT_EQ(to.str(), "one \033[31mtwo three");
}

}  // namespace
}  // namespace taas
