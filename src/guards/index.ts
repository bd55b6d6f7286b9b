// Public API of guards: permission, policy, sandbox, hooks and redaction.
export { findProtectedFiles } from './auto-executed-files.ts';
export { findChangedFile, findFilesOfArgv, findFilesOfRunner, type BoundFile } from './bound-files.ts';
export { formatGrantRule, isSameRule, type Grant, type GrantDuration, type GrantRule } from './grant-rule.ts';
export { createFlowLogView, unreadableText, type FlowLog } from './flow/flow-log.ts';
export { createFlowPolicy, type FlowPolicyOptions } from './flow/flow-policy.ts';
export type { FlowMode } from './flow/flow-gate.ts';
export { quarantineView, type QuarantinedText } from './quarantine/quarantine-view.ts';
export { readQuarantinedTool, type ReadQuarantinedOptions } from './quarantine/read-tool.ts';
export { findGrantRules, grantCovers, isWorkspaceEdit } from './policy/grant-rules.ts';
export { grantKey, sessionGrants, type Grants, type KeptGrants, type ResolvePath } from './grants.ts';
export {
  isFreeInReadingMode,
  isPermissionMode,
  isReadingMode,
  nextPermissionMode,
  permissionModeDescriptions,
  permissionModeGate,
  permissionModeLabels,
  permissionModes,
  type PermissionMode,
} from './permission-mode.ts';
export type { ReadingContext } from './reading-line.ts';
export { createPathPins, type PathPins } from './path-pins.ts';
export {
  permissionGate,
  formatApprovalPrompt,
  formatExactCall,
  formatFileChange,
  type PermissionOptions,
} from './permission.ts';
export { describeCommand } from './policy/describe-command.ts';
export { readPolicies, readPolicy, type PolicyDirs } from './policy/files.ts';
export { policyGate, type PolicyGateOptions } from './policy/policy-gate.ts';
export { evaluatePolicy, type PolicyContext, type PolicyDecision } from './policy/evaluate.ts';
export { packageInstallGate } from './policy/package-guard.ts';
export { parsePolicy, policyError, type Policy, type PolicyMatcher, type PolicyRule } from './policy/policy.ts';
export { commandRunners, interpreters, packageRunners, shells } from './runner-programs.ts';
export { chooseSandbox, findMicrovm, lazyContainerSandbox } from './sandbox/choose.ts';
export type { MicrovmObstacle, MicrovmParts } from './sandbox/microvm/find-microvm.ts';
export { containerSandbox, type ContainerOptions } from './sandbox/container.ts';
export { sandboxRefusalGate } from './sandbox/refusal-gate.ts';
export {
  noSandbox,
  withSandbox,
  type SandboxAccess,
  type MicrovmOptions,
  type SandboxMode,
  type SandboxOptions,
  type SandboxPaths,
  type Sandbox,
  type WithSandboxOptions,
} from './sandbox/sandbox.ts';
export { findGitDirectories, findRepositoryFolders, findUserGitFiles } from './sandbox/repository-folders.ts';
export { redactJson, withRedaction } from './redaction/redact-tool.ts';
export { noRedaction, createRedactor, type Redactor } from './redaction/redactor.ts';
export { fileTrust, memoryTrust, type ContentApproval, type TrustStatus, type TrustStore } from './trust.ts';
