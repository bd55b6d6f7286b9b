// Agents, sessions, tools, sub-agents, project files and results.
export { AgentSession } from './agent-session.ts';
export { Agent, type AgentOptions, type ResolvedAgentSource } from './agent.ts';
export {
  continueWithApprovals,
  hasUnreadInput,
  isAwaitingApproval,
  runWithApprovals,
  type ApprovalLoopOptions,
} from './approval-loop.ts';
export type { CompactionReport, ManualCompactionOptions } from './manual-compaction.ts';
export {
  customToolDirs,
  loadCustomTools,
  type CustomToolContext,
  type UnapprovedToolFile,
  type CustomTool,
  type CustomToolOptions,
} from './custom-tools.ts';
export {
  defineTool,
  LOAD_TOOLS,
  tool,
  toolFromSpec,
  type DefinedTool,
  type ToolAnnotations,
  type ToolDefinition,
  toolDefinitionError,
} from './define-tool.ts';
export { messageType, type MessageType, type MessageTypeDefinition } from './message-type.ts';
export { toolGate, type TypedCall } from './tool-gate.ts';
export { mergeExtensions, type Extension } from './extension.ts';
export { Harness, type AskOptions, type HarnessEvent, type HarnessOptions, type HarnessResult } from './harness.ts';
export { handleTools } from './handle-tools.ts';
export { cachedTool, formatOutput } from './large-outputs.ts';
export { resolveAgent, type ResolveAgentOptions } from './resolve-agent.ts';
export { defaultLimits, lastTurnReminder, resolveLimits } from './limits.ts';
export { expandCommand, type CommandExpansion } from './project-files/command-expansion.ts';
export type { FileProblem } from './project-files/paths.ts';
export {
  findInstructions,
  joinInstructions,
  readInstructions,
  type FoundInstructions,
  type InstructionFile,
  type InstructionOptions,
  type Instructions,
} from './project-files/instructions.ts';
export { splitFrontmatter } from './project-files/frontmatter.ts';
export { skillTool } from './project-files/skill-tool.ts';
export type { ProjectLocation } from './project-files/search-dirs.ts';
export { findSkills, formatSkills, parseSkill, type Skill, type Skills } from './project-files/skills.ts';
export { findUserCommands, type UserCommand, type UserCommands } from './project-files/user-commands.ts';
export {
  askWhenRulesMissing,
  isRuleFile,
  loadRuleFile,
  loadRuleFiles,
  ruleDirs,
  type RuleFile,
  type RuleFiles,
} from './rule-files.ts';
export {
  formatRunEnd,
  MaxTurnsExceeded,
  messageStopReason,
  toRunResult,
  unwrapResult,
  type MessageStopReason,
  type ResultContext,
  type ResultStatus,
  type RunResult,
  type RunUsage,
} from './result.ts';
export type { AdvanceOptions, RunOptions, SessionLogStore, SessionOptions } from './run-options.ts';
export {
  type ApprovalDecision,
  type ApprovalHandler,
  type ApprovalOptions,
  toolOutput,
  type PendingApproval,
} from '../core/index.ts';
export { RunStream, type RunOutput } from './run-stream.ts';
export {
  createOutputSchema,
  parseAnswer,
  parseOutput,
  type SchemaLike,
  type SchemaOutput,
  createLazyValidator,
  createValidator,
} from './schema.ts';
export { SessionCache } from './session-cache.ts';
export { runStartedFact, type UserInput } from './session-facts.ts';
export { fileSession, openSession } from './session-store.ts';
export { Session, type ForkOptions } from './session.ts';
export {
  createEventTranslator,
  type BlockDelta,
  type ContentBlock,
  type StreamEvent,
  type StreamStopReason,
} from './stream-events.ts';
export { agentTool, type SubagentOptions } from './subagents/agent-tool.ts';
export { visibleToolSpecs, createToolRegistry } from './tool-registry.ts';
export { testProviders } from './test-providers.ts';
