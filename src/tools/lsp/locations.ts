// Locations reported by language servers: validated, and formatted as path:line:column with the text of the line. Lines and columns start at 1.
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

/** A position of the protocol: lines and columns start at 0. */
export type LspPosition = { readonly line: number; readonly character: number };

/** A location of the protocol. */
export type LspLocation = { readonly uri: string; readonly start: LspPosition };

/** A location as shown to the model and the user. */
export type SourceLocation = {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** The text of the line; absent if the file is outside the workspace or has fewer lines now. */
  readonly text?: string;
};

/** Splits a text into lines as the protocol counts them. */
export const splitLines = (text: string): readonly string[] => text.split(/\r\n|\n|\r/);

/** Returns the start of a range; undefined if it is invalid. */
export function parseRangeStart(range: unknown): LspPosition | undefined {
  const start = isObject(range) ? range['start'] : undefined;
  const { line, character } = isObject(start) ? start : {};
  return isNonNegativeInteger(line) && isNonNegativeInteger(character) ? { line, character } : undefined;
}

const isNonNegativeInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Returns the locations of a response: one location or link, a list of them, or none. */
export function parseLocations(answer: unknown): readonly LspLocation[] {
  const all: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return all.flatMap((each) => {
    if (!isObject(each)) return [];
    const uri = each['targetUri'] ?? each['uri'];
    const start = parseRangeStart(each['targetSelectionRange'] ?? each['targetRange'] ?? each['range']);
    return typeof uri === 'string' && start ? [{ uri, start }] : [];
  });
}

/** Creates a resolver of locations that reads each file once. */
export function createLocationResolver(workspace: Workspace): (spot: LspLocation) => Promise<SourceLocation> {
  const texts = new Map<string, Promise<readonly string[]>>();
  const linesAt = (file: string): Promise<readonly string[]> => {
    const known = texts.get(file);
    if (known) return known;
    // A file that the workspace refuses is named, but its content is not shown.
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

/** Returns the path of a file URI; undefined for other URIs. */
export function uriToPath(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** Returns a path relative to the working folder if it is inside. */
export function displayPath(cwd: string, file: string): string {
  const inside = path.isAbsolute(file) && file !== cwd && isPathInside(cwd, file);
  return escapeInvisibleLine(inside ? path.relative(cwd, file) : file);
}

/** Formats a location on one line. */
export const formatLocation = ({ path: file, line, column, text }: SourceLocation): string =>
  `${file}:${line}:${column}${text === undefined ? '' : `: ${text}`}`;

/** Returns a location as data. */
export const locationData = (place: SourceLocation): Json => ({ ...place });
