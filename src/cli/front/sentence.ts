// An error as a person reads it.
import { FairleadError } from '../../core/index.ts';

/** What happened, and what to do. */
export const sentence = (error: Error): string =>
  error instanceof FairleadError && error.hint ? `${error.message} ${error.hint}` : error.message;
