import type { login as en } from "../en/login";

export const login: typeof en = {
  title: "登录",
  again: "重新登录",
  againWhy: "您的会话已结束。下面的页面保持不变。",
  intro: "您在集群中以自己的权限操作，即令牌所具有的权限。",
  token: "令牌",
  tokenHint: "为可查看您作业的服务账号创建一个有效期为八小时的令牌：",
  accountHint: "集群管理员可使用仪表板自己的账号：它可查看所有作业，但不能做任何更改。",
  oneMachine: "此集群运行在本机上。运行以下命令可打印无需令牌的登录链接：",
  tokenKept:
    "令牌加密保存在此浏览器中，自上次访问起保留七天；脚本无法读取，也不会发送给其他服务器。",
  submit: "登录",
  empty: "请先粘贴令牌。",
  withCode: "正在使用一次性代码登录…",
  codeFailed:
    "链接中的一次性代码已失效：它只能在短时间内使用一次。" +
    "请重新运行输出该链接的命令，或使用令牌登录。",
  tokenFailed:
    "集群不接受此令牌：它可能已过期、不完整，或属于另一个集群。请用下面的命令创建新的令牌。",
  reason: "原因：",
};
