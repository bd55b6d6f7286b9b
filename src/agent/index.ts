// Where the parts meet: agents, sessions, tools and what a run came to.
export { Agent, AgentSession, defineAgent, type AgentOptions } from './agent.ts';
export type { CompactionReport, CompactOptions } from './compaction.ts';
export {
  customToolFolders,
  loadCustomTools,
  type CustomContext,
  type CustomFile,
  type CustomTool,
  type CustomToolOptions,
} from './custom-tools.ts';
export { defineTool, toolFromSpec, type ToolAnnotations, type ToolDefinition } from './define-tool.ts';
export { merge, type Extension } from './extension.ts';
export { answered, Harness, type AskOptions, type HarnessOptions } from './harness.ts';
export { handleTools } from './handle-tools.ts';
export { cachedTool, formatOutput } from './inline.ts';
export { agentParts, type PartsOptions } from './parts.ts';
export { lastTurnReminder } from './last-turn.ts';
export { defaultLimits, limitsFor } from './limits.ts';
export { expandCommand, type Expansion } from './project/command-expansion.ts';
export type { Problem } from './project/folders.ts';
export {
  readInstructions,
  type InstructionFile,
  type InstructionOptions,
  type Instructions,
} from './project/instructions.ts';
export { skillTool } from './project/skill-tool.ts';
export type { ProjectPlaces } from './project/shelves.ts';
export { findSkills, skillsText, type Skill, type Skills } from './project/skills.ts';
export { findCommands, type UserCommand, type UserCommands } from './project/user-commands.ts';
export {
  guardOfLost,
  isRuleFile,
  loadRuleFile,
  loadRuleFiles,
  ruleFolders,
  type RuleFile,
  type RuleFiles,
} from './rule-files.ts';
export { resultOf, wireStop, type OpenAsk, type RunResult, type RunUsage, type WireStop } from './result.ts';
export { answerShape, parseAnswer } from './schema.ts';
export { SessionCache } from './session-cache.ts';
export { Session, type RunOptions, type Words } from './session.ts';
export { translator, type BlockDelta, type ContentBlock, type StreamEvent } from './stream-events.ts';
export { agentTool, type SubAgentOptions } from './sub-agent.ts';
export { specsOf, toolbox } from './toolbox.ts';
export { spansOf, traceView, type Span, type Trace } from './trace.ts';
export { output } from '../core/index.ts';
