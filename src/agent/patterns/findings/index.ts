// Findings and their near-duplicates.
export {
  dedupeFindings,
  maxFindings,
  mergeKept,
  type DedupeOptions,
  type DedupeResult,
  type DoubtfulPair,
  type JudgedPair,
  type SourcedFinding,
} from './dedupe.ts';
export { findingsSchema, readFindings, type Finding, type FindingSource, type KeptFinding } from './finding.ts';
