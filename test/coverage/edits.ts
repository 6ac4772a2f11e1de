import { editBeside, moveAside } from './beside.ts';
import type { Entry } from './objects.ts';
import type { Random } from './random.ts';

/** Files as texts: what is written into a commit. Bytes are characters below 256. */
export type Texts = ReadonlyMap<string, Text>;

export interface Text {
  mode: Entry['mode'];
  /** Of a submodule: the commit. */
  text: string;
}

/** A change of lines that can be made at another place that looks alike. */
export interface LineEdit {
  path: string;
  at: number;
  remove: number;
  insert: readonly string[];
}

export interface Edited {
  files: Texts;
  /** What was done, where that was one change of lines. */
  edit: LineEdit | null;
  kind: string;
}

export const FILE = '100644';
const WORDS = ['open', 'shut', 'read', 'send', 'wait', 'done'];

/** Some blocks of lines, which repeat themselves in some files: there a patch fits at several places. */
export function firstFiles(random: Random): Texts {
  const files = new Map<string, Text>();
  for (let n = 0; n <= random.below(3); n++) {
    const lines = random.chance(0.4) ? repeatedLines(random) : freshLines(random, 8 + random.below(23));
    files.set(random.chance(0.3) ? `src/${n}.txt` : `${n}.txt`, { mode: FILE, text: joinLines(random, lines) });
  }
  if (random.chance(0.25)) files.set('docs/guide.md', { mode: FILE, text: 'a guide\n' });
  if (random.chance(0.2)) files.set('image.bin', { mode: FILE, text: `\0\xff${random.below(1000)}\n\0` });
  if (random.chance(0.2)) files.set('link', { mode: '120000', text: '0.txt' });
  if (random.chance(0.15)) files.set('run.sh', { mode: '100755', text: 'exit 0\n' });
  if (random.chance(0.1)) files.set('library', { mode: '160000', text: '1'.repeat(40) });
  if (random.chance(0.2)) files.set('.gitattributes', { mode: FILE, text: attributes(random) });
  return files;
}

function attributes(random: Random): string {
  return `${random.one(['* merge=ours', '*.txt merge=union', '*.txt -merge', '*.txt binary', '* text=auto eol=crlf'])}\n`;
}

function repeatedLines(random: Random): string[] {
  const block = freshLines(random, 7 + random.below(3));
  return Array.from({ length: 3 + random.below(2) }, () => block).flat();
}

function freshLines(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => freshLine(random));
}

function freshLine(random: Random): string {
  return random.chance(0.15) ? '}' : `${random.one(WORDS)} ${random.below(100_000)}`;
}

function joinLines(random: Random, lines: readonly string[]): string {
  return lines.join('\n') + (random.chance(0.9) ? '\n' : '');
}

/** One or two changes. `mark` is in it somewhere: nothing that was done before is the same. */
export function edit(random: Random, files: Texts, mark?: string): Edited {
  if (textPaths(files).length === 0) return addFile(random, files, mark);
  const lines = editLines(random, files, mark);
  if (random.chance(mark === undefined ? 0.6 : 0.9)) return lines;
  const other = random.one(mark === undefined ? [...OTHERS, ...ASIDE] : OTHERS)(
    random,
    mark === undefined && random.chance(0.5) ? files : lines.files,
  );
  return { ...other, edit: null };
}

type Editor = (random: Random, files: Texts) => Edited;

function editLines(random: Random, files: Texts, mark?: string): Edited {
  const path = random.one(textPaths(files));
  const { lines } = linesOf(files.get(path)!.text);
  const at = random.below(lines.length + 1);
  const remove = Math.min(random.below(3), lines.length - at);
  const insert = freshLines(random, remove === 0 ? 1 + random.below(2) : random.below(3));
  if (mark !== undefined) insert.push(mark);
  const made = { path, at, remove, insert };
  return { files: applyEdit(files, made)!, edit: made, kind: 'lines' };
}

export function textPaths(files: Texts): string[] {
  return [...files].filter(([path, { mode }]) => path.endsWith('.txt') && mode === FILE).map(([path]) => path);
}

/** Null where the file has no such lines. */
export function applyEdit(files: Texts, { path, at, remove, insert }: LineEdit): Texts | null {
  const file = files.get(path);
  if (!file) return null;
  const { lines, end } = linesOf(file.text);
  if (at + remove > lines.length) return null;
  const text = lines.toSpliced(at, remove, ...insert).join('\n') + end;
  return new Map([...files, [path, { ...file, text }]]);
}

function linesOf(text: string): { lines: string[]; end: string } {
  const end = text.endsWith('\n') ? '\n' : '';
  const body = text.slice(0, text.length - end.length);
  return { lines: body === '' ? [] : body.split('\n'), end };
}

const OTHERS: readonly Editor[] = [
  rename,
  addFile,
  deleteFile,
  changeMode,
  changeSpecial,
  changeGuide,
  replaceByFolder,
];

/** Git may follow these from code, or into it: what it merges then wants an account, also where it is honest. */
const ASIDE: readonly Editor[] = [editBeside, editBeside, moveAside];

function rename(random: Random, files: Texts): Edited {
  const path = random.one(textPaths(files));
  const moved = new Map([...files].filter(([each]) => each !== path));
  moved.set(`moved/${random.below(100)}.txt`, files.get(path)!);
  return { files: moved, edit: null, kind: 'rename' };
}

function addFile(random: Random, files: Texts, mark?: string): Edited {
  const lines = [...freshLines(random, 1 + random.below(9)), ...(mark === undefined ? [] : [mark])];
  const text = joinLines(random, lines);
  return {
    files: new Map([...files, [`new-${random.below(1000)}.txt`, { mode: FILE, text }]]),
    edit: null,
    kind: 'add',
  };
}

function deleteFile(random: Random, files: Texts): Edited {
  const paths = textPaths(files);
  if (paths.length < 2) return addFile(random, files);
  const gone = random.one(paths);
  return { files: new Map([...files].filter(([path]) => path !== gone)), edit: null, kind: 'delete' };
}

function changeMode(random: Random, files: Texts): Edited {
  const path = random.one(textPaths(files));
  if (textPaths(files).length < 2) return addFile(random, files);
  return { files: new Map([...files, [path, { ...files.get(path)!, mode: '100755' }]]), edit: null, kind: 'mode' };
}

/** A binary file, a link or a submodule. */
function changeSpecial(random: Random, files: Texts): Edited {
  const [path, text, mode] = random.one([
    ['image.bin', `\0\xff${random.below(1000)}\n\0`, FILE],
    ['link', `${random.below(9)}.txt`, '120000'],
    ['library', String(1 + random.below(9)).repeat(40), '160000'],
    ['docs/link.md', `${random.below(9)}.txt`, '120000'],
  ] as const);
  return { files: new Map([...files, [path, { mode, text }]]), edit: null, kind: path };
}

/** What asks for no account. */
function changeGuide(random: Random, files: Texts): Edited {
  const text = joinLines(random, freshLines(random, 3));
  return { files: new Map([...files, ['docs/guide.md', { mode: FILE, text }]]), edit: null, kind: 'exempt' };
}

function replaceByFolder(random: Random, files: Texts): Edited {
  const paths = textPaths(files);
  if (paths.length < 2 || random.chance(0.6)) return addFile(random, files);
  const path = random.one(paths);
  const others = [...files].filter(([each]) => each !== path);
  return { files: new Map([...others, [`${path}/inside.txt`, files.get(path)!]]), edit: null, kind: 'folder' };
}
