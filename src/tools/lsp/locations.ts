// What servers say about places in files, read with distrust and told as path:line:column and the line's text. Lines and columns begin at 1.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  isObject,
  isSecretFile,
  escapeInvisibleLine,
  isPathInside,
  type Json,
  type Workspace,
} from '../../core/index.ts';

const maxLineLength = 200;

/** A position as the protocol counts: lines and columns begin at 0. */
export type LspPosition = { readonly line: number; readonly character: number };

/** A place as the protocol tells it. */
export type LspLocation = { readonly uri: string; readonly start: LspPosition };

/** A place as a model and a person are told. */
export type SourceLocation = {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** The line's text; absent where the file is not in the workspace, or no longer so long. */
  readonly text?: string;
};

/** The lines of a text as the protocol counts them. */
export const splitLines = (text: string): readonly string[] => text.split(/\r\n|\n|\r/);

/** Where a range begins, or nothing where this is no range. */
export function parseRangeStart(range: unknown): LspPosition | undefined {
  const start = isObject(range) ? range['start'] : undefined;
  const { line, character } = isObject(start) ? start : {};
  return isNonNegativeInteger(line) && isNonNegativeInteger(character) ? { line, character } : undefined;
}

const isNonNegativeInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The places of an answer that is one location or link, a list of them, or nothing. */
export function parseLocations(answer: unknown): readonly LspLocation[] {
  const all: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return all.flatMap((each) => {
    if (!isObject(each)) return [];
    const uri = each['targetUri'] ?? each['uri'];
    const start = parseRangeStart(each['targetSelectionRange'] ?? each['targetRange'] ?? each['range']);
    return typeof uri === 'string' && start ? [{ uri, start }] : [];
  });
}

/** Tells places of one workspace, reading each file once. */
export function createLocationResolver(workspace: Workspace): (spot: LspLocation) => Promise<SourceLocation> {
  const texts = new Map<string, Promise<readonly string[]>>();
  const linesAt = (file: string): Promise<readonly string[]> => {
    const known = texts.get(file);
    if (known) return known;
    // A file that the workspace refuses is named, but nothing of it is shown.
    const read = isSecretFile(file)
      ? Promise.resolve([])
      : workspace.read(file, { unseen: true }).then(
          ({ text = '' }) => splitLines(text.replace(/^\ufeff/, '')),
          () => [],
        );
    texts.set(file, read);
    return read;
  };
  return async ({ uri, start }) => {
    const file = uriToPath(uri);
    const text = file === undefined ? undefined : (await linesAt(file))[start.line];
    return {
      path: displayPath(workspace.cwd, file ?? uri),
      line: start.line + 1,
      column: start.character + 1,
      ...(text === undefined ? {} : { text: escapeInvisibleLine(text.trim().slice(0, maxLineLength)) }),
    };
  };
}

/** The file of an address, or nothing where it is of another kind. */
export function uriToPath(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** A path as short as it can be said from the working folder. */
export function displayPath(cwd: string, file: string): string {
  const inside = path.isAbsolute(file) && file !== cwd && isPathInside(cwd, file);
  return escapeInvisibleLine(inside ? path.relative(cwd, file) : file);
}

/** A place on one line. */
export const formatLocation = ({ path: file, line, column, text }: SourceLocation): string =>
  `${file}:${line}:${column}${text === undefined ? '' : `: ${text}`}`;

/** A place as data. */
export const locationData = (place: SourceLocation): Json => ({ ...place });
