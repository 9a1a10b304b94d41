export const embed = {
  title: (chart: string, job: string) => `${chart} · ${job}`,
  openPage: "Open the full page",
  none: (chart: string) => `This job has no curve named ${chart} yet.`,
  login: "Log in to the dashboard to see this chart.",
  openDashboard: "Open the dashboard",
};
