// Data loss prevention of the coding agent: reads the policy of the user.
export { findDlpAction, readDlpPolicy, redactExport } from './read-policy.ts';
export { dlpAuditKey, formatCounts } from '../../guards/dlp/index.ts';
export { markPrivateValue } from './marked-values.ts';
export { listPrivateNames, storePrivateValue } from './store-private-value.ts';
export { guardExport } from './guard-export.ts';
