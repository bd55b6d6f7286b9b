// One entry of the server's table: where it is, who may ask, what is asked, what is answered, and how.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Caller, Role } from './keys.ts';
import { refused } from './faults.ts';
import type { Place } from './place.ts';

/** The schemas of what a route is asked. */
export type Shapes = { readonly query?: z.ZodObject; readonly body?: z.ZodType };

/** What a handler is given. */
export type Asked = {
  readonly place: Place;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller has gone, or the server ends. */
  readonly signal: AbortSignal;
};

/** What a handler answers: JSON, a file, or a stream that it writes itself. */
export type Answer =
  | { readonly status?: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly content: string | Uint8Array<ArrayBuffer>;
      readonly type: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly stream: (outgoing: ServerResponse) => Promise<void>;
      readonly headers?: Readonly<Record<string, string>>;
    };

type Parsed<S extends Shapes> = {
  readonly query: S['query'] extends z.ZodType ? z.infer<S['query']> : undefined;
  readonly body: S['body'] extends z.ZodType ? z.infer<S['body']> : undefined;
};

type Definition<S extends Shapes> = {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** As OpenAPI writes it: `/api/runs/{id}`. */
  readonly path: string;
  /** Who may ask. */
  readonly role: Role | 'anyone';
  /** Answered however many others are under way: what stops the fleet must not have to wait for it. */
  readonly always?: true;
  /** What it does, in a line. */
  readonly summary: string;
  readonly shapes?: S;
  /** The schemas of its JSON by status, or the media type of anything else. */
  readonly answers: Readonly<Record<number, z.ZodType | string>>;
  handle(asked: Asked & Parsed<S>): Promise<Answer> | Answer;
};

/** A route as the server keeps it. */
export type Route = Omit<Definition<Shapes>, 'handle'> & {
  handle(asked: Asked, query: unknown, body: unknown): Promise<Answer>;
};

/** Makes a route: what it is asked is held to its schemas before it is handled. */
export function route<S extends Shapes>(definition: Definition<S>): Route {
  const { shapes } = definition;
  return {
    ...definition,
    async handle(asked, query, body) {
      const parsed = {
        query: shapes?.query ? fitting(shapes.query, query, 'The query') : undefined,
        body: shapes?.body ? fitting(shapes.body, body, 'The body') : undefined,
      } as Parsed<S>;
      return definition.handle({ ...asked, ...parsed });
    },
  };
}

function fitting(schema: z.ZodType, value: unknown, what: string): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const sentences = error.issues.slice(0, 3).map((issue) => {
    const where = issue.path.join('.').slice(0, 200);
    if (issue.code !== 'unrecognized_keys') return `${what}${where && ` at ${where}`}: ${issue.message}.`;
    const names = issue.keys.slice(0, 5).map((key) => JSON.stringify([...issue.path, key].join('.').slice(0, 100)));
    const rest = issue.keys.length > names.length ? ` and ${issue.keys.length - names.length} more` : '';
    return `${what} has ${issue.keys.length === 1 ? 'a field' : 'fields'} that nobody knows: ${names.join(', ')}${rest}.`;
  });
  const { path = [] } = error.issues[0] ?? {};
  const more = path.length === 0 ? {} : { param: path.join('.').slice(0, 200) };
  throw refused('server/bad-request', sentences.join(' '), more);
}
