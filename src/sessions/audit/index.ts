// Audit of a period: which user approved what, which gate denied what, and which release ran, from the session logs.
export { listAuditRecords, type AuditRecord } from './audit-records.ts';
export { collectAudit, type Audit, type AuditedSession, type AuditPeriod, type AuditSources } from './collect-audit.ts';
export {
  findChangedLine,
  formatAuditLines,
  formatAuditReport,
  type AuditContent,
  type AuditedRelease,
} from './format-audit.ts';
