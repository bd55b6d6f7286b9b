// One entry of the server's table: where it is, who may ask, what is asked, what is answered, and how.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Caller, Role } from './keys.ts';
import { createHttpError } from './errors.ts';
import type { ServerContext } from './context.ts';

/** The schemas of what a route is asked. */
export type RouteSchemas = { readonly query?: z.ZodObject; readonly body?: z.ZodType };

/** What a handler is given. */
export type RouteRequest = {
  readonly context: ServerContext;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller has gone, or the server ends. */
  readonly signal: AbortSignal;
};

/** What a handler answers: JSON, a file, or a stream that it writes itself. */
export type RouteResponse =
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

type ParsedInput<S extends RouteSchemas> = {
  readonly query: S['query'] extends z.ZodType ? z.infer<S['query']> : undefined;
  readonly body: S['body'] extends z.ZodType ? z.infer<S['body']> : undefined;
};

type RouteDefinition<S extends RouteSchemas> = {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** As OpenAPI writes it: `/api/runs/{id}`. */
  readonly path: string;
  /** Who may ask. */
  readonly role: Role | 'anyone';
  /** Answered however many others are under way: what stops the fleet must not have to wait for it. */
  readonly exemptFromLimits?: true;
  /** What it does, in a line. */
  readonly summary: string;
  readonly schemas?: S;
  /** The schemas of its JSON by status, or the media type of anything else. */
  readonly responses: Readonly<Record<number, z.ZodType | string>>;
  handle(asked: RouteRequest & ParsedInput<S>): Promise<RouteResponse> | RouteResponse;
};

/** A route as the server keeps it. */
export type Route = Omit<RouteDefinition<RouteSchemas>, 'handle'> & {
  handle(asked: RouteRequest, query: unknown, body: unknown): Promise<RouteResponse>;
};

/** Makes a route: what it is asked is held to its schemas before it is handled. */
export function defineRoute<S extends RouteSchemas>(definition: RouteDefinition<S>): Route {
  const { schemas } = definition;
  return {
    ...definition,
    async handle(asked, query, body) {
      const parsed = {
        query: schemas?.query ? parseWithSchema(schemas.query, query, 'The query') : undefined,
        body: schemas?.body ? parseWithSchema(schemas.body, body, 'The body') : undefined,
      } as ParsedInput<S>;
      return definition.handle({ ...asked, ...parsed });
    },
  };
}

function parseWithSchema(schema: z.ZodType, value: unknown, what: string): unknown {
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
  throw createHttpError('server/bad-request', sentences.join(' '), more);
}
