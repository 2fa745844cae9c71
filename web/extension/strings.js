// Everything the extension says, in both languages. Keys that end in "Title" and
// "Body" belong to one notice.

const en = {
  ask: "Ask",
  stop: "Stop",
  questionLabel: "Your question",
  questionHint: "Ask anything",
  questionHintPage: "Ask about this page",
  keys: "Enter asks, Shift+Enter starts a new line, Escape stops.",
  usePage: "Use this page",
  selected: "Selected",
  pageLocked: "Press the Plexus button in the toolbar to use this page.",
  pagePrivate: "Private window: nothing of it is used.",
  pageNone: "There is no web page here to use.",
  pageBare: "Only title and address: no text can be read here.",
  pageOff: "Nothing of this page is sent.",
  connecting: "Connecting…",
  open: "Connected",
  notRunning: "Not running",
  notAllowed: "Not allowed yet",
  reconnecting: "Reconnecting…",
  settings: "Settings",
  notRunningTitle: "Plexus is not running",
  notRunningBody: "Start it in a terminal. This panel connects by itself.",
  notAllowedTitle: "Not allowed yet",
  notAllowedBody: "Plexus is running but has not let this extension in. Run this command in a terminal to let it in. This panel connects by itself.",
  digitsLabel: "Its four digits",
  startCommand: "Start Plexus",
  tokenCommand: "Find the token",
  allowCommand: "Allow this extension",
  wrongTokenTitle: "The host token is not accepted",
  wrongTokenBody: "Plexus is running but does not accept the host token from the settings. Remove it there, or put in the one that this command points to.",
  reconnectingTitle: "The connection was lost",
  reconnectingBody: "Trying again. What you see stays.",
  retry: "Retry now",
  retrying: "Trying…",
  copy: "Copy",
  copied: "Copied",
  emptyTitle: "Ask about what you read",
  emptyBody: "Answers come from the page in front of you, from pages you asked about before, and from what you have set up in Plexus. Nothing leaves this machine unless you set a service elsewhere.",
  searching: "Looking…",
  nothingTitle: "Nothing found",
  nothingBody: "Open a page and ask about it, or ask in other words.",
  results: "Results",
  tookMs: "{ms} ms",
  interruptedNote: "Interrupted: the connection was lost before the answer was complete.",
  cancelledNote: "Stopped.",
  unreadableNote: "Plexus sent an answer that this panel cannot read. Its version may be too old or too new.",
  askAgain: "Ask again",
  pageMark: "This page",
  settingsTitle: "Plexus settings",
  addressLabel: "Address",
  addressHelp: "Where Plexus listens for extensions. Only this machine: ws://127.0.0.1 or ws://localhost.",
  addressBad: "Use an address such as ws://127.0.0.1:9001.",
  tokenLabel: "Host token (optional)",
  tokenHelp: "Only if you want this extension in without allowing it: the content of the file that “plexus token path” names.",
  tokenBad: "A host token has 64 characters, 0–9 and a–f.",
  languageLabel: "Language",
  languageAuto: "As the browser",
  usePageDefault: "Use this page by default",
  usePageHelp: "New panels start with “Use this page” on. It is never on in a private window.",
  save: "Save",
  saved: "Saved.",
};

const zh = {
  ask: "提问",
  stop: "停止",
  questionLabel: "你的问题",
  questionHint: "想问什么？",
  questionHintPage: "就此网页提问",
  keys: "Enter 提问，Shift+Enter 换行，Esc 停止。",
  usePage: "使用此网页",
  selected: "已选文字",
  pageLocked: "点击工具栏上的 Plexus 按钮，即可使用此网页。",
  pagePrivate: "隐私窗口：不会使用其中任何内容。",
  pageNone: "这里没有可用的网页。",
  pageBare: "仅标题和地址：此处没有可读取的文字。",
  pageOff: "不会发送此网页的任何内容。",
  connecting: "正在连接…",
  open: "已连接",
  notRunning: "未运行",
  notAllowed: "尚未允许",
  reconnecting: "正在重新连接…",
  settings: "设置",
  notRunningTitle: "Plexus 没有运行",
  notRunningBody: "请在终端中启动它，面板会自动连接。",
  notAllowedTitle: "尚未允许",
  notAllowedBody: "Plexus 正在运行，但尚未允许这个扩展。请在终端中运行下面的命令来允许它，面板会自动连接。",
  digitsLabel: "四位数字",
  startCommand: "启动 Plexus",
  tokenCommand: "查找令牌",
  allowCommand: "允许此扩展",
  wrongTokenTitle: "主机令牌未被接受",
  wrongTokenBody: "Plexus 正在运行，但不接受设置中的主机令牌。请在设置中删除它，或填入下面命令所指文件中的令牌。",
  reconnectingTitle: "连接已断开",
  reconnectingBody: "正在重试，当前内容会保留。",
  retry: "立即重试",
  retrying: "正在重试…",
  copy: "复制",
  copied: "已复制",
  emptyTitle: "就你正在阅读的内容提问",
  emptyBody: "答案来自眼前的网页、你以前问过的网页，以及你在 Plexus 中设置的服务。只要你没有设置外部服务，内容就不会离开本机。",
  searching: "正在查找…",
  nothingTitle: "没有找到",
  nothingBody: "请打开一个网页并就它提问，或换个说法。",
  results: "结果",
  tookMs: "{ms} 毫秒",
  interruptedNote: "已中断：答案完成之前连接断开了。",
  cancelledNote: "已停止。",
  unreadableNote: "Plexus 发来的答案无法读取，可能是版本过旧或过新。",
  askAgain: "再问一次",
  pageMark: "此网页",
  settingsTitle: "Plexus 设置",
  addressLabel: "地址",
  addressHelp: "Plexus 等待扩展连接的地址。只能是本机：ws://127.0.0.1 或 ws://localhost。",
  addressBad: "请使用类似 ws://127.0.0.1:9001 的地址。",
  tokenLabel: "主机令牌（可选）",
  tokenHelp: "仅当你不想逐个允许此扩展时填写：“plexus token path” 所指文件的内容。",
  tokenBad: "主机令牌是 64 个字符，只含 0–9 和 a–f。",
  languageLabel: "语言",
  languageAuto: "跟随浏览器",
  usePageDefault: "默认使用此网页",
  usePageHelp: "新面板打开时“使用此网页”即为开启。隐私窗口中永不开启。",
  save: "保存",
  saved: "已保存。",
};

export const languages = Object.freeze({ en, "zh-CN": zh });

/** The language to speak: the one that was set, else the browser's, else English. */
export function pickLanguage(set, browser = globalThis.navigator?.language ?? "en") {
  if (set in languages) return set;
  return browser.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

/** Gives say(key, values) for one language; {name} in a text stands for a value. */
export function speaker(language) {
  return (key, values = {}) => languages[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Fills every element that names its text in data-say, data-say-label or data-say-hint. */
export function translate(root, say, language) {
  root.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of root.querySelectorAll("[data-say-label]")) element.setAttribute("aria-label", say(element.dataset.sayLabel));
  for (const element of root.querySelectorAll("[data-say-title]")) element.title = say(element.dataset.sayTitle);
}
