// Two tools through which a model pages through what was kept for it; what they answer is bounded whatever they read.
import { FairleadError, output, toJson } from '../core/index.ts';
import { defineTool, type DefinedTool } from './define-tool.ts';
import { arrayName } from './session-cache-codec.ts';
import { opened, shortener } from './session-cache-snapshot.ts';
import type { SessionCache } from './session-cache.ts';

const mostChars = 8000;
const usualItems = 20;
const usualChars = 2000;

const from = { type: 'integer', minimum: 0, description: 'The first item, counted from 0; 0 unless given.' } as const;
const count = {
  type: 'integer',
  minimum: 1,
  description: 'How many items, or characters of a text; as many as fit are shown.',
} as const;

type Page = { readonly from?: number; readonly count?: number };
type Read = Page & { readonly name: string; readonly path?: string };

/** The tools `handle_list` and `handle_read`, for a model whose results are cached. Leave them out of `cachedTool`: what they answer is small already. */
export function handleTools(cache: SessionCache): readonly DefinedTool[] {
  return [
    defineTool({
      name: 'handle_list',
      description:
        'Lists the values that were saved in this session, most recently used first, with their kind and size.',
      input: { type: 'object', properties: { from, count }, additionalProperties: false },
      effect: 'read',
      run: (input) => {
        const { from = 0, count = usualItems } = input as Page;
        const names = cache.handleNames();
        return pages(names, from, count, (handle) => cache.describe(handle));
      },
    }),
    defineTool({
      name: 'handle_read',
      description:
        'Reads a part of a value that was saved in this session: items of a list, rows of a table, keys of an object, or characters of a text.',
      input: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The handle, as in "Saved as `handle`".' },
          path: {
            type: 'string',
            description:
              'Where in the value, as keys and indexes with slashes: /rows/0/name. The whole value unless given.',
          },
          from,
          count,
        },
        required: ['name'],
        additionalProperties: false,
      },
      effect: 'read',
      run: (input) => read(cache, input as Read),
    }),
  ];
}

function read(cache: SessionCache, { name, path = '', from = 0, count }: Read): unknown {
  try {
    const value = opened(walk(cache.get(name), path));
    if (typeof value === 'string') return characters(value, from, count ?? usualChars);
    if (typeof value !== 'object' || value === null) return JSON.stringify(shortener(usualItems)(value));
    if (Array.isArray(value) || arrayName(value))
      return pages(value as ArrayLike<unknown>, from, count ?? usualItems, item);
    const keys = Object.keys(value);
    return pages(
      keys,
      from,
      count ?? usualItems,
      (key) => `${JSON.stringify(key)}: ${item((value as Record<string, unknown>)[key])}`,
    );
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return output({ failed: true, text: [error.message, error.hint].filter(Boolean).join(' ') });
  }
}

/** The value at a path: own keys only, so that nothing of a prototype is ever reached. */
function walk(value: unknown, path: string): unknown {
  const keys = path.split('/').filter((key, i) => i > 0 || key !== '');
  return keys.reduce((inside: unknown, escaped, i) => {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = opened(inside);
    if (typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key))
      return (holder as Record<string, unknown>)[key];
    throw new FairleadError(
      'cache/unknown-path',
      `There is no ${JSON.stringify(key)} at /${keys.slice(0, i).join('/')}.`,
      {
        blame: 'model',
      },
    );
  }, value);
}

/** As many whole items from this one on as were asked for and fit, and where to go on. */
function pages<T>(items: ArrayLike<T>, start: number, count: number, show: (item: T) => string): string {
  const lines: string[] = [];
  let left = mostChars;
  for (let i = start; i < items.length && lines.length < count; i++) {
    const line = show(items[i] as T);
    if (line.length > left && lines.length) break;
    lines.push(line.slice(0, mostChars));
    left -= line.length + 1;
  }
  return withHeading('items', start, lines.length, items.length, lines.join('\n'));
}

/** A page never ends in the middle of a character: half a character is text that some providers refuse. */
function characters(text: string, start: number, count: number): string {
  const end = start + Math.min(count, mostChars);
  const half = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1));
  const part = text.slice(start, half ? end + 1 : end);
  return withHeading('characters', start, part.length, text.length, part.toWellFormed());
}

function withHeading(what: string, start: number, shown: number, total: number, body: string): string {
  if (shown === 0) return total === 0 ? '(empty)' : `There are ${total} ${what}; none from ${start} on.`;
  const end = start + shown;
  const more = end < total ? `; go on with from ${end}` : '';
  return `${what} ${start} to ${end - 1} of ${total}${more}\n${body}`;
}

/** An item whole if it is small, cut otherwise. */
function item(value: unknown): string {
  const whole = arrayName(value) ? undefined : JSON.stringify(toJson(value));
  return whole !== undefined && whole.length <= usualChars ? whole : JSON.stringify(shortener(usualItems)(value));
}
