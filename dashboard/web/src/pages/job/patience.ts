// For the tests of pages that are loaded when they are opened: they are loaded here, outside of any
// test's time, and what is awaited may take long on machines with two cores and other work.

import { configure } from "@testing-library/react";
import "../history";
import ".";

configure({ asyncUtilTimeout: 10_000 });
