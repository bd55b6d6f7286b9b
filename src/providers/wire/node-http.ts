// Node's HTTP modules, loaded when first used. An import statement would read every export of node:http, and one of those loads all of fetch: a third of the time of a short run.

/** The HTTP module of Node itself. */
export const httpModule = (): typeof import('node:http') => process.getBuiltinModule('node:http');

/** The HTTPS module of Node itself; it brings TLS with it. */
export const httpsModule = (): typeof import('node:https') => process.getBuiltinModule('node:https');
