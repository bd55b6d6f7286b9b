// The error object of Anthropic messages.
import type { JsonObject } from '../../core/index.ts';

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Writes an error body for an HTTP status. */
export const writeAnthropicError = (status: number, message: string): JsonObject => ({
  type: 'error',
  error: { type: errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message },
});
