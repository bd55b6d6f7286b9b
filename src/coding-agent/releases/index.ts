// The public names of releases: create and sign releases of an agent, compare them, promote them by gate and canary, and run queued runs on them.
export { decideCanary, toCanaryRuns, type CanaryDecision, type CanaryOptions, type CanaryRun } from './canary.ts';
export {
  createCanaryMonitor,
  maxCanaryRuns,
  withCanaryMonitor,
  type CanaryMonitor,
  type CanaryMonitorOptions,
} from './canary-monitor.ts';
export { createReleaseRunHandlers, type ReleaseRunHandlersOptions } from './coding-agent-runs.ts';
export { diffManifests, formatChanges, type ReleaseChange } from './compare.ts';
export { createRelease, findDrift, type CreateReleaseOptions } from './create-release.ts';
export {
  assignRelease,
  foldHistory,
  parseHistory,
  type HistoryEntry,
  type NewHistoryEntry,
  type ReleaseAction,
  type ReleaseState,
} from './history.ts';
export {
  assertSigned,
  createReleaseKey,
  getKeyId,
  parsePublicKeys,
  signManifest,
  type ReleaseKey,
  type ReleaseSignature,
} from './keys.ts';
export {
  getReleaseId,
  hashJson,
  parseManifest,
  type ReleaseFile,
  type ReleaseFileKind,
  type ReleaseManifest,
  type ReleaseModel,
  type ReleaseTool,
} from './manifest.ts';
export {
  checkCanary,
  evaluateCanary,
  findRollback,
  promoteRelease,
  rollBack,
  type CanaryCheck,
  type GateResult,
  type PromoteOptions,
  type ReleaseGate,
} from './promote.ts';
export {
  openReleaseStore,
  type CheckedOutRelease,
  type ReleaseListing,
  type ReleaseStore,
  type SignedRelease,
  type UnreadableRelease,
} from './release-store.ts';
export {
  maxReported,
  reportReleases,
  type ReleaseReport,
  type ReleaseUse,
  type ReportedCanary,
  type ReportedRelease,
} from './report.ts';
export {
  createReleaseRunHandler,
  createReleaseTaskHandler,
  releaseAnnotationKey,
  type ReleaseRunHandlerOptions,
  type ReleaseTaskHandlerOptions,
} from './run-handler.ts';
export { readAgentFolder, type AgentFolder } from './read-agent-folder.ts';
export { getReleasesFolder, getTrustedKeysFile, openUserReleases, type UserReleases } from './user-releases.ts';
