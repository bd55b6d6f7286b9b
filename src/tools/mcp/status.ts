// The status of MCP servers, for the user and for the model.
import { escapeInvisibleLine, type JsonObject } from '../../core/index.ts';
import type { McpServer } from './server.ts';
import type { McpToolStatus } from './tools.ts';

/** The status of a server. */
export type McpStatus = {
  readonly server: string;
  readonly origin: McpServer['origin'];
  readonly state: 'ready' | 'asleep' | 'starting' | 'new' | 'changed' | 'failed';
  readonly why?: string;
  readonly protocol?: string;
  readonly pid?: number;
  readonly tools: readonly {
    readonly tool: string;
    readonly status: McpToolStatus;
    readonly why?: string;
    /** What the user approves, and the server's description. */
    readonly hash?: string;
    readonly description?: string;
    readonly input?: JsonObject;
  }[];
};

/** Formats a number of tools. */
export const formatToolCount = (many: number): string => `${many} tool${many === 1 ? '' : 's'}`;

/** Formats a server and its tools as a few lines. */
export function formatMcpStatus({ server, origin, state, why, protocol, tools }: McpStatus): string {
  const statusText = {
    ready: `ready, ${formatToolCount(tools.length)}${protocol === undefined ? '' : `, protocol ${protocol}`}`,
    asleep: `not running, ${tools.length === 0 ? 'no tools known' : `${formatToolCount(tools.length)}: it starts on first use`}`,
    starting: 'still starting: its tools are available at the next start after it has responded',
    new: 'not started: the user must approve it first',
    changed: 'not started: it changed since it was approved',
    failed: `failed: ${why}`,
  }[state];
  const off = tools.filter(({ status }) => status !== 'usable');
  return [
    `${escapeInvisibleLine(server)} (${origin}): ${statusText}`,
    ...off.map(({ tool, status, why: reason }) => `  ${tool}: ${reason ?? toolStatusTexts[status]}`),
  ].join('\n');
}

const toolStatusTexts = {
  usable: 'usable',
  changed: 'off: its definition changed since it was approved',
  gone: 'gone',
  new: 'off: it is new since the server was approved',
  off: 'off: the user switched it off',
  refused: 'unusable',
} as const;
