// The public names of the coding agent: the assembled agent of the terminal, its conversations, models and settings.
export { Conversation } from './conversation.ts';
export { runPromptHooks } from './prompt-hooks.ts';
export { type ConversationFlags, type ConversationOptions, type ConversationStatus } from './conversation-state.ts';
export {
  attachFiles,
  attachToPrompt,
  imageType,
  maxImageBytes,
  type AttachedPrompt,
  type AttachmentContext,
} from './attachments.ts';
export { attachNamedFiles } from './attach-named-files.ts';
export { codingAgent, type CodingAgentOptions } from './coding-agent.ts';
export { createCodingAgent, type CodingAgent, type CreateCodingAgentOptions } from './create-agent.ts';
export { noUser, type UserPrompter } from './integrations/context.ts';
export type { AcceptInstructions, InstructionChange } from './instructions/review.ts';
export { loadToolNames, loadToolSpecs, reportCoreTools, type CoreToolsReport } from './core-tools.ts';
export { openModel, type ModelHost } from './models/open-model.ts';
export { findModel, type ResolvedModel } from './models/resolve-model.ts';
export { adoptModel } from './models/adopt-model.ts';
export { resolveModelUnattended, selectStartModel, type StartModelOptions } from './models/start-model.ts';
export {
  chooseModel,
  type ChooseModelOptions,
  type ChosenModel,
  type ModelChoice,
  type ModelChooser,
} from './models/choose-model.ts';
export { findModelSources, formatDestination, type ModelSource } from './models/model-sources.ts';
export { login, logout, type LoginRequest, type LoginResult } from './models/login.ts';
export {
  getPermissionsFile,
  permissionsFile,
  profiles,
  readPermissions,
  readSettings,
  type Profile,
  type ProfileName,
  type Settings,
} from './settings/index.ts';
export { isSentAsIs } from './conversation-models.ts';
export { listPromptFiles, listShippedPrompts, readPromptFile, readSavedPrompt } from './prompts/index.ts';
export { createRunAgentFactory, createRunHandlers } from './fleet/agent-factory.ts';
export {
  createApprovalHandler,
  createApprovalPrompt,
  type ApprovalPrompt,
  type AskUser,
  type UserAnswer,
  type GrantContext,
  formatActivity,
  waitForJoiningInput,
  listApprovalChoices,
  type ApprovalAnswer,
  type ApprovalChoice,
  parseApprovalAnswer,
} from './approval-prompts.ts';
export { formatApprovalDetail, formatPreview, numberDiffLines, type PreviewFormatOptions } from './format-preview.ts';
export { privacyView, findPrivacyLabel, assertLocalModel } from './private-sessions.ts';
export { isVerificationDemanded } from './verification/verification-demand.ts';
export { selectMicrovm, selectSandbox } from './sandbox.ts';
export { createPolicyContext, readAgentPolicy } from './gates.ts';
export { listFileChanges, restoreFileChanges, type FileChanges, type RecordedChange } from './file-changes.ts';
export { createSpeedMeter } from './output-speed.ts';
