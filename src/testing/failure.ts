// Resolves a scripted failure: its HTTP status, its message, and the error that the library makes of it.
import { FairleadError, type Blame } from '../core/index.ts';
import type { FailureName, ScriptedError } from './scripted-response.ts';

/** A failure with all defaults filled in. */
export type ResolvedFailure = {
  readonly name: FailureName;
  readonly status: number;
  readonly message: string;
  readonly afterMs?: number;
};

type FailureKind = {
  readonly status: number;
  readonly message: string;
  readonly blame: Blame;
  readonly retry: boolean;
};

const failureKinds: Readonly<Record<FailureName, FailureKind>> = {
  'rate-limited': { status: 429, message: 'Rate limit reached.', blame: 'provider', retry: true },
  overloaded: { status: 529, message: 'Overloaded', blame: 'provider', retry: true },
  'server-error': { status: 500, message: 'The server had an error.', blame: 'provider', retry: true },
  timeout: { status: 504, message: 'The request timed out.', blame: 'provider', retry: true },
  unauthorized: { status: 401, message: 'The API key is not valid.', blame: 'user', retry: false },
  forbidden: { status: 403, message: 'This key may not use this model.', blame: 'user', retry: false },
  payment: { status: 402, message: 'The credit is used up.', blame: 'user', retry: false },
  'not-found': { status: 404, message: 'The model does not exist.', blame: 'user', retry: false },
  'bad-request': { status: 400, message: 'The request is not valid.', blame: 'user', retry: false },
  'context-too-long': { status: 400, message: 'The context is too long.', blame: 'user', retry: false },
};

const failureNameByStatus: Readonly<Record<number, FailureName>> = {
  401: 'unauthorized',
  402: 'payment',
  403: 'forbidden',
  404: 'not-found',
  408: 'timeout',
  413: 'context-too-long',
  429: 'rate-limited',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** Fills in the defaults of a failure. */
export function resolveFailure(error: ScriptedError): ResolvedFailure {
  const name = error.name ?? failureNameOf(error);
  const { status, message } = failureKinds[name];
  return {
    name,
    status: error.status ?? status,
    message: error.message ?? message,
    ...(error.afterMs === undefined ? {} : { afterMs: error.afterMs }),
  };
}

/** Creates the error that a provider throws for a failure. */
export function failureToError(error: ScriptedError): FairleadError {
  const { name, message } = resolveFailure(error);
  const { blame, retry } = failureKinds[name];
  return new FairleadError(error.code ?? `provider/${name}`, message, {
    blame: error.blame ?? blame,
    retry: error.retry ?? retry,
    ...(error.afterMs === undefined ? {} : { afterMs: error.afterMs }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}

function failureNameOf({ status, code }: ScriptedError): FailureName {
  if (status !== undefined) return failureNameByStatus[status] ?? (status < 500 ? 'bad-request' : 'server-error');
  const named = code?.replace(/^provider\//, '') ?? '';
  return Object.hasOwn(failureKinds, named) ? (named as FailureName) : 'server-error';
}
