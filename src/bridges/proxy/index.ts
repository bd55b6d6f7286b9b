// Exports of src/bridges/proxy for other modules.
export { loadProxyRules } from './load-rules.ts';
export { isEqualConstantTime } from './auth.ts';
