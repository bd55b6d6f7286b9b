// Diagnostics of a document: requested if the server supports that, otherwise awaited as published.
import { isObject, raceAbort, escapeInvisibleLine, type Json } from '../../core/index.ts';
import type { OpenDocument } from './documents.ts';
import { parseRangeStart } from './locations.ts';
import type { LanguageServer } from './server-lifecycle.ts';

const maxDiagnosticsRead = 1000;
const maxMessageLength = 400;
/** Milliseconds to wait for published diagnostics. */
const publishTimeoutMs = 5000;

/** A diagnostic; lines and columns start at 1. */
export type LspDiagnostic = {
  readonly severity: 'error' | 'warning' | 'info';
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly code?: string;
};

const severities = ['error', 'warning', 'info'] as const;

/** Returns the diagnostics of the current document without hints; undefined if the server did not report in time. */
export async function getDiagnostics(
  server: LanguageServer,
  document: OpenDocument,
  signal: AbortSignal,
): Promise<readonly LspDiagnostic[] | undefined> {
  const { uri } = document;
  if (!server.connection.capabilities['diagnosticProvider']) return waitForPublished(server, document, signal);
  const report = await server.request('textDocument/diagnostic', { textDocument: { uri } }, signal);
  return isObject(report) ? parseDiagnostics(report['items']) : undefined;
}

async function waitForPublished(
  { connection }: LanguageServer,
  { uri, version }: OpenDocument,
  signal: AbortSignal,
): Promise<readonly LspDiagnostic[] | undefined> {
  const { promise: timeoutReached, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, publishTimeoutMs);
  const deadline = Date.now() + publishTimeoutMs;
  try {
    for (;;) {
      const published = connection.published.get(uri);
      if (published && (published.version ?? version) >= version) return parseDiagnostics(published.items);
      if (Date.now() >= deadline || !connection.isRunning()) return undefined;
      await raceAbort(signal, () => Promise.race([connection.nextPublished(), timeoutReached]));
    }
  } finally {
    clearTimeout(timer);
  }
}

function parseDiagnostics(items: unknown): readonly LspDiagnostic[] {
  if (!Array.isArray(items)) return [];
  return items.slice(0, maxDiagnosticsRead).flatMap((item: unknown) => {
    if (!isObject(item)) return [];
    const { message, code, severity = 1 } = item;
    const start = parseRangeStart(item['range']);
    const rank = typeof severity === 'number' ? severities[severity - 1] : undefined;
    if (!start || !rank || typeof message !== 'string') return [];
    return {
      severity: rank,
      line: start.line + 1,
      column: start.character + 1,
      message: escapeInvisibleLine(message.slice(0, maxMessageLength).replaceAll(/\s*\n\s*/g, ' ')),
      ...(typeof code === 'string' || typeof code === 'number'
        ? { code: escapeInvisibleLine(String(code).slice(0, 40)) }
        : {}),
    };
  });
}

/** Formats a diagnostic on one line, without its file. */
export const formatDiagnostic = ({ severity, line, column, message, code }: LspDiagnostic): string =>
  `${line}:${column}: ${severity}${code === undefined ? '' : ` ${code}`}: ${message}`;

/** Returns a diagnostic as data, with its file. */
export const diagnosticData = (path: string, problem: LspDiagnostic): Json => ({ path, ...problem });

/** Returns the diagnostics that are only in the second list, ignoring line numbers: an edit moves lines. */
export function newDiagnostics(
  before: readonly LspDiagnostic[],
  after: readonly LspDiagnostic[],
): readonly LspDiagnostic[] {
  const left = new Map<string, number>();
  const key = ({ severity, code = '', message }: LspDiagnostic): string => JSON.stringify([severity, code, message]);
  for (const each of before) left.set(key(each), (left.get(key(each)) ?? 0) + 1);
  return after.filter((each) => {
    const count = left.get(key(each)) ?? 0;
    left.set(key(each), count - 1);
    return count <= 0;
  });
}
