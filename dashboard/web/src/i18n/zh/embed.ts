import type { embed as en } from "../en/embed";

export const embed: typeof en = {
  title: (chart, job) => `${chart} · ${job}`,
  openPage: "打开完整页面",
  none: (chart) => `该作业还没有名为 ${chart} 的曲线。`,
  login: "登录仪表板后才能查看该图表。",
  openDashboard: "打开仪表板",
};
