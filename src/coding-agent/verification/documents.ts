// Reads the text files of a folder or file as evidence, with lines and hash, and reads them again before a verdict counts.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Evidence } from '../../checks/index.ts';
import { errorMessage, FairleadError, isSecretFile } from '../../core/index.ts';

const maxFiles = 5000;
const maxFileBytes = 1_000_000;
const maxTotalBytes = 32_000_000;
/** Lines of one piece of evidence. */
const linesPerPiece = 40;
const textFile =
  /\.(?:md|mdx|markdown|txt|rst|adoc|org|html?|csv|tsv|json|ya?ml|toml|ini|xml|tex|ts|tsx|js|jsx|mjs|cjs|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|css|scss|lua|r|scala)$|(?:^|\/)(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile)$/i;
const skippedFolders = new Set(['node_modules', '.git', 'dist', 'build', 'coverage', '.venv', '__pycache__']);

/** Documents that claims are compared with. */
export type Documents = {
  readonly evidence: readonly Evidence[];
  /** The number of files. */
  readonly files: number;
  /** Files that were not read, for a message. */
  readonly skipped: number;
  /** Reads a piece of evidence again; undefined if its file is gone or changed. */
  readonly refresh: (evidence: Evidence) => Promise<Evidence | undefined>;
};

/** Reads the documents of a folder or of one file. `exclude` is a file that must not be its own evidence. */
export function readDocuments(root: string, exclude?: string): Documents {
  const start = resolveRoot(root);
  const excluded = exclude === undefined ? undefined : realpathSync(exclude);
  const evidence: Evidence[] = [];
  let files = 0;
  let skipped = 0;
  let total = 0;
  for (const file of listFiles(start)) {
    if (file === excluded) continue;
    const text = files >= maxFiles || total >= maxTotalBytes ? undefined : readText(file);
    if (text === undefined) {
      skipped += 1;
      continue;
    }
    files += 1;
    total += text.length;
    evidence.push(...splitDocument(formatPath(start, file), text));
  }
  return { evidence, files, skipped, refresh: (each) => Promise.resolve(readAgain(start, each)) };
}

function resolveRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    throw new FairleadError('verify/no-documents', `The documents cannot be read: ${errorMessage(error)}`, {
      blame: 'user',
    });
  }
}

function listFiles(start: string): readonly string[] {
  if (statSync(start).isFile()) return [start];
  const found: string[] = [];
  const folders = [start];
  for (let folder = folders.pop(); folder !== undefined && found.length <= 4 * maxFiles; folder = folders.pop())
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && !skippedFolders.has(entry.name) && !entry.name.startsWith('.')) folders.push(file);
      // Links are not followed: they may leave the folder.
      else if (entry.isFile() && textFile.test(entry.name) && !isSecretFile(file)) found.push(file);
    }
  return found.toSorted();
}

function readText(file: string): string | undefined {
  try {
    if (statSync(file).size > maxFileBytes) return undefined;
    const text = readFileSync(file, 'utf8');
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}

const formatPath = (start: string, file: string): string =>
  file === start ? path.basename(file) : path.relative(start, file).split(path.sep).join('/');

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

function splitDocument(name: string, text: string): readonly Evidence[] {
  const hash = hashText(text);
  const lines = text.split('\n');
  const pieces: Evidence[] = [];
  for (let from = 0; from < lines.length; from += linesPerPiece) {
    const part = lines.slice(from, from + linesPerPiece);
    // A paragraph that a cut would split belongs to the piece before it.
    while (
      from + part.length < lines.length &&
      (lines[from + part.length] ?? '').trim() !== '' &&
      part.length < 2 * linesPerPiece
    )
      part.push(lines[from + part.length] ?? '');
    const source = { type: 'document', path: name, lines: [from + 1, from + part.length], hash } as const;
    if (part.join('').trim() !== '') pieces.push({ source, text: part.join('\n') });
    from += part.length - linesPerPiece;
  }
  return pieces;
}

/** The same piece, if its file has the same hash. */
function readAgain(start: string, evidence: Evidence): Evidence | undefined {
  const { source } = evidence;
  if (source.type !== 'document') return evidence;
  const text = readText(statSync(start).isFile() ? start : path.join(start, source.path));
  return text !== undefined && hashText(text) === source.hash ? evidence : undefined;
}
