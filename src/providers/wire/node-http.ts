// Node's HTTP modules, loaded when first used. An import statement would read every export of node:http, and one of those loads all of fetch: a third of the time of a short run.

/** Gives node:http. */
export const httpModule = (): typeof import('node:http') => process.getBuiltinModule('node:http');

/** Gives node:https, which brings TLS with it. */
export const httpsModule = (): typeof import('node:https') => process.getBuiltinModule('node:https');
