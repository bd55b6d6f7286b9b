// The proxy: an HTTP server between a client and a provider that applies rules.
export { loadProxyRules } from './load-rules.ts';
export { isEqualConstantTime } from './auth.ts';
