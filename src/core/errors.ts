// The error class: code, responsible party (blame), whether a retry can help, and a hint.
import type { Usage } from './message.ts';

/** The party that has to act on an error. */
export type Blame = 'user' | 'model' | 'provider' | 'tool' | 'store' | 'harness';

/** An error as JSON, as facts store it. */
export type Failure = {
  readonly code: string;
  readonly message: string;
  readonly blame: Blame;
  readonly retry: boolean;
  readonly hint?: string;
};

/** Options of a FairleadError. */
export type ErrorDetails = {
  readonly blame: Blame;
  readonly retry?: boolean;
  readonly afterMs?: number;
  readonly hint?: string;
  readonly cause?: unknown;
  /** Tokens that the failed request used, if the provider reported them. */
  readonly usage?: Usage;
  /** Cost of the failed request in US dollars, if the provider reported it. */
  readonly usd?: number;
};

/** The one error class: a code such as `provider/rate-limited`, blame, whether to retry, the cause, and a hint. */
export class FairleadError extends Error {
  override readonly name: string = 'FairleadError';
  readonly code: string;
  readonly blame: Blame;
  readonly retry: boolean;
  readonly afterMs: number | undefined;
  readonly hint: string | undefined;
  readonly usage: Usage | undefined;
  readonly usd: number | undefined;

  constructor(code: string, message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.blame = details.blame;
    this.retry = details.retry ?? false;
    this.afterMs = details.afterMs;
    this.hint = details.hint;
    this.usage = details.usage;
    this.usd = details.usd;
  }
}

/** Returns the message of any thrown value. Never throws. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'a value that cannot be converted to text was thrown';
  }
}

/** Returns the code that the operating system, Node.js or a driver gives an error, such as `ENOENT`; undefined if it has none. */
export const systemErrorCode = (error: unknown): string | undefined =>
  // An error of another realm, such as a `node:vm` context, is not an instance of our Error.
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** The message of an error as a sentence, followed by its hint if it has one. */
export const formatError = (error: Error): string =>
  error instanceof FairleadError && error.hint ? `${toSentence(error.message)} ${error.hint}` : error.message;

/** Adds the full stop that messages of the operating system lack. */
const toSentence = (message: string): string => (/[.!?…:]['")\]]?$/.test(message) ? message : `${message}.`);

/** Converts any thrown value to a failure. */
export function toFailure(thrown: unknown, code = 'harness/unexpected', blame: Blame = 'harness'): Failure {
  if (thrown instanceof FairleadError) {
    const { message, retry, hint } = thrown;
    return { code: thrown.code, message, blame: thrown.blame, retry, ...(hint === undefined ? {} : { hint }) };
  }
  return { code, message: errorMessage(thrown), blame, retry: false };
}

/** Converts a failure back to an error. */
export const fromFailure = (failure: Failure): FairleadError =>
  new FairleadError(failure.code, failure.message, failure);
