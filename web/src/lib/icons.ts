// Each icon of the page under the name that the design gives it (lucide, ISC licence).
// Each has its own file: the index of all of them takes a build half a minute to read.
import Activity from 'lucide/dist/esm/icons/activity.js';
import AlarmClock from 'lucide/dist/esm/icons/alarm-clock.js';
import ArrowLeft from 'lucide/dist/esm/icons/arrow-left.js';
import ArrowRight from 'lucide/dist/esm/icons/arrow-right.js';
import Ban from 'lucide/dist/esm/icons/ban.js';
import Bell from 'lucide/dist/esm/icons/bell.js';
import Bot from 'lucide/dist/esm/icons/bot.js';
import Camera from 'lucide/dist/esm/icons/camera.js';
import Check from 'lucide/dist/esm/icons/check.js';
import ChevronDown from 'lucide/dist/esm/icons/chevron-down.js';
import ChevronLeft from 'lucide/dist/esm/icons/chevron-left.js';
import ChevronRight from 'lucide/dist/esm/icons/chevron-right.js';
import Circle from 'lucide/dist/esm/icons/circle.js';
import CircleCheck from 'lucide/dist/esm/icons/circle-check.js';
import CircleDollarSign from 'lucide/dist/esm/icons/circle-dollar-sign.js';
import CirclePause from 'lucide/dist/esm/icons/circle-pause.js';
import CircleQuestionMark from 'lucide/dist/esm/icons/circle-question-mark.js';
import CircleSlash from 'lucide/dist/esm/icons/circle-slash.js';
import CircleStop from 'lucide/dist/esm/icons/circle-stop.js';
import CircleX from 'lucide/dist/esm/icons/circle-x.js';
import ClockAlert from 'lucide/dist/esm/icons/clock-alert.js';
import CloudOff from 'lucide/dist/esm/icons/cloud-off.js';
import Copy from 'lucide/dist/esm/icons/copy.js';
import Download from 'lucide/dist/esm/icons/download.js';
import Ellipsis from 'lucide/dist/esm/icons/ellipsis.js';
import FileText from 'lucide/dist/esm/icons/file-text.js';
import Folder from 'lucide/dist/esm/icons/folder.js';
import GitFork from 'lucide/dist/esm/icons/git-fork.js';
import Hand from 'lucide/dist/esm/icons/hand.js';
import Info from 'lucide/dist/esm/icons/info.js';
import Inbox from 'lucide/dist/esm/icons/inbox.js';
import KeyRound from 'lucide/dist/esm/icons/key-round.js';
import ListTree from 'lucide/dist/esm/icons/list-tree.js';
import LoaderCircle from 'lucide/dist/esm/icons/loader-circle.js';
import Lock from 'lucide/dist/esm/icons/lock.js';
import LogOut from 'lucide/dist/esm/icons/log-out.js';
import Mail from 'lucide/dist/esm/icons/mail.js';
import Maximize from 'lucide/dist/esm/icons/maximize.js';
import MessageCircleQuestionMark from 'lucide/dist/esm/icons/message-circle-question-mark.js';
import MessagesSquare from 'lucide/dist/esm/icons/messages-square.js';
import Minus from 'lucide/dist/esm/icons/minus.js';
import Moon from 'lucide/dist/esm/icons/moon.js';
import Paperclip from 'lucide/dist/esm/icons/paperclip.js';
import Pencil from 'lucide/dist/esm/icons/pencil.js';
import Plug from 'lucide/dist/esm/icons/plug.js';
import Plus from 'lucide/dist/esm/icons/plus.js';
import Power from 'lucide/dist/esm/icons/power.js';
import Quote from 'lucide/dist/esm/icons/quote.js';
import RotateCcw from 'lucide/dist/esm/icons/rotate-ccw.js';
import RotateCw from 'lucide/dist/esm/icons/rotate-cw.js';
import Scale from 'lucide/dist/esm/icons/scale.js';
import ScrollText from 'lucide/dist/esm/icons/scroll-text.js';
import Search from 'lucide/dist/esm/icons/search.js';
import Send from 'lucide/dist/esm/icons/send.js';
import Server from 'lucide/dist/esm/icons/server.js';
import ShieldCheck from 'lucide/dist/esm/icons/shield-check.js';
import Sparkles from 'lucide/dist/esm/icons/sparkles.js';
import Stamp from 'lucide/dist/esm/icons/stamp.js';
import Sunrise from 'lucide/dist/esm/icons/sunrise.js';
import Terminal from 'lucide/dist/esm/icons/terminal.js';
import Timer from 'lucide/dist/esm/icons/timer.js';
import TimerOff from 'lucide/dist/esm/icons/timer-off.js';
import TriangleAlert from 'lucide/dist/esm/icons/triangle-alert.js';
import User from 'lucide/dist/esm/icons/user.js';
import UserLock from 'lucide/dist/esm/icons/user-lock.js';
import Users from 'lucide/dist/esm/icons/users.js';
import Webhook from 'lucide/dist/esm/icons/webhook.js';
import Wrench from 'lucide/dist/esm/icons/wrench.js';
import X from 'lucide/dist/esm/icons/x.js';
import Zap from 'lucide/dist/esm/icons/zap.js';
import ZoomIn from 'lucide/dist/esm/icons/zoom-in.js';
import ZoomOut from 'lucide/dist/esm/icons/zoom-out.js';

export const icons = {
  activity: Activity,
  'alarm-clock': AlarmClock,
  'arrow-left': ArrowLeft,
  'arrow-right': ArrowRight,
  ban: Ban,
  bell: Bell,
  bot: Bot,
  camera: Camera,
  check: Check,
  'chevron-down': ChevronDown,
  'chevron-left': ChevronLeft,
  'chevron-right': ChevronRight,
  circle: Circle,
  'circle-check': CircleCheck,
  cost: CircleDollarSign,
  'circle-pause': CirclePause,
  'circle-question-mark': CircleQuestionMark,
  'circle-slash': CircleSlash,
  stop: CircleStop,
  'circle-x': CircleX,
  'clock-alert': ClockAlert,
  offline: CloudOff,
  copy: Copy,
  download: Download,
  more: Ellipsis,
  file: FileText,
  folder: Folder,
  fork: GitFork,
  hand: Hand,
  info: Info,
  inbox: Inbox,
  key: KeyRound,
  'list-tree': ListTree,
  'loader-circle': LoaderCircle,
  lock: Lock,
  'log-out': LogOut,
  mail: Mail,
  fit: Maximize,
  'message-circle-question-mark': MessageCircleQuestionMark,
  sessions: MessagesSquare,
  minus: Minus,
  moon: Moon,
  paperclip: Paperclip,
  pencil: Pencil,
  'plug-zap': Plug,
  plus: Plus,
  power: Power,
  quote: Quote,
  again: RotateCcw,
  'rotate-cw': RotateCw,
  scale: Scale,
  scroll: ScrollText,
  search: Search,
  send: Send,
  server: Server,
  'shield-check': ShieldCheck,
  sparkles: Sparkles,
  stamp: Stamp,
  sunrise: Sunrise,
  terminal: Terminal,
  timer: Timer,
  'timer-off': TimerOff,
  warning: TriangleAlert,
  user: User,
  'user-lock': UserLock,
  users: Users,
  webhook: Webhook,
  wrench: Wrench,
  x: X,
  zap: Zap,
  'zoom-in': ZoomIn,
  'zoom-out': ZoomOut,
} as const;

export type IconName = keyof typeof icons;

type Shape = readonly [string, Record<string, string | number | undefined>];
const paths = new Map<IconName, string>();

/** An icon as one path: a page has hundreds of them, and each element takes time. */
export function pathOf(name: IconName): string {
  let path = paths.get(name);
  if (path === undefined) {
    path = (icons[name] as unknown as Shape[]).map(([tag, shape]) => outline(tag, shape)).join('');
    paths.set(name, path);
  }
  return path;
}

function outline(tag: string, shape: Shape[1]): string {
  const n = (key: string): number => Number(shape[key] ?? 0);
  switch (tag) {
    case 'path':
      return `M0 0${shape['d']}`; // an `m` at its beginning is from there
    case 'circle':
      return round(n('cx'), n('cy'), n('r'), n('r'));
    case 'ellipse':
      return round(n('cx'), n('cy'), n('rx'), n('ry'));
    case 'line':
      return `M${n('x1')} ${n('y1')}L${n('x2')} ${n('y2')}`;
    case 'polyline':
      return `M${shape['points']}`;
    case 'polygon':
      return `M${shape['points']}Z`;
    case 'rect':
      return box(n('x'), n('y'), n('width'), n('height'), Number(shape['rx'] ?? shape['ry'] ?? 0));
    default:
      throw new Error(`an icon has a ${tag}`);
  }
}
const round = (x: number, y: number, rx: number, ry: number): string =>
  `M${x - rx} ${y}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0`;
function box(x: number, y: number, width: number, height: number, r: number): string {
  const arc = (dx: number, dy: number): string => (r ? `a${r} ${r} 0 0 1 ${dx} ${dy}` : '');
  return `M${x + r} ${y}h${width - 2 * r}${arc(r, r)}v${height - 2 * r}${arc(-r, r)}h${2 * r - width}${arc(-r, -r)}v${2 * r - height}${arc(r, -r)}Z`;
}
