// Agent files: finds, parses and trusts agents that are described in Markdown files.
export { findAgentFiles, toAgentApproval, toAgentRefusal, type AgentFileOptions } from './find-agent-files.ts';
export { formatAgentOverview, type AgentOverview } from './format-overview.ts';
export { formatAgentList, listUsableAgents } from './format-list.ts';
export { parseAgentFile } from './parse-agent-file.ts';
export {
  decideAgentFiles,
  formatAgentAuthority,
  formatAgentDetails,
  formatAgentQuestion,
  listUndecided,
} from './trust-agent-files.ts';
export type { AgentDefinition, AgentFile, AgentFiles, AgentFileStatus } from './types.ts';
