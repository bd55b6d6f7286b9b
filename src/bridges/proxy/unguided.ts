// Requests that the proxy forwards without applying the rules: each path is reported once, and refused in strict mode.
import type { IncomingHttpHeaders } from 'node:http';
import { escapeInvisibleLine } from '../../core/index.ts';

/** Paths whose responses hold no calls of tools: embeddings, moderation, ranking, counts of tokens. */
const harmlessPattern =
  /(?:\/(?:embed|embeddings|moderations|rerank|tokenize|detokenize|count_tokens|input_tokens)|:(?:countTokens|embedContent|batchEmbedContents))\/?$/;
const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);
/** How many paths are remembered; later ones are refused in strict mode too, but not reported. */
const maxReportedPaths = 100;
const maxReportedChars = 200;

/** Whether a response to this request could hold calls of tools that no rule sees. A server that ignores the method may answer a body as it answers that of a POST. */
export const isUnguided = (method: string, pathname: string, headers: IncomingHttpHeaders): boolean =>
  (!readMethods.has(method) || hasBody(headers)) && !harmlessPattern.test(pathname);

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Creates the function that reports an unguided path, once. */
export function createUnguidedReport(notify: (sentence: string) => void): (method: string, pathname: string) => void {
  const reported = new Set<string>();
  return (method, pathname) => {
    // A path with an id, such as that of a file, is reported once for all ids.
    const general = pathname.replaceAll(/\/[^/]*\d[^/]*(?=\/|$)/g, (part) => (/^\/v\d+\w*$/.test(part) ? part : '/…'));
    const key = `${method} ${general}`.slice(0, maxReportedChars);
    if (reported.has(key) || reported.size >= maxReportedPaths) return;
    reported.add(key);
    notify(
      `${escapeInvisibleLine(key)} is forwarded without rules: the proxy does not read this format. --strict refuses it.`,
    );
  };
}
