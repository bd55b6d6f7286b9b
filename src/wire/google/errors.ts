// The error object of Google generateContent.
import type { JsonObject } from '../../core/index.ts';

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Writes an error body for an HTTP status, with the delay after which to retry. */
export const writeGoogleError = (status: number, message: string, retryAfterMs?: number): JsonObject => ({
  error: {
    code: status,
    message,
    status: statusNames[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
    ...(retryAfterMs === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterMs / 1000}s` }] }),
  },
});
