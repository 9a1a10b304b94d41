// For the tests of pages that are loaded when they are opened: the first one in a file waits for
// all of their modules, on machines with two cores and other work.

import { configure } from "@testing-library/react";

configure({ asyncUtilTimeout: 10_000 });
