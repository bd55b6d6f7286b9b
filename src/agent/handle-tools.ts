// The tools handle_list and handle_read: a model pages through the values of the session cache, with bounded output.
import { FairleadError, toolOutput, toJson } from '../core/index.ts';
import { tool, type DefinedTool } from './define-tool.ts';
import { typedArrayName } from './session-cache-codec.ts';
import { unwrapContainer, createShortener } from './session-cache-snapshot.ts';
import type { SessionCache } from './session-cache.ts';

const maxPageChars = 8000;
const defaultItems = 20;
const defaultChars = 2000;

const fromSchema = {
  type: 'integer',
  minimum: 0,
  description: 'The first item, counted from 0; 0 by default.',
} as const;
const countSchema = {
  type: 'integer',
  minimum: 1,
  description: 'How many items, or characters of a text; as many as fit are shown.',
} as const;

type HandleReadInput = {
  readonly name: string;
  readonly path?: string;
  readonly from?: number;
  readonly count?: number;
};

/** The tools `handle_list` and `handle_read`. Do not wrap them with `cachedTool`: their output is small. */
export function handleTools(cache: SessionCache): readonly DefinedTool[] {
  return [
    tool({
      name: 'handle_list',
      description:
        'Lists the values that were saved in this session, most recently used first, with their kind and size.',
      inputSchema: {
        type: 'object',
        properties: { from: fromSchema, count: countSchema },
        additionalProperties: false,
      },
      effect: 'read',
      execute: ({ from = 0, count = defaultItems }) => {
        const names = cache.handleNames();
        return formatPage(names, from, count, (handle) => cache.describe(handle));
      },
    }),
    tool({
      name: 'handle_read',
      description:
        'Reads a part of a value that was saved in this session: items of a list, rows of a table, keys of an object, or characters of a text.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The handle, as in "Saved as `handle`".' },
          path: {
            type: 'string',
            description:
              'Where in the value, as keys and indexes with slashes: /rows/0/name. The whole value by default.',
          },
          from: fromSchema,
          count: countSchema,
        },
        required: ['name'],
        additionalProperties: false,
      },
      effect: 'read',
      untrustedOutput: true,
      execute: (input) => readHandle(cache, input),
    }),
  ];
}

function readHandle(cache: SessionCache, { name, path = '', from = 0, count }: HandleReadInput): unknown {
  try {
    const value = unwrapContainer(getAtPath(cache.get(name), path));
    if (typeof value === 'string') return formatCharacters(value, from, count ?? defaultChars);
    if (typeof value !== 'object' || value === null) return JSON.stringify(createShortener(defaultItems)(value));
    if (Array.isArray(value) || typedArrayName(value))
      return formatPage(value as ArrayLike<unknown>, from, count ?? defaultItems, formatItem);
    const keys = Object.keys(value);
    return formatPage(
      keys,
      from,
      count ?? defaultItems,
      (key) => `${JSON.stringify(key)}: ${formatItem((value as Record<string, unknown>)[key])}`,
    );
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return toolOutput({ failed: true, text: [error.message, error.hint].filter(Boolean).join(' ') });
  }
}

/** The value at a path. Only own keys count, so that prototypes are out of reach. */
function getAtPath(value: unknown, path: string): unknown {
  const keys = path.split('/').filter((key, i) => i > 0 || key !== '');
  return keys.reduce((parent: unknown, escaped, i) => {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const container = unwrapContainer(parent);
    if (typeof container === 'object' && container !== null && Object.hasOwn(container, key))
      return (container as Record<string, unknown>)[key];
    throw new FairleadError(
      'cache/unknown-path',
      `There is no ${JSON.stringify(key)} at /${keys.slice(0, i).join('/')}.`,
      {
        blame: 'model',
      },
    );
  }, value);
}

/** The requested items as far as they fit, and where to continue. */
function formatPage<T>(items: ArrayLike<T>, start: number, count: number, format: (item: T) => string): string {
  const lines: string[] = [];
  let remainingChars = maxPageChars;
  for (let i = start; i < items.length && lines.length < count; i++) {
    const line = format(items[i] as T);
    if (line.length > remainingChars && lines.length) break;
    lines.push(line.slice(0, maxPageChars));
    remainingChars -= line.length + 1;
  }
  return withHeading('items', start, lines.length, items.length, lines.join('\n'));
}

/** A page never ends inside a surrogate pair: some providers refuse half a character. */
function formatCharacters(text: string, start: number, count: number): string {
  const end = start + Math.min(count, maxPageChars);
  const splitsPair = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1));
  const part = text.slice(start, splitsPair ? end + 1 : end);
  return withHeading('characters', start, part.length, text.length, part.toWellFormed());
}

function withHeading(unit: string, start: number, shown: number, total: number, body: string): string {
  if (shown === 0) return total === 0 ? '(empty)' : `There are ${total} ${unit}; none from ${start} on.`;
  const end = start + shown;
  const more = end < total ? `; continue with from ${end}` : '';
  return `${unit} ${start} to ${end - 1} of ${total}${more}\n${body}`;
}

/** An item as JSON, shortened if it is long. */
function formatItem(value: unknown): string {
  const json = typedArrayName(value) ? undefined : JSON.stringify(toJson(value));
  return json !== undefined && json.length <= defaultChars
    ? json
    : JSON.stringify(createShortener(defaultItems)(value));
}
