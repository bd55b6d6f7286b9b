// Definition of an HTTP route: path, role, request schemas, response schemas and handler.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { ServerContext } from './context.ts';
import { renameDeprecated, selectVariant } from './deprecated.ts';
import { createHttpError } from './errors.ts';
import type { Caller, Role } from './keys.ts';

/** The schemas of a request. */
export type RouteSchemas = { readonly query?: z.ZodObject; readonly body?: z.ZodType };

/** A request as a handler gets it. */
export type RouteRequest = {
  readonly context: ServerContext;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
};

/** A response of a handler: JSON, a file, or a stream that the handler writes. */
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
  /** In OpenAPI syntax: `/api/runs/{id}`. */
  readonly path: string;
  /** The role that a key needs; `public` needs no key. */
  readonly role: Role | 'public';
  /** Not counted against the limit of concurrent requests: the kill switch must work on a busy server. */
  readonly exemptFromLimits?: true;
  /** What it does, in one line. */
  readonly summary: string;
  /** A former path of another route. */
  readonly deprecated?: boolean;
  readonly schemas?: S;
  /** JSON schemas by status, or the media type of other content. */
  readonly responses: Readonly<Record<number, z.ZodType | string>>;
  handle(request: RouteRequest & ParsedInput<S>): Promise<RouteResponse> | RouteResponse;
};

/** A route in the route table. */
export type Route = Omit<RouteDefinition<RouteSchemas>, 'handle'> & {
  handle(request: RouteRequest, query: unknown, body: unknown): Promise<RouteResponse>;
};

/** Creates a route that validates the query and the body before its handler runs. */
export function defineRoute<S extends RouteSchemas>(definition: RouteDefinition<S>): Route {
  const { schemas, path } = definition;
  // The paths of OpenAI's API have OpenAI's names only.
  const rename = path.startsWith('/api/') ? renameDeprecated : (_: z.ZodType, value: unknown): unknown => value;
  const parse = (schema: z.ZodType, value: unknown, part: 'query' | 'body'): unknown => {
    const variant = schema instanceof z.ZodUnion ? selectVariant(schema, value) : schema;
    return parseWithSchema(variant, rename(variant, value), part);
  };
  return {
    ...definition,
    async handle(request, query, body) {
      const parsed = {
        query: schemas?.query ? parse(schemas.query, query, 'query') : undefined,
        body: schemas?.body ? parse(schemas.body, body, 'body') : undefined,
      } as ParsedInput<S>;
      return definition.handle({ ...request, ...parsed });
    },
  };
}

function parseWithSchema(schema: z.ZodType, value: unknown, part: 'query' | 'body'): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const messages = error.issues.slice(0, 3).map((issue) => {
    const field = issue.path.join('.').slice(0, 200);
    if (issue.code !== 'unrecognized_keys') return `Invalid ${part}${field && ` at ${field}`}: ${issue.message}.`;
    const names = issue.keys.slice(0, 5).map((key) => JSON.stringify([...issue.path, key].join('.').slice(0, 100)));
    const rest = issue.keys.length > names.length ? ` and ${issue.keys.length - names.length} more` : '';
    return `Unknown field${issue.keys.length === 1 ? '' : 's'} in the ${part}: ${names.join(', ')}${rest}.`;
  });
  const { path = [] } = error.issues[0] ?? {};
  const param = path.length === 0 ? {} : { param: path.join('.').slice(0, 200) };
  throw createHttpError('server/bad-request', messages.join(' '), param);
}
