// Errors that say who is to blame, whether trying again can help, and what to do about it.

/** Who has to act: first word of every decision about an error. */
export type Blame = 'user' | 'model' | 'provider' | 'tool' | 'store' | 'harness';

/** An error as data: what a fact keeps of it. */
export type Failure = {
  readonly code: string;
  readonly message: string;
  readonly blame: Blame;
  readonly retry: boolean;
  readonly hint?: string;
};

/** What a Fairlead error is made from. */
export type ErrorDetails = {
  readonly blame: Blame;
  readonly retry?: boolean;
  readonly afterMs?: number;
  readonly hint?: string;
  readonly cause?: unknown;
};

/** The one error class: a code such as `provider/rate-limited`, blame, whether to retry, the cause, and a hint. */
export class FairleadError extends Error {
  override readonly name: string = 'FairleadError';
  readonly code: string;
  readonly blame: Blame;
  readonly retry: boolean;
  readonly afterMs: number | undefined;
  readonly hint: string | undefined;

  constructor(code: string, message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.blame = details.blame;
    this.retry = details.retry ?? false;
    this.afterMs = details.afterMs;
    this.hint = details.hint;
  }
}

/** What a thrown value says. Anything can be thrown, so this never throws itself. */
export function errorMessage(thrown: unknown): string {
  try {
    const told = thrown instanceof Error ? thrown.message : thrown;
    return String(told);
  } catch {
    return 'something that cannot be told in words was thrown';
  }
}

/** Any thrown value as a failure that can be written down. */
export function toFailure(thrown: unknown, code = 'harness/unexpected', blame: Blame = 'harness'): Failure {
  if (thrown instanceof FairleadError) {
    const { message, retry, hint } = thrown;
    return { code: thrown.code, message, blame: thrown.blame, retry, ...(hint === undefined ? {} : { hint }) };
  }
  return { code, message: errorMessage(thrown), blame, retry: false };
}

/** A failure as an error again. */
export const fromFailure = (failure: Failure): FairleadError =>
  new FairleadError(failure.code, failure.message, failure);
