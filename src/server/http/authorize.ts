// Authorizes HTTP requests: authenticates the key, checks its role, and limits the request rate by key and by address.
import type { ServerContext } from './context.ts';
import { createHttpError } from './errors.ts';
import { hasRole, type Caller } from './keys.ts';
import { createRateLimiter, parseBearerKey, type GuardedRequest } from './request-guards.ts';
import type { Route } from './route.ts';

/** Returns the client of a request; throws if its key is missing or invalid, or if its role is not sufficient. */
export type Authorize = (request: GuardedRequest, requiredRole: Route['role'], address: string) => Caller;

/** A client without a key; no key can have this tenant, so nothing of the store is visible. */
const anonymousCaller: Caller = { role: 'reader', name: 'anonymous', tenant: '' };

/** Creates the function that authorizes the requests of a server. Failed attempts are limited by address, others by key. */
export function createAuthorizer({ limits, keys }: Pick<ServerContext, 'limits' | 'keys'>): Authorize {
  const limitKey = createRateLimiter(limits.rate);
  const limitAddress = createRateLimiter(limits.anonymousRate);
  return (request, requiredRole, address) => {
    if (requiredRole === 'public') return anonymousCaller;
    const key = parseBearerKey(request);
    const caller = keys.authenticate(key);
    if (!caller) {
      limitAddress(address);
      throw createHttpError(
        'server/no-key',
        key === '' ? 'A key is required: Authorization: Bearer <key>.' : 'Invalid key.',
      );
    }
    limitKey(caller.name);
    if (hasRole(caller.role, requiredRole)) return caller;
    throw createHttpError(
      'server/role',
      `The role ${caller.role} is not allowed to do this. It needs the role ${requiredRole}.`,
    );
  };
}
