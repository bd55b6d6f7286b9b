// The public names of the coding agent: the assembled agent of the terminal, its conversations, models and settings.
export { Conversation, runPromptHooks } from './conversation.ts';
export type { ConversationFlags, ConversationOptions } from './conversation-state.ts';
export type { ConversationStatus } from './conversation-status.ts';
export { codingAgent, type CodingAgentOptions } from './coding-agent.ts';
export { createCodingAgent, type CodingAgent, type CreateCodingAgentOptions } from './create-agent.ts';
export { noUser, type UserPrompter } from './integrations/context.ts';
export { openModel, type ModelHost } from './models/open-model.ts';
export { findModel, type ResolvedModel, resolveModelUnattended } from './models/resolve-model.ts';
export { readSettings, type Settings } from './settings/index.ts';
export { createRunAgentFactory } from './fleet/agent-factory.ts';
export { createRunHandlers } from './fleet/run-handlers.ts';
export {
  createApprovalHandler,
  createApprovalPrompt,
  type ApprovalPrompt,
  type AskUser,
  type GrantContext,
  formatActivity,
  waitForJoiningInput,
} from './approvals.ts';
export {
  listApprovalChoices,
  type ApprovalAnswer,
  type ApprovalChoice,
  parseApprovalAnswer,
} from './approval-choices.ts';
export { privacyView, findPrivacyLabel, assertLocalModel } from './privacy.ts';
export { selectSandbox } from './protected-paths.ts';
export { createPolicyContext } from './gates.ts';
