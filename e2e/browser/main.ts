// Runs one scenario, as browser.py asks for it on standard input; says what went wrong on standard
// error and ends with 1.

import { SCENARIOS } from "./scenarios";
import { stopHearing } from "./src/acts";
import { readTask } from "./src/task";

const task = await readTask();
const scenario = SCENARIOS[task.scenario];
if (!scenario) throw new Error(`there is no scenario ${task.scenario}`);
try {
  await scenario(task);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? String(error.stack) : String(error)}\n`);
  process.exitCode = 1;
} finally {
  stopHearing();
}
