// Reads the hints of an MCP server for information flow control: annotations of its tools, and `_meta.ifc` of tools and results. What cannot be read counts as untrusted and private.
import { isObject, type FlowLabels, type ToolHints } from '../../core/index.ts';
import type { McpServer } from './server.ts';

const maxFields = 200;
/** Labels that say less than they should: the value is there, and cannot be read. */
const unreadable: FlowLabels = { integrity: 'untrusted', confidentiality: 'private' };

/** Reads `_meta.ifc`; undefined if there is none. `confidentiality` may be a list of readers: only a list with `public` alone is public. */
export function parseFlowLabels(meta: unknown): FlowLabels | undefined {
  const given = isObject(meta) ? meta['ifc'] : undefined;
  if (given === undefined) return undefined;
  if (!isObject(given)) return unreadable;
  const { integrity, confidentiality, fields = {} } = given;
  if (!isObject(fields) || Object.keys(fields).length > maxFields) return unreadable;
  const readers = Array.isArray(confidentiality) ? confidentiality : [confidentiality];
  return {
    ...(integrity === undefined ? {} : { integrity: integrity === 'trusted' ? integrity : 'untrusted' }),
    ...(confidentiality === undefined
      ? {}
      : { confidentiality: readers.length === 1 && readers[0] === 'public' ? 'public' : 'private' }),
    ...(Object.keys(fields).length === 0
      ? {}
      : {
          fields: Object.fromEntries(
            Object.entries(fields).map(([name, each]) => [name, each === 'trusted' ? each : 'untrusted']),
          ),
        }),
  };
}

/** The hints of a listed tool, without what the server has no say in. */
export type ListedHints = Pick<ToolHints, 'destructive' | 'openWorld' | 'labels'>;

/** Reads the hints of a listed tool. */
export function parseListedHints(annotations: unknown, meta: unknown): ListedHints {
  const { destructiveHint, openWorldHint } = isObject(annotations) ? annotations : {};
  const labels = parseFlowLabels(meta);
  return {
    ...(typeof destructiveHint === 'boolean' ? { destructive: destructiveHint } : {}),
    ...(typeof openWorldHint === 'boolean' ? { openWorld: openWorldHint } : {}),
    ...(labels ? { labels } : {}),
  };
}

/** The names by which a server is known: as configured, and the packages that its command runs. */
export function serverNames({ name, transport }: Pick<McpServer, 'name' | 'transport'>): readonly string[] {
  if (transport.type !== 'stdio') return [name];
  const packages = [transport.command, ...transport.args].flatMap((each) => {
    const found = /^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}(?=@[\w.^~-]{1,40}$|$)/.exec(each)?.[0];
    return found === undefined || found.startsWith('-') ? [] : [found];
  });
  return [...new Set([name, ...packages])];
}
