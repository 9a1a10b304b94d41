import type { training as en } from "../en/training";

export const training: typeof en = {
  titleOf: (name) => `${name} 的训练`,
  unreadable: "无法读取曲线",
  unreadableOf: (job) => `无法读取 ${job} 的曲线`,
  noneOf: (job) => `${job} 没有曲线。`,
  silent: "目前没有训练程序响应",
  overSilent: "作业已结束",
  archived: "作业已结束，以下是记录下来的曲线。",
  gone: "该作业已不存在，以下是最后看到的曲线。",
  recorded: "已记录",
  lookInHistory: "在历史中查找",
  noneTitle: "还没有曲线",
  noneText:
    "训练程序每隔 summaries.everySteps 步取一个点，没有 summaries.dir 时也是如此。" +
    "第一个点会自动出现在这里。",
  noneOwn: "自有镜像提供 docs/contract.md 所述的曲线接口时，其曲线也会显示在这里。",
  noMatch: "没有名称匹配的曲线。",

  settings: "图表设置",
  smoothing: "平滑",
  axis: "横轴",
  axes: { step: "步数", relative: "相对时间", wall: "实际时间" },
  log: "对数刻度",
  outliers: "忽略离群值",
  filter: "筛选曲线（正则表达式）",
  badFilter: "这不是正则表达式，因此显示全部曲线。",
  resetZoom: "重置缩放",

  compare: "与其他作业比较",
  chosen: "已选择",
  jobsHere: "作业",
  jobsGone: "已不存在的作业",

  tags: {
    loss: "损失",
    accuracy: "准确率",
    learning_rate: "学习率",
    examples_per_second: "吞吐量（样本/秒）",
    "global_step/sec": "每秒步数（步/秒）",
  },
  train: "训练",
  test: "测试数据",
  at: "光标处",
  last: "最后",
  min: "最小",
  max: "最大",
  toggle: "显示或隐藏该曲线",
  gaps: (count) => `× ${count} 个值不是有限数`,
  gapsLog: (count) => `× ${count} 个值无法用对数刻度显示（0、负数或不是有限数）`,
  noNumber: "不是数",
  chartOf: (name) => `图表：${name}`,
  keys: "方向键移动光标，+ 和 - 缩放，Esc 重置缩放",
  noCanvas: "该浏览器无法在此绘制图表，请改用表格。",
  asTable: "以表格显示",
  asTableOf: (name) => `以表格显示：${name}`,
  tableOf: (name) => `${name} 的数据点`,
  lastRows: (count) => `仅显示最后 ${count} 行，CSV 文件包含全部。`,
  csv: "下载 CSV",
  csvOf: (name) => `下载 CSV：${name}`,
  embed: "单独打开该图表，以便嵌入其他页面",
  embedOf: (name) => `单独打开：${name}`,

  inNumbers: "数值",
  curve: "曲线",
  job: "作业",
  lastStep: "最后一步",

  histograms: "直方图",
  histogramsText:
    "权重和梯度的直方图保存在 summaries.dir 的事件文件中，请用 TensorBoard 查看。" +
    "参见 docs/contract.md 中关于事件文件的一节。",
};
