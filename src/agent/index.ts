// Where the parts meet: agents, sessions, tools and what a run came to.
export { Agent, AgentSession, defineAgent, type AgentOptions } from './agent.ts';
export type { CompactionReport, ManualCompactionOptions } from './compaction.ts';
export {
  customToolDirs,
  loadCustomTools,
  type CustomToolContext,
  type UnapprovedToolFile,
  type CustomTool,
  type CustomToolOptions,
} from './custom-tools.ts';
export { defineTool, toolFromSpec, type ToolAnnotations, type ToolDefinition } from './define-tool.ts';
export { mergeExtensions, type Extension } from './extension.ts';
export { unwrapResult, Harness, type AskOptions, type HarnessOptions } from './harness.ts';
export { handleTools } from './handle-tools.ts';
export { cachedTool, formatOutput } from './large-outputs.ts';
export { resolveAgent, type ResolveAgentOptions } from './resolve-agent.ts';
export { lastTurnReminder } from './last-turn.ts';
export { defaultLimits, resolveLimits } from './limits.ts';
export { expandCommand, type CommandExpansion } from './project-files/command-expansion.ts';
export type { FileProblem } from './project-files/paths.ts';
export {
  readInstructions,
  type InstructionFile,
  type InstructionOptions,
  type Instructions,
} from './project-files/instructions.ts';
export { skillTool } from './project-files/skill-tool.ts';
export type { ProjectLocation } from './project-files/search-dirs.ts';
export { findSkills, formatSkills, type Skill, type Skills } from './project-files/skills.ts';
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
  toRunResult,
  streamStopReason,
  type PendingApproval,
  type RunResult,
  type RunUsage,
  type StreamStopReason,
} from './result.ts';
export { createOutputSchema, parseAnswer } from './schema.ts';
export { SessionCache } from './session-cache.ts';
export { Session, type RunOptions, type UserInput } from './session.ts';
export { createEventTranslator, type BlockDelta, type ContentBlock, type StreamEvent } from './stream-events.ts';
export { agentTool, type SubagentOptions } from './subagents/agent-tool.ts';
export { visibleToolSpecs, createToolRegistry } from './tool-registry.ts';
export { allSpans, traceView, type Span, type Trace } from './trace.ts';
export { toolOutput } from '../core/index.ts';
