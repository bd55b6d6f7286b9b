// Data loss prevention: personal data and secrets on the ways out of a session.
export { createAuditBuffer, dlpAuditKey, processAudit, type DlpAuditBuffer } from './audit.ts';
export { createDlpGate, type DlpGateOptions } from './dlp-gate.ts';
export { blockedError } from './blocked-error.ts';
export { guardText, type GuardedResult } from './guard-text.ts';
export { mapStrings } from './scan-request.ts';
export { createDlpProvider, type DlpProviderOptions } from './dlp-provider.ts';
export { findPersonalData, personalKinds } from './find-personal-data.ts';
export {
  createDlpPolicy,
  dlpPolicyActions,
  parseDlpPolicy,
  type DlpPolicy,
  type DlpPolicyAction,
  type DlpPolicyOptions,
} from './policy.ts';
export { createPrivateValues, type PrivateValues } from './private-values.ts';
export { countFindings, createDlpScanner, formatCounts, type DlpScanner, type DlpScannerOptions } from './scanner.ts';
export type { DlpAction, DlpAudit, DlpFinding, DlpWay, FindingCategory } from './types.ts';
export { compilePattern, type DlpPattern } from './user-patterns.ts';
export { createDlpVault, type DlpVault } from './vault.ts';
