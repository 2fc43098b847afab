// A small part of Markdown as a tree, which components draw: paragraphs, lists, tables, code, emphasis, links. There is
// no HTML in it at all, so nothing of a text can become an element. Own code, because texts come from other people and are
// read again with each piece of a stream: `marked` 15 takes 5 s for 15 KB of hostile text, micromark 0.5 s for 6 KB.
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'strong'; inside: Inline[] }
  | { kind: 'em'; inside: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'link'; inside: Inline[]; href: string };
export type Node =
  | { kind: 'p' | 'heading' | 'quote'; inside: Inline[] }
  /** `level`: how deep it is in other lists; `start`: the number of the first item, if not 1. */
  | { kind: 'list'; ordered: boolean; items: Inline[][]; level?: number; start?: number }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'code'; text: string }
  | { kind: 'rule' };

const INLINE =
  /(`+)([^`]+?)\1|\*\*([^*]+?)\*\*|__([^_]+?)__|\*([^*\s][^*]*?)\*|!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)|(https?:\/\/[^\s<>)"'\]]+)/;
const DEPTH = 4;

function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  let rest = text;
  while (rest !== '') {
    const match = depth > DEPTH ? null : INLINE.exec(rest);
    if (!match) break;
    if (match.index > 0) found.push({ kind: 'text', text: rest.slice(0, match.index) });
    const [, , code, bold, under, italic, label, target, bare] = match;
    if (code !== undefined) found.push({ kind: 'code', text: code });
    else if (bold ?? under)
      found.push({ kind: 'strong', inside: inline((bold ?? under) as string, depth + 1) });
    else if (italic !== undefined) found.push({ kind: 'em', inside: inline(italic, depth + 1) });
    else if (bare !== undefined)
      found.push({ kind: 'link', inside: [{ kind: 'text', text: bare }], href: bare });
    else
      found.push({
        kind: 'link',
        inside: inline(label || (target ?? ''), depth + 1),
        href: target ?? '',
      });
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest !== '') found.push({ kind: 'text', text: rest });
  return found;
}

const ITEM = /^(\s{0,6})(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const LEVELS = 3;
/** The line below the head of a table. */
const RULER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const COLUMNS = 50;
/** `\|` is a bar inside a cell. */
const cells = (line: string): Inline[][] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/, COLUMNS)
    .map((one) => inline(one.trim().replaceAll('\\|', '|')));
const isStart = (line: string): boolean =>
  line.trim() === '' || ITEM.test(line) || /^(```|~~~|#{1,6}\s|>)/.test(line);

class Blocks {
  readonly nodes: Node[] = [];
  private at = 0;
  constructor(private readonly lines: string[]) {}

  read(): Node[] {
    while (this.at < this.lines.length) this.one(this.lines[this.at] ?? '');
    return this.nodes;
  }

  private one(line: string): void {
    const fence = /^(```+|~~~+)/.exec(line);
    if (fence) return this.code(fence[1] ?? '```');
    if (line.trim() === '') return void (this.at += 1);
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    if (heading) return this.push({ kind: 'heading', inside: inline(heading[1] ?? '') });
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return this.push({ kind: 'rule' });
    if (line.startsWith('>')) {
      return this.push({ kind: 'quote', inside: inline(line.replace(/^>\s?/, '')) });
    }
    if (ITEM.test(line)) return this.list();
    const below = this.lines[this.at + 1] ?? '';
    if (line.includes('|') && below.includes('|') && RULER.test(below)) return this.table();
    this.paragraph();
  }

  private push(node: Node): void {
    this.nodes.push(node);
    this.at += 1;
  }

  private code(fence: string): void {
    const text: string[] = [];
    this.at += 1;
    while (this.at < this.lines.length && !(this.lines[this.at] ?? '').startsWith(fence)) {
      text.push(this.lines[this.at] ?? '');
      this.at += 1;
    }
    this.push({ kind: 'code', text: text.join('\n') });
  }

  private list(): void {
    /** The indents of the lists around an item. */
    const indents: number[] = [];
    let list: (Node & { kind: 'list' }) | null = null;
    for (; this.at < this.lines.length; this.at += 1) {
      const match = ITEM.exec(this.lines[this.at] ?? '');
      if (!match) break;
      const [, { length: indent } = '', number, text = ''] = match;
      while (indents.length > 1 && indent < (indents.at(-1) ?? 0)) indents.pop();
      if (indents.length === 0 || indent > (indents.at(-1) ?? 0) + 1) indents.push(indent);
      const level = Math.min(indents.length - 1, LEVELS);
      const ordered = number !== undefined;
      if (!list || list.ordered !== ordered || (list.level ?? 0) !== level) {
        const start = Number(number ?? 1);
        list = { kind: 'list', ordered, items: [] };
        if (level > 0) list.level = level;
        if (start !== 1) list.start = start;
        this.nodes.push(list);
      }
      list.items.push(inline(text));
    }
  }

  private table(): void {
    const head = cells(this.lines[this.at] ?? '');
    const rows: Inline[][][] = [];
    this.at += 2;
    for (; this.at < this.lines.length; this.at += 1) {
      const line = this.lines[this.at] ?? '';
      if (!line.includes('|')) break;
      rows.push(cells(line));
    }
    this.nodes.push({ kind: 'table', head, rows });
  }

  private paragraph(): void {
    const text: string[] = [this.lines[this.at] ?? ''];
    this.at += 1;
    while (this.at < this.lines.length && !isStart(this.lines[this.at] ?? '')) {
      text.push(this.lines[this.at] ?? '');
      this.at += 1;
    }
    this.nodes.push({ kind: 'p', inside: inline(text.join('\n')) });
  }
}

export const markdown = (text: string): Node[] => new Blocks(text.split(/\r?\n/)).read();

/** Whether an address may be opened from a page at all. */
export const safe = (href: string): boolean => /^(https?:|mailto:)/i.test(href);
