// Node's HTTP modules, loaded when first used. An import statement would read every export of node:http, and one of those loads all of fetch: a third of the time of a short run.
import type http from 'node:http';
import type https from 'node:https';

/** The HTTP module of Node itself. */
export const httpModule = (): typeof http => process.getBuiltinModule('node:http');

/** The HTTPS module of Node itself; it brings TLS with it. */
export const httpsModule = (): typeof https => process.getBuiltinModule('node:https');
